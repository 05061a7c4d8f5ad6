/** A map that converts the values of another map when they are read. */
export class LazyMap<V, W> implements ReadonlyMap<string, W> {
  readonly #under: ReadonlyMap<string, V>;
  readonly #view: (value: V) => W;

  constructor(under: ReadonlyMap<string, V>, view: (value: V) => W) {
    this.#under = under;
    this.#view = view;
  }

  get size(): number {
    return this.#under.size;
  }

  has(key: string): boolean {
    return this.#under.has(key);
  }

  get(key: string): W | undefined {
    const value = this.#under.get(key);
    return value === undefined ? undefined : this.#view(value);
  }

  forEach(callback: (value: W, key: string, map: ReadonlyMap<string, W>) => void): void {
    for (const [key, value] of this) callback(value, key, this);
  }

  keys(): MapIterator<string> {
    return this.#under.keys();
  }

  *values(): MapIterator<W> {
    for (const value of this.#under.values()) yield this.#view(value);
  }

  *entries(): MapIterator<[string, W]> {
    for (const [key, value] of this.#under) yield [key, this.#view(value)];
  }

  [Symbol.iterator](): MapIterator<[string, W]> {
    return this.entries();
  }
}
