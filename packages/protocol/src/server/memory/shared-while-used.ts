/** Objects under a key that are one for all who ask, for as long as anybody but this holds on to them. */
export class SharedWhileUsed<V extends object> {
  readonly #known = new Map<string, WeakRef<V>>();
  #sinceSweep = 0;

  /** The one under the key, made first if nobody has it any more. What has no key is made for one alone. */
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
