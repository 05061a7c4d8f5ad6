/**
 * Protobuf's wire format, decoded from untrusted bytes: every length is checked before use, so malformed bytes cause a
 * `WireError`, never a crash or a long loop. Invalid UTF-8 becomes U+FFFD, because a peer's error text with a broken
 * character is still worth reading. Bytes are returned as views, text as copies.
 */
import { WireError } from "./wire-error.ts";

/** Wire types: the lowest three bits of a tag. */
const wireType = { VARINT: 0, FIXED64: 1, LENGTH: 2, GROUP: 3, GROUP_END: 4, FIXED32: 5 } as const;

/** Returns the tag of a varint field: int32, int64, uint32, bool, enum. */
export function varintTag(field: number): number {
  return (field << 3) | wireType.VARINT;
}

/** Returns the tag of an eight-byte field: double. */
export function fixed64Tag(field: number): number {
  return (field << 3) | wireType.FIXED64;
}

/** Returns the tag of a four-byte field: float. */
export function fixed32Tag(field: number): number {
  return (field << 3) | wireType.FIXED32;
}

/** Returns the tag of a length-delimited field: string, bytes, message, map entry. */
export function lengthTag(field: number): number {
  return (field << 3) | wireType.LENGTH;
}

const MAX_GROUP_DEPTH = 64;
const MAX_VARINT_BYTES = 10;
const TWO_TO_32 = 2 ** 32;

/** Buffers decode short texts much faster than a `TextDecoder`; browsers have none. */
const hasBuffers = typeof Buffer !== "undefined";
const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });

/** Reads one message, or a part of it that begins and ends between fields. */
export class WireReader {
  readonly #bytes: Uint8Array;
  #end: number;
  #position: number;
  #upperBits = 0;

  constructor(bytes: Uint8Array, start = 0, end: number = bytes.length) {
    this.#bytes =
      !hasBuffers || Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#position = start;
    this.#end = end;
  }

  get hasMore(): boolean {
    return this.#position < this.#end;
  }

  /** The position of the next byte in the bytes passed in. */
  get position(): number {
    return this.#position;
  }

  /** Reads the next tag. Field numbers start at 1; wire types 6 and 7 do not exist. */
  tag(): number {
    const tag = this.#varint32();
    if (this.#upperBits !== 0 || tag >>> 3 === 0) throw new WireError("field number out of range");
    if ((tag & 7) > wireType.FIXED32) throw new WireError(`wire type ${tag & 7} does not exist`);
    return tag;
  }

  bool(): boolean {
    return this.#varint32() !== 0 || this.#upperBits !== 0;
  }

  int32(): number {
    return this.#varint32() | 0;
  }

  uint32(): number {
    return this.#varint32();
  }

  /** Reads an int64 as a number, which loses digits beyond 2^53. */
  int64(): number {
    const lower = this.#varint32();
    return (this.#upperBits | 0) * TWO_TO_32 + lower;
  }

  double(): number {
    const start = this.#take(8);
    return new DataView(this.#bytes.buffer, this.#bytes.byteOffset + start, 8).getFloat64(0, true);
  }

  string(): string {
    const length = this.#length();
    const start = this.#take(length);
    if (length === 0) return "";
    return hasBuffers
      ? (this.#bytes as Buffer).toString("utf8", start, start + length)
      : utf8.decode(this.#bytes.subarray(start, start + length));
  }

  /** Returns a view of the field's bytes, which keeps the whole message in memory. */
  bytes(): Uint8Array {
    const length = this.#length();
    const start = this.#take(length);
    return new Uint8Array(this.#bytes.buffer, this.#bytes.byteOffset + start, length);
  }

  /** Returns a reader of the message in this field. */
  message(): WireReader {
    const length = this.#length();
    const start = this.#take(length);
    return new WireReader(this.#bytes, start, start + length);
  }

  /**
   * As `message`, without a reader of its own: this one reads the message next, and what comes after it once `leave` is
   * called with the result.
   */
  enter(): number {
    const length = this.#length();
    const start = this.#take(length);
    const outerEnd = this.#end;
    this.#position = start;
    this.#end = start + length;
    return outerEnd;
  }

  /** Goes on after a message that was entered and read to its end. */
  leave(outerEnd: number): void {
    this.#end = outerEnd;
  }

  /** Goes on at a position between fields, which has been checked. */
  goTo(position: number): void {
    this.#position = position;
  }

  /** Skips an unknown field (B-MSC-09). */
  skip(tag: number): void {
    this.#skip(tag, 0);
  }

  #skip(tag: number, depth: number): void {
    switch (tag & 7) {
      case wireType.VARINT:
        this.#varint32();
        return;
      case wireType.FIXED64:
        this.#take(8);
        return;
      case wireType.LENGTH:
        this.#take(this.#length());
        return;
      case wireType.GROUP:
        this.#skipGroup(tag >>> 3, depth);
        return;
      case wireType.FIXED32:
        this.#take(4);
        return;
      default:
        throw new WireError("end of a group that did not begin");
    }
  }

  #skipGroup(field: number, depth: number): void {
    if (depth >= MAX_GROUP_DEPTH) throw new WireError(`groups nested deeper than ${MAX_GROUP_DEPTH}`);
    while (this.hasMore) {
      const tag = this.tag();
      if ((tag & 7) !== wireType.GROUP_END) this.#skip(tag, depth + 1);
      else if (tag >>> 3 === field) return;
      else throw new WireError("end of another group than the one that began");
    }
    throw new WireError("group without an end");
  }

  #length(): number {
    const length = this.#varint32();
    if (this.#upperBits !== 0) throw new WireError("length beyond 32 bits");
    return length;
  }

  #take(length: number): number {
    const start = this.#position;
    if (length > this.#end - start) throw new WireError(`expected ${length} more bytes, got ${this.#end - start}`);
    this.#position = start + length;
    return start;
  }

  /** Returns the lower 32 bits, unsigned; the upper ones are in `#upperBits`, also unsigned. */
  #varint32(): number {
    this.#upperBits = 0;
    const first = this.#byte();
    if (first < 0x80) return first;
    let lower = first & 0x7f;
    for (let shift = 7; shift < 28; shift += 7) {
      const byte = this.#byte();
      lower |= (byte & 0x7f) << shift;
      if (byte < 0x80) return lower;
    }
    const middle = this.#byte();
    lower = (lower | (middle << 28)) >>> 0;
    if (middle < 0x80) {
      this.#upperBits = middle >>> 4;
      return lower;
    }
    let upper = (middle & 0x7f) >>> 4;
    for (let shift = 3; shift < 3 + 7 * (MAX_VARINT_BYTES - 5); shift += 7) {
      const byte = this.#byte();
      upper |= (byte & 0x7f) << shift;
      if (byte < 0x80) {
        this.#upperBits = upper >>> 0;
        return lower;
      }
    }
    throw new WireError(`varint longer than ${MAX_VARINT_BYTES} bytes`);
  }

  #byte(): number {
    const byte = this.#position < this.#end ? this.#bytes[this.#position] : undefined;
    if (byte === undefined) throw new WireError("the message ends within a field");
    this.#position++;
    return byte;
  }
}
