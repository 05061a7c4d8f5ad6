/** A least-recently-used cache with a budget of elements. The newest value is kept whatever its size. */
export class Recent<V> {
  readonly #sizeOf: (value: V) => number;
  readonly #budget: number;
  /** In order of use, the newest last. */
  readonly #values = new Map<string, V>();
  #size = 0;

  /** `sizeOf`: the number of elements in a value; it must not change. */
  constructor(budget: number, sizeOf: (value: V) => number) {
    this.#budget = budget;
    this.#sizeOf = sizeOf;
  }

  /** How many elements are kept, plus one for each value. */
  get size(): number {
    return this.#size;
  }

  /**
   * Returns the value under a key; makes and stores it if there is none. Without a key the value is made and not
   * stored.
   */
  get(key: string | undefined, make: () => V): V {
    if (key === undefined) return make();
    const known = this.#values.get(key);
    if (known !== undefined) {
      this.#values.delete(key);
      this.#values.set(key, known);
      return known;
    }
    const made = make();
    this.#values.set(key, made);
    // An empty value takes space too.
    this.#size += this.#sizeOf(made) + 1;
    this.#shrink();
    return made;
  }

  clear(): void {
    this.#values.clear();
    this.#size = 0;
  }

  #shrink(): void {
    for (const [key, value] of this.#values) {
      if (this.#size <= this.#budget || this.#values.size === 1) return;
      this.#values.delete(key);
      this.#size -= this.#sizeOf(value) + 1;
    }
  }
}
