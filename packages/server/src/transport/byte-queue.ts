import { unclearedBytes } from "./uncleared-bytes.ts";

const NOTHING = new Uint8Array(0);
const LEAST_BYTES = 256;

/**
 * A queue of bytes in contiguous memory. A chunk may be a one-byte view of a 64 KB read buffer, so unused bytes are
 * copied and the buffer is released.
 */
export class ByteQueue {
  #memory: Uint8Array = NOTHING;
  #start = 0;
  #end = 0;
  /** Whether the memory is the queue's own rather than a chunk's. */
  #isOwn = true;

  get length(): number {
    return this.#end - this.#start;
  }

  /** Bytes of memory that the queue retains. */
  get keptBytes(): number {
    return this.#isOwn ? this.#memory.byteLength : 0;
  }

  /** Adds a chunk. `wanted`: the expected total, if known. Call `keep` after taking what is complete. */
  push(chunk: Uint8Array, wanted?: number): void {
    if (this.length === 0) {
      this.#memory = chunk;
      this.#start = 0;
      this.#end = chunk.byteLength;
      this.#isOwn = false;
      return;
    }
    this.#reserve(chunk.byteLength, wanted);
    this.#memory.set(chunk, this.#end);
    this.#end += chunk.byteLength;
  }

  /** Releases the last chunk by copying its unused bytes. */
  keep(wanted?: number): void {
    if (this.length === 0) this.clear();
    else if (!this.#isOwn) this.#reserve(0, wanted);
  }

  /** Takes the first bytes, which must be there. They do not change afterwards. */
  take(byteLength: number): Uint8Array {
    const start = this.#start;
    this.#start += byteLength;
    if (!this.#isOwn) return this.#memory.subarray(start, this.#start);
    const isMost = this.length === 0 && byteLength * 2 >= this.#memory.byteLength;
    const taken = isMost ? this.#memory.subarray(start, this.#start) : this.#memory.slice(start, this.#start);
    if (this.length === 0) this.clear();
    return taken;
  }

  /** A byte that must be there; it is not taken. */
  at(index: number): number {
    return this.#memory[this.#start + index] ?? 0;
  }

  /** Throws away the first bytes, which must be there. */
  skip(byteLength: number): void {
    this.#start += byteLength;
    if (this.#isOwn && this.length === 0) this.clear();
  }

  clear(): void {
    this.#memory = NOTHING;
    this.#start = 0;
    this.#end = 0;
    this.#isOwn = true;
  }

  /** Grows the queue's own memory to twice the need, but not above `wanted`. */
  #reserve(byteLength: number, wanted = Number.POSITIVE_INFINITY): void {
    const needed = this.length + byteLength;
    if (this.#isOwn && this.#end + byteLength <= this.#memory.byteLength) return;
    const isRoomy = this.#isOwn && this.#memory.byteLength >= 2 * needed;
    const capacity = Math.max(needed, Math.min(Math.max(2 * needed, LEAST_BYTES), wanted));
    const memory = isRoomy ? this.#memory : unclearedBytes(capacity);
    memory.set(this.#memory.subarray(this.#start, this.#end));
    this.#end = this.length;
    this.#start = 0;
    this.#memory = memory;
    this.#isOwn = true;
  }
}
