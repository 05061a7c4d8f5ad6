/** Damages encoded messages the way noise, broken encoders and ill will do; the same for the same seed. */

/** A source of numbers: at least 0 and below `limit`, whole. */
export type Chance = (limit: number) => number;

/** Numbers that follow from a seed (xorshift of 32 bits). */
export function seededChance(seed: number): Chance {
  let state = seed | 0 || 1;
  return (limit) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % limit;
  };
}

type Mutation = (bytes: Buffer, chance: Chance, other: Buffer) => Buffer;

/** Bytes that mean something in the wire format: ends and beginnings of varints, tags of groups, lengths. */
const telling = [0x00, 0x01, 0x7f, 0x80, 0xff, 0x0a, 0x12, 0x1a, 0x2a, 0x0b, 0x0c, 0x0d, 0x09, 0x08, 0x0f];

const put = (bytes: Buffer, at: number, inserted: Uint8Array, removed = 0): Buffer =>
  Buffer.concat([bytes.subarray(0, at), inserted, bytes.subarray(at + removed)]);

const mutations: readonly Mutation[] = [
  (bytes, chance) => {
    const at = chance(bytes.length);
    bytes[at] = (bytes[at] ?? 0) ^ (1 << chance(8));
    return bytes;
  },
  (bytes, chance) => {
    bytes[chance(bytes.length)] = telling[chance(telling.length)] ?? 0;
    return bytes;
  },
  (bytes, chance) => put(bytes, chance(bytes.length), Uint8Array.of(chance(256))),
  (bytes, chance) => put(bytes, chance(bytes.length), new Uint8Array(), 1 + chance(8)),
  (bytes, chance) => bytes.subarray(0, chance(bytes.length)),
  (bytes, chance) => bytes.subarray(chance(bytes.length)),
  (bytes, chance) => put(bytes, chance(bytes.length), Buffer.from("ffffffff0f", "hex").subarray(chance(5))),
  (bytes, chance) => put(bytes, chance(bytes.length), Buffer.alloc(1 + chance(12), 0xff)),
  (bytes, chance) => put(bytes, chance(bytes.length), Buffer.alloc(1 + chance(300), 0x0b)),
  (bytes, chance, other) => put(bytes, chance(bytes.length), other),
  (bytes, chance, other) =>
    Buffer.concat([bytes.subarray(0, chance(bytes.length)), other.subarray(chance(other.length + 1))]),
  (bytes, chance) => {
    const start = chance(bytes.length);
    return put(bytes, chance(bytes.length), Buffer.from(bytes.subarray(start, start + chance(40))));
  },
];

interface Field {
  readonly start: number;
  readonly end: number;
  /** Where the content begins if the field has a length. */
  readonly content: number | undefined;
}

/** The fields of a message as far as they can be read, by a reader that shares nothing with the one under test. */
function fieldsOf(bytes: Buffer): Field[] {
  const fields: Field[] = [];
  let start = 0;
  while (start < bytes.length) {
    const [tag, afterTag] = varintAt(bytes, start);
    const [value, afterValue] = varintAt(bytes, afterTag);
    const hasLength = (tag & 7) === 2;
    const fixed = (tag & 7) === 1 ? 8 : 4;
    const end = hasLength ? afterValue + value : (tag & 7) === 0 ? afterValue : afterTag + fixed;
    if (end > bytes.length) break;
    fields.push({ start, end, content: hasLength ? afterValue : undefined });
    start = end;
  }
  return fields;
}

function varintAt(bytes: Buffer, start: number): [value: number, end: number] {
  let value = 0;
  for (let at = start; at < bytes.length && at < start + 4; at++) {
    const byte = bytes[at] ?? 0;
    value |= (byte & 0x7f) << (7 * (at - start));
    if (byte < 0x80) return [value, at + 1];
  }
  return [value, bytes.length + 1];
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  return Buffer.from([...bytes, rest]);
}

/** Changes that leave every length right: what is damaged is what the message says. */
function mutateFields(bytes: Buffer, chance: Chance, other: Buffer): Buffer {
  const fields = fieldsOf(bytes);
  const field = fields[chance(fields.length || 1)];
  if (field === undefined) return mutateBytes(bytes, chance, other);
  const whole = bytes.subarray(field.start, field.end);
  const elsewhere = fields[chance(fields.length)]?.start ?? 0;
  const foreign = fieldsOf(other);
  const taken = foreign[chance(foreign.length || 1)];
  switch (chance(field.content === undefined ? 4 : 8)) {
    case 0:
      return put(bytes, field.start, Buffer.alloc(0), whole.length);
    case 1:
      return put(bytes, elsewhere, Buffer.from(whole));
    case 2:
      return put(bytes, elsewhere, taken === undefined ? Buffer.alloc(0) : other.subarray(taken.start, taken.end));
    case 3:
      return mutateBytes(bytes, chance, other);
    default: {
      const content = mutateFields(Buffer.from(bytes.subarray(field.content, field.end)), chance, other);
      const [, afterTag] = varintAt(bytes, field.start);
      const changed = Buffer.concat([bytes.subarray(field.start, afterTag), varint(content.length), content]);
      return put(bytes, field.start, changed, whole.length);
    }
  }
}

function mutateBytes(bytes: Buffer, chance: Chance, other: Buffer): Buffer {
  const mutation = mutations[chance(mutations.length)];
  return mutation === undefined || bytes.length === 0 ? bytes : mutation(bytes, chance, other);
}

/** A copy of one of the seeds, damaged one to three times. */
export function mutate(seeds: readonly Buffer[], chance: Chance): Buffer {
  const pick = (): Buffer => seeds[chance(seeds.length)] ?? Buffer.alloc(0);
  let bytes = Buffer.from(pick());
  for (let times = 1 + chance(3); times > 0; times--) {
    bytes = Buffer.from(chance(4) === 0 ? mutateBytes(bytes, chance, pick()) : mutateFields(bytes, chance, pick()));
  }
  return bytes;
}
