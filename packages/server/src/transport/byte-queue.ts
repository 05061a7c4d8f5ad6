const NOTHING = new Uint8Array(0);
const LEAST_BYTES = 256;

/**
 * Bytes in the order they came, in one piece of memory. A chunk is a view of all that was read with it, 64 KB for a single
 * byte: what is not used at once is copied, so that nothing but the bytes themselves is kept.
 */
export class ByteQueue {
  #memory: Uint8Array = NOTHING;
  #start = 0;
  #end = 0;
  /** The memory is ours, and not a chunk's. */
  #isOwn = true;

  get length(): number {
    return this.#end - this.#start;
  }

  /** Bytes of memory that are kept for it. */
  get keptBytes(): number {
    return this.#isOwn ? this.#memory.byteLength : 0;
  }

  /** Adds a chunk. `wanted`: how many bytes there will be, if that is known. Call `keep` once what can be taken was. */
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

  /** Lets go of the last chunk. */
  keep(wanted?: number): void {
    if (this.length === 0) this.clear();
    else if (!this.#isOwn) this.#reserve(0, wanted);
  }

  /** The first bytes, of those there are. They do not change afterwards. */
  take(byteLength: number): Uint8Array {
    const start = this.#start;
    this.#start += byteLength;
    if (!this.#isOwn) return this.#memory.subarray(start, this.#start);
    const isMost = this.length === 0 && byteLength * 2 >= this.#memory.byteLength;
    const taken = isMost ? this.#memory.subarray(start, this.#start) : this.#memory.slice(start, this.#start);
    if (this.length === 0) this.clear();
    return taken;
  }

  clear(): void {
    this.#memory = NOTHING;
    this.#start = 0;
    this.#end = 0;
    this.#isOwn = true;
  }

  /** Makes room for more in memory of our own, twice what it takes, but not more than is wanted. */
  #reserve(byteLength: number, wanted = Number.POSITIVE_INFINITY): void {
    const needed = this.length + byteLength;
    if (this.#isOwn && this.#end + byteLength <= this.#memory.byteLength) return;
    const isRoomy = this.#isOwn && this.#memory.byteLength >= 2 * needed;
    const capacity = Math.max(needed, Math.min(Math.max(2 * needed, LEAST_BYTES), wanted));
    const memory = isRoomy ? this.#memory : new Uint8Array(capacity);
    memory.set(this.#memory.subarray(this.#start, this.#end));
    this.#end = this.length;
    this.#start = 0;
    this.#memory = memory;
    this.#isOwn = true;
  }
}
