/**
 * A minimal protobuf codec for the health and reflection messages, which hold a few strings and numbers.
 * `@xdskit/envoy-api` has the codec of the discovery messages.
 */

/** A field of a message: the number of a varint field, the bytes of any other. */
export interface Field {
  readonly number: number;
  readonly value: number | Uint8Array;
}

/** What a message may have, in bytes: a few names, and each byte may cost as much memory as a field. */
const MAX_BYTES = 16 * 1024;

/** Reads fields in order. Throws a RangeError on malformed bytes, and on more than 16 KiB. */
export function readFields(bytes: Uint8Array): readonly Field[] {
  if (bytes.byteLength > MAX_BYTES) throw new RangeError(`${bytes.byteLength} bytes; at most ${MAX_BYTES} are read`);
  const fields: Field[] = [];
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let shift = 0; shift < 64; shift += 7) {
      const byte = bytes[at++];
      if (byte === undefined) break;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    throw new RangeError("a number is cut off");
  };
  const take = (length: number): Uint8Array => {
    if (at + length > bytes.byteLength) throw new RangeError("a field is cut off");
    at += length;
    return bytes.subarray(at - length, at);
  };
  while (at < bytes.byteLength) {
    const tag = varint();
    const number = Math.floor(tag / 8);
    const wireType = tag % 8;
    if (wireType === 0) fields.push({ number, value: varint() });
    else if (wireType === 1) fields.push({ number, value: take(8) });
    else if (wireType === 2) fields.push({ number, value: take(varint()) });
    else if (wireType === 5) fields.push({ number, value: take(4) });
    else throw new RangeError(`wire type ${wireType} is not known`);
  }
  return fields;
}

/** The last string field of this number; "" if absent, as in protobuf. */
export function stringField(fields: readonly Field[], number: number): string {
  const value = fields.findLast((field) => field.number === number)?.value;
  return value instanceof Uint8Array ? Buffer.from(value).toString("utf8") : "";
}

/** Encodes a string or message field. Empty ones are written too, because they matter in a `oneof`. */
export function bytesField(number: number, value: string | Uint8Array): Uint8Array {
  const bytes = Buffer.from(value);
  return Buffer.concat([varint(number * 8 + 2), varint(bytes.byteLength), bytes]);
}

/** Encodes a number or enum field. */
export function varintField(number: number, value: number): Uint8Array {
  return Buffer.concat([varint(number * 8), varint(value)]);
}

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) + 0x80);
    rest = Math.floor(rest / 0x80);
  }
  return Uint8Array.from([...bytes, rest]);
}
