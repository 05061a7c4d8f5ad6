/** Values that are shared under a key for as long as something else references them. */
export class SharedWhileUsed<V extends object> {
  readonly #known = new Map<string, WeakRef<V>>();
  #sinceSweep = 0;

  /**
   * Returns the value under a key; makes it if nothing references it any more. Without a key the value is made and not
   * shared.
   */
  get(key: string | undefined, make: () => V): V {
    if (key === undefined) return make();
    const known = this.#known.get(key)?.deref();
    if (known !== undefined) return known;
    const made = make();
    this.#known.set(key, new WeakRef(made));
    if (++this.#sinceSweep > this.#known.size / 2 + 64) this.#sweep();
    return made;
  }

  clear(): void {
    this.#known.clear();
    this.#sinceSweep = 0;
  }

  #sweep(): void {
    this.#sinceSweep = 0;
    for (const [key, value] of this.#known) if (value.deref() === undefined) this.#known.delete(key);
  }
}
