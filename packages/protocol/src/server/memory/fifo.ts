/** What waits for its turn, each once, in the order in which it came. */
export class Fifo<T extends object> {
  readonly #waiting = new Set<T>();
  /** Stands before the first of them. One that begins anew passes by what was taken out, so that a queue of 50,000 takes half a second. */
  #next = this.#waiting.values();

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  has(one: T): boolean {
    return this.#waiting.has(one);
  }

  /** One that waits already keeps its place. */
  add(one: T): void {
    this.#waiting.add(one);
  }

  delete(one: T): void {
    this.#waiting.delete(one);
    // An iterator keeps what there was when it last looked.
    if (this.isEmpty) this.#next = this.#waiting.values();
  }

  /** The first of them, which waits no longer. */
  take(): T | undefined {
    const { done, value } = this.#next.next();
    if (done === true) {
      // It would stay at its end, whatever comes.
      this.#next = this.#waiting.values();
      return undefined;
    }
    this.#waiting.delete(value);
    return value;
  }
}
