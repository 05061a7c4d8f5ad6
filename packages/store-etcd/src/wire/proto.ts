/** The wire types that etcd's messages use. */
const VARINT = 0;
const LENGTH_DELIMITED = 2;

/** Writes the fields of one protobuf message. Zero and empty values are left out, as proto3 does. */
export class ProtoWriter {
  readonly #parts: Uint8Array[] = [];

  int(field: number, value: bigint | number | boolean): this {
    const wide = BigInt.asUintN(64, BigInt(value));
    if (wide !== 0n) this.#parts.push(varint((field << 3) | VARINT), varint(wide));
    return this;
  }

  bytes(field: number, value: Uint8Array | string): this {
    const bytes = typeof value === "string" ? Buffer.from(value) : value;
    return bytes.length === 0 ? this : this.#delimited(field, bytes);
  }

  /** Written even if it is empty: its presence says which of several messages it is. */
  message(field: number, value: ProtoWriter): this {
    return this.#delimited(field, value.finish());
  }

  finish(): Buffer {
    return Buffer.concat(this.#parts);
  }

  #delimited(field: number, bytes: Uint8Array): this {
    this.#parts.push(varint((field << 3) | LENGTH_DELIMITED), varint(bytes.length), bytes);
    return this;
  }
}

/** A field as it stands on the wire: `int` for numbers, `bytes` for everything else. */
export interface ProtoField {
  readonly field: number;
  readonly int: bigint;
  readonly bytes: Buffer;
}

const NO_BYTES = Buffer.alloc(0);

/** The fields of a message in their order. Throws a RangeError if the bytes are no message. */
export function* readFields(message: Buffer): Iterable<ProtoField> {
  let at = 0;
  const next = (): bigint => {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = message[at++];
      if (byte === undefined) break;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asIntN(64, value);
    }
    throw new RangeError(`expected a varint at byte ${at}`);
  };
  while (at < message.length) {
    const tag = Number(next());
    const field = tag >> 3;
    const kind = tag & 7;
    if (kind === VARINT) yield { field, int: next(), bytes: NO_BYTES };
    else if (kind === LENGTH_DELIMITED) {
      const length = Number(next());
      if (length < 0 || at + length > message.length) throw new RangeError(`expected ${length} bytes at byte ${at}`);
      yield { field, int: 0n, bytes: message.subarray(at, at + length) };
      at += length;
    } else throw new RangeError(`expected a number or bytes at byte ${at}, got wire type ${kind}`);
  }
}

function varint(value: bigint | number): Uint8Array {
  const bytes: number[] = [];
  let rest = BigInt(value);
  while (rest > 0x7fn) {
    bytes.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  bytes.push(Number(rest));
  return Uint8Array.from(bytes);
}
