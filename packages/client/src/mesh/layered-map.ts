/**
 * A map whose copies are cheap: they share a base that never changes, and each has its own changes to it. To copy it
 * costs, on average, in the order of the square root of its size. Iterates in the order of the base, then what was added.
 */
export class LayeredMap<V extends object> implements ReadonlyMap<string, V> {
  readonly #base: ReadonlyMap<string, V>;
  /** By key; undefined: not there any more. */
  readonly #changes: Map<string, V | undefined>;
  #size: number;

  private constructor(base: ReadonlyMap<string, V>, changes: Map<string, V | undefined>, size: number) {
    this.#base = base;
    this.#changes = changes;
    this.#size = size;
  }

  static empty<V extends object>(): LayeredMap<V> {
    return new LayeredMap<V>(new Map(), new Map(), 0);
  }

  /** Later changes of the one do not show in the other. */
  copy(): LayeredMap<V> {
    // With more changes, copying them each time would cost more than a new base now and then.
    const isLayered = this.#changes.size ** 2 <= 2 * this.#base.size;
    return isLayered
      ? new LayeredMap(this.#base, new Map(this.#changes), this.#size)
      : new LayeredMap(this.#whole(), new Map(), this.#size);
  }

  #whole(): ReadonlyMap<string, V> {
    const whole = new Map(this.#base);
    for (const [key, value] of this.#changes) {
      if (value === undefined) whole.delete(key);
      else whole.set(key, value);
    }
    return whole;
  }

  set(key: string, value: V): void {
    if (!this.has(key)) this.#size++;
    this.#changes.set(key, value);
  }

  delete(key: string): void {
    if (!this.has(key)) return;
    this.#size--;
    if (this.#base.has(key)) this.#changes.set(key, undefined);
    else this.#changes.delete(key);
  }

  get size(): number {
    return this.#size;
  }

  has(key: string): boolean {
    return this.get(key) !== undefined;
  }

  get(key: string): V | undefined {
    const changed = this.#changes.get(key);
    return changed !== undefined || this.#changes.has(key) ? changed : this.#base.get(key);
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
    for (const [key, before] of this.#base) {
      const value = this.#changes.has(key) ? this.#changes.get(key) : before;
      if (value !== undefined) yield [key, value];
    }
    for (const [key, value] of this.#changes) {
      if (value !== undefined && !this.#base.has(key)) yield [key, value];
    }
  }

  [Symbol.iterator](): MapIterator<[string, V]> {
    return this.entries();
  }
}
