/** Maximum number of remembered keys. */
const MAX_KEYS = 1_000;

/** Allows each key once, until it is reset; above a thousand keys it allows nothing. */
export class Once {
  readonly #told = new Set<string>();

  /** Whether the key is new. */
  allow(key: string): boolean {
    if (this.#told.has(key) || this.#told.size >= MAX_KEYS) return false;
    this.#told.add(key);
    return true;
  }

  /** Resets a key, so that it is allowed again. */
  forget(key: string): void {
    this.#told.delete(key);
  }
}
