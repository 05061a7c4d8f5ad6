/**
 * Protobuf's wire format in a buffer that is used again and again. Unlike `WireWriter` it works in browsers, too, and
 * writes tags that were made before.
 */
export class GrowingBytes {
  #bytes: Uint8Array<ArrayBuffer> = new Uint8Array(LEAST);
  #view = new DataView(this.#bytes.buffer);
  #end = 0;
  #sheet = new ArrayBuffer(0);
  #used = 0;

  /** Starts anew. */
  clear(): void {
    this.#end = 0;
    // What one large message needed is not kept.
    if (this.#bytes.length > MOST_KEPT) this.#use(new Uint8Array(LEAST));
  }

  /**
   * Returns a copy of the bytes written. Small ones share memory, because a buffer of its own costs more than what is in it.
   */
  finish(): Uint8Array<ArrayBuffer> {
    const length = this.#end;
    const written = this.#bytes.subarray(0, length);
    if (length > SHEET / 4) return new Uint8Array(written);
    if (length > this.#sheet.byteLength - this.#used) {
      this.#sheet = new ArrayBuffer(SHEET);
      this.#used = 0;
    }
    const copy = new Uint8Array(this.#sheet, this.#used, length);
    copy.set(written);
    this.#used += length;
    return copy;
  }

  get length(): number {
    return this.#end;
  }

  /** Forgets what was written after a position. */
  rewind(end: number): void {
    this.#end = end;
  }

  /** Writes a varint of up to 32 bits, such as a tag. */
  varint32(value: number): void {
    if (this.#end + MOST_VARINT > this.#bytes.length) this.#grow(MOST_VARINT);
    const bytes = this.#bytes;
    let rest = value;
    while (rest > 0x7f) {
      bytes[this.#end++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    bytes[this.#end++] = rest;
  }

  /** Writes an integer of up to 53 bits as an int64 or uint64; one of 32 bits is the same. */
  integer(value: number): void {
    if (value >= 0 && value < TWO_TO_32) {
      this.varint32(value);
      return;
    }
    this.#grow(MOST_VARINT);
    let low = (value % TWO_TO_32) >>> 0;
    let high = Math.floor(value / TWO_TO_32) >>> 0;
    while (high !== 0) {
      this.#bytes[this.#end++] = (low & 0x7f) | 0x80;
      low = ((low >>> 7) | (high << 25)) >>> 0;
      high >>>= 7;
    }
    this.varint32(low);
  }

  double(value: number): void {
    this.#grow(8);
    this.#view.setFloat64(this.#end, value, true);
    this.#end += 8;
  }

  float(value: number): void {
    this.#grow(4);
    this.#view.setFloat32(this.#end, value, true);
    this.#end += 4;
  }

  /** Writes bytes after their length. */
  bytes(bytes: Uint8Array): void {
    this.varint32(bytes.length);
    this.#grow(bytes.length);
    this.#bytes.set(bytes, this.#end);
    this.#end += bytes.length;
  }

  /** Writes a text after its length; false if it holds half of a surrogate pair. */
  text(text: string): boolean {
    const { length } = text;
    if (length > LONGEST_BY_CHARACTER) return this.#anyText(text);
    this.#grow(length + 1);
    const bytes = this.#bytes;
    const start = this.#end + 1;
    for (let at = 0; at < length; at++) {
      const code = text.charCodeAt(at);
      if (code > 0x7f) return this.#anyText(text);
      bytes[start + at] = code;
    }
    bytes[start - 1] = length;
    this.#end = start + length;
    return true;
  }

  #anyText(text: string): boolean {
    const start = this.begin();
    this.#grow(text.length * MOST_UTF8);
    this.#end += utf8.encodeInto(text, this.#bytes.subarray(this.#end)).written;
    this.end(start);
    return !HAS_SURROGATE.test(text) || !HAS_HALF_PAIR.test(text);
  }

  /** Begins what has a length before it; the result is for `end`. */
  begin(): number {
    this.#grow(1);
    return ++this.#end;
  }

  /** Writes the length of what was written since `begin`. */
  end(start: number): void {
    const length = this.#end - start;
    if (length < 0x80) {
      this.#bytes[start - 1] = length;
      return;
    }
    // Room for one byte was left.
    const room = length < 0x4000 ? 1 : length < 0x20_0000 ? 2 : length < 0x1000_0000 ? 3 : 4;
    this.#grow(room);
    this.#bytes.copyWithin(start + room, start, this.#end);
    this.#end = start - 1;
    this.varint32(length);
    this.#end += length;
  }

  #grow(more: number): void {
    const needed = this.#end + more;
    if (needed <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
    larger.set(this.#bytes.subarray(0, this.#end));
    this.#use(larger);
  }

  #use(bytes: Uint8Array<ArrayBuffer>): void {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer);
  }
}

const LEAST = 4 * 1024;
const MOST_KEPT = 256 * 1024;
/** What one small message keeps in memory at most, if it outlives those beside it. */
const SHEET = 1024;
const MOST_VARINT = 10;
/** A platform call costs as much as a copy of some characters; their number fits a length of one byte. */
const LONGEST_BY_CHARACTER = 48;
/** A UTF-16 code unit is at most three bytes of UTF-8. */
const MOST_UTF8 = 3;
const TWO_TO_32 = 2 ** 32;
const HAS_SURROGATE = /[\ud800-\udfff]/;
const HAS_HALF_PAIR = /\p{Surrogate}/u;
const utf8 = new TextEncoder();
