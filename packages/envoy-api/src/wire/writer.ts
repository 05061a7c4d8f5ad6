/**
 * Protobuf's wire format, written into a growing buffer. Fields are written in call order; in order of field numbers,
 * the bytes equal those of other encoders. The method decides about default values: `string` always writes,
 * `optionalString` omits an empty string.
 */
import { fixed64Tag, lengthTag, varintTag } from "./reader.ts";

const MAX_VARINT32_BYTES = 5;
const TWO_TO_32 = 2 ** 32;

/** Builds one message. */
export class WireWriter {
  #bytes: Buffer;
  #end = 0;

  constructor(expectedBytes = 256) {
    this.#bytes = Buffer.allocUnsafeSlow(expectedBytes);
  }

  /** Returns a copy of the bytes written so far. */
  finish(): Uint8Array {
    const bytes = Buffer.allocUnsafeSlow(this.#end);
    this.#bytes.copy(bytes, 0, 0, this.#end);
    return bytes;
  }

  /** A view of the bytes written so far, which the next write may change. */
  get written(): Uint8Array {
    return this.#bytes.subarray(0, this.#end);
  }

  /** Starts the next message in the same memory. */
  clear(): this {
    this.#end = 0;
    return this;
  }

  string(field: number, text: string): this {
    const length = Buffer.byteLength(text);
    this.#start(lengthTag(field), length);
    this.#bytes.write(text, this.#end);
    this.#end += length;
    return this;
  }

  optionalString(field: number, text: string | undefined): this {
    return text === undefined || text === "" ? this : this.string(field, text);
  }

  strings(field: number, texts: readonly string[] | undefined): this {
    for (const text of texts ?? []) this.string(field, text);
    return this;
  }

  /** Writes a bytes field, or an encoded message. */
  bytes(field: number, bytes: Uint8Array): this {
    this.#start(lengthTag(field), bytes.length);
    this.#bytes.set(bytes, this.#end);
    this.#end += bytes.length;
    return this;
  }

  /** Begins a bytes field, or a message, of that length, which is written elsewhere. */
  prefix(field: number, byteLength: number): this {
    this.#reserve(2 * MAX_VARINT32_BYTES);
    this.#varint32(lengthTag(field));
    this.#varint32(byteLength);
    return this;
  }

  /** Writes a message that `write` fills in. */
  message(field: number, write: (writer: this) => void): this {
    this.#reserve(2 * MAX_VARINT32_BYTES);
    this.#varint32(lengthTag(field));
    const lengthAt = this.#end++;
    write(this);
    const length = this.#end - lengthAt - 1;
    this.#bytes[lengthAt] = length;
    if (length >= 0x80) this.#widenLength(lengthAt, length);
    return this;
  }

  /** Writes a bool; omits false. */
  bool(field: number, value: boolean | undefined): this {
    if (value !== true) return this;
    this.#reserve(MAX_VARINT32_BYTES + 1);
    this.#varint32(varintTag(field));
    this.#varint32(1);
    return this;
  }

  /** Writes an int32, or an int64 within 2^53; omits 0. */
  integer(field: number, value: number): this {
    return value === 0 ? this : this.integerAlways(field, value);
  }

  /** Writes an int32, or an int64 within 2^53, even if 0, as in a oneof. */
  integerAlways(field: number, value: number): this {
    this.#reserve(MAX_VARINT32_BYTES + 10);
    this.#varint32(varintTag(field));
    const lower = (value % TWO_TO_32) >>> 0;
    this.#varint64(lower, Math.floor(value / TWO_TO_32) >>> 0);
    return this;
  }

  /** Writes a double, even if 0. */
  double(field: number, value: number): this {
    this.#reserve(MAX_VARINT32_BYTES + 8);
    this.#varint32(fixed64Tag(field));
    this.#end = this.#bytes.writeDoubleLE(value, this.#end);
    return this;
  }

  #start(tag: number, length: number): void {
    this.#reserve(2 * MAX_VARINT32_BYTES + length);
    this.#varint32(tag);
    this.#varint32(length);
  }

  /** Widens a length for which one byte was reserved. */
  #widenLength(lengthAt: number, length: number): void {
    const extra = varintLength(length) - 1;
    this.#reserve(extra);
    this.#bytes.copyWithin(lengthAt + 1 + extra, lengthAt + 1, this.#end);
    const end = this.#end + extra;
    this.#end = lengthAt;
    this.#varint32(length);
    this.#end = end;
  }

  #varint32(value: number): void {
    this.#end = writeVarint(this.#bytes, this.#end, value);
  }

  #varint64(lower: number, upper: number): void {
    let low = lower;
    let high = upper;
    while (high !== 0) {
      this.#bytes[this.#end++] = (low & 0x7f) | 0x80;
      low = ((low >>> 7) | (high << 25)) >>> 0;
      high >>>= 7;
    }
    this.#varint32(low);
  }

  #reserve(more: number): void {
    const needed = this.#end + more;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#bytes.length * 2));
    this.#bytes.copy(larger, 0, 0, this.#end);
    this.#bytes = larger;
  }
}

/** Returns the size of a varint of up to 32 bits, in bytes. */
export function varintLength(value: number): number {
  if (value < 0x80) return 1;
  if (value < 0x4000) return 2;
  if (value < 0x20_0000) return 3;
  return value < 0x1000_0000 ? 4 : 5;
}

/** Writes a varint of up to 32 bits and returns its end. There must be room for five bytes. */
export function writeVarint(bytes: Buffer, start: number, value: number): number {
  let position = start;
  let rest = value;
  while (rest >= 0x80) {
    bytes[position++] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
  }
  bytes[position++] = rest;
  return position;
}
