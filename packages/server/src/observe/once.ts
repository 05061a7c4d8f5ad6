/** Enough for every source that an operator would look at. */
const MAX_KEYS = 1_000;

/** Lets each key through once, until it is forgotten; beyond a thousand keys nothing. */
export class Once {
  readonly #told = new Set<string>();

  /** Whether it is told for the first time. */
  allow(key: string): boolean {
    if (this.#told.has(key) || this.#told.size >= MAX_KEYS) return false;
    this.#told.add(key);
    return true;
  }

  /** The next time it is news again. */
  forget(key: string): void {
    this.#told.delete(key);
  }
}
