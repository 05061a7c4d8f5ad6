/**
 * A map that allocates a table only for its second entry: a client may have 100,000 watches, nearly all with one name,
 * and an empty `Map` is as large as the rest of a watch.
 */
export class OneOrMany<V> implements ReadonlyMap<string, V> {
  #key: string | undefined;
  #value: V | undefined;
  /** Replaces the two fields above once there is a second entry. */
  #table: Map<string, V> | undefined;

  get size(): number {
    return this.#table?.size ?? (this.#key === undefined ? 0 : 1);
  }

  has(key: string): boolean {
    return this.#table?.has(key) ?? this.#key === key;
  }

  get(key: string): V | undefined {
    if (this.#table !== undefined) return this.#table.get(key);
    return this.#key === key ? this.#value : undefined;
  }

  set(key: string, value: V): void {
    if (this.#table === undefined && (this.#key === undefined || this.#key === key)) {
      this.#key = key;
      this.#value = value;
      return;
    }
    this.#table ??= new Map(this);
    this.#table.set(key, value);
    this.#clear();
  }

  delete(key: string): void {
    this.#table?.delete(key);
    if (this.#key === key) this.#clear();
  }

  forEach(callback: (value: V, key: string, map: ReadonlyMap<string, V>) => void): void {
    for (const [key, value] of this) callback(value, key, this);
  }

  *keys(): MapIterator<string> {
    for (const [key] of this) yield key;
  }

  *values(): MapIterator<V> {
    for (const [, value] of this) yield value;
  }

  *entries(): MapIterator<[string, V]> {
    if (this.#table !== undefined) yield* this.#table;
    else if (this.#key !== undefined) yield [this.#key, this.#value as V];
  }

  [Symbol.iterator](): MapIterator<[string, V]> {
    return this.entries();
  }

  #clear(): void {
    this.#key = undefined;
    this.#value = undefined;
  }
}
