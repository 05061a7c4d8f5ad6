/**
 * What was made and is likely to be asked for again, under a key; of more than a budget of elements, what was asked for least
 * lately is let go. The newest is kept whatever its size.
 */
export class Recent<V> {
  readonly #sizeOf: (value: V) => number;
  readonly #budget: number;
  /** The one asked for last is last. */
  readonly #values = new Map<string, V>();
  #size = 0;

  /** `sizeOf`: how many elements a value has; it must not change. */
  constructor(budget: number, sizeOf: (value: V) => number) {
    this.#budget = budget;
    this.#sizeOf = sizeOf;
  }

  /** Elements kept. */
  get size(): number {
    return this.#size;
  }

  /** What is under the key, made first if nothing is. What has no key is made for one alone, and is not kept. */
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
    // One that is empty is not for nothing.
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
