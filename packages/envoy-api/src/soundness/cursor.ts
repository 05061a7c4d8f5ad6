const TWO_TO_31 = 2 ** 31;
const MOST_BYTES = 10;
const MOST_BYTES_OF_SMALL = 5;

const nothing: Uint8Array = new Uint8Array();

/**
 * A position in bytes. Unlike `WireReader` it neither throws nor allocates: what cannot be read is -1 or false, and the
 * position is useless afterwards. It reads only what encoders write; groups, and field numbers of more than 28 bits,
 * cannot be read.
 */
export class Cursor {
  bytes: Uint8Array = nothing;
  at = 0;
  /** The upper half of the last varint, unsigned. */
  upper = 0;

  /** Starts at the beginning of bytes. */
  enter(bytes: Uint8Array): void {
    this.bytes = bytes;
    this.at = 0;
  }

  /** Releases the bytes, so that they can be freed. */
  leave(): void {
    this.bytes = nothing;
  }

  /** Reads a varint and returns its lower half, unsigned. */
  varint(end: number): number {
    const { bytes } = this;
    this.upper = 0;
    let lower = 0;
    let upper = 0;
    for (let shift = 0; shift < 7 * MOST_BYTES && this.at < end; shift += 7) {
      const byte = bytes[this.at++] as number;
      const bits = byte & 0x7f;
      if (shift < 32) lower |= bits << shift;
      if (shift === 28) upper = bits >>> 4;
      else if (shift > 28) upper |= bits << (shift - 32);
      if (byte < 0x80) {
        this.upper = upper >>> 0;
        return lower >>> 0;
      }
    }
    return -1;
  }

  /** Reads a tag or a length. */
  small(end: number): number {
    if (this.at < end) {
      const byte = this.bytes[this.at] as number;
      if (byte < 0x80) {
        this.at++;
        return byte;
      }
    }
    const start = this.at;
    const value = this.varint(end);
    const isSmall = this.upper === 0 && value < TWO_TO_31 && this.at - start <= MOST_BYTES_OF_SMALL;
    return isSmall ? value : -1;
  }

  /** Reads a length and returns the position where what follows ends. */
  stop(end: number): number {
    const length = this.small(end);
    return length === -1 || length > end - this.at ? -1 : this.at + length;
  }

  /** Skips a value of the tag's wire type; false if there is none. */
  skip(tag: number, end: number): boolean {
    switch (tag & 7) {
      case 0:
        return this.varint(end) !== -1;
      case 1:
        return this.forward(8, end);
      case 2: {
        const stop = this.stop(end);
        this.at = stop;
        return stop !== -1;
      }
      case 5:
        return this.forward(4, end);
      default:
        return false;
    }
  }

  forward(length: number, end: number): boolean {
    this.at += length;
    return this.at <= end;
  }
}
