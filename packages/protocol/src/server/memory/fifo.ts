/** A queue that holds each object once, in the order of arrival. */
export class Fifo<T extends object> {
  readonly #waiting = new Set<T>();
  /**
   * Points before the first object. A new iterator would skip every deleted entry again: half a second for a queue of
   * 50,000.
   */
  #next = this.#waiting.values();

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  get size(): number {
    return this.#waiting.size;
  }

  has(one: T): boolean {
    return this.#waiting.has(one);
  }

  /** An object that is already queued keeps its place. */
  add(one: T): void {
    this.#waiting.add(one);
  }

  delete(one: T): void {
    this.#waiting.delete(one);
    // An iterator keeps the entries that were there when it last looked.
    if (this.isEmpty) this.#next = this.#waiting.values();
  }

  /** Removes and returns the first object. */
  take(): T | undefined {
    const { done, value } = this.#next.next();
    if (done === true) {
      // A finished iterator stays finished, whatever is added.
      this.#next = this.#waiting.values();
      return undefined;
    }
    this.#waiting.delete(value);
    return value;
  }
}
