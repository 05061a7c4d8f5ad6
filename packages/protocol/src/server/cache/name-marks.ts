/** Numbers of names from 0 on, in the order in which they came. */
export class Ordinals {
  readonly #of = new Map<string, number>();

  /** That of a name; undefined: it has none. */
  find(name: string): number | undefined {
    return this.#of.get(name);
  }

  /** That of a name, which gets one if it has none. */
  of(name: string): number {
    const known = this.#of.get(name);
    if (known !== undefined) return known;
    const ordinal = this.#of.size;
    this.#of.set(name, ordinal);
    return ordinal;
  }
}

const BITS = 32;

/** A set of names that have ordinals: a bit for each. */
export class NameMarks {
  readonly #ordinals: Ordinals;
  readonly #words: number[] = [];

  constructor(ordinals: Ordinals) {
    this.#ordinals = ordinals;
  }

  /** Marks the name of an ordinal; false: it was marked. */
  mark(ordinal: number): boolean {
    const at = Math.floor(ordinal / BITS);
    while (this.#words.length <= at) this.#words.push(0);
    const word = this.#words[at] ?? 0;
    const bit = 1 << (ordinal % BITS);
    if ((word & bit) !== 0) return false;
    this.#words[at] = word | bit;
    return true;
  }

  add(name: string): boolean {
    return this.mark(this.#ordinals.of(name));
  }

  has(name: string): boolean {
    const ordinal = this.#ordinals.find(name);
    return ordinal !== undefined && ((this.#words[Math.floor(ordinal / BITS)] ?? 0) & (1 << (ordinal % BITS))) !== 0;
  }

  delete(name: string): void {
    const ordinal = this.#ordinals.find(name);
    if (ordinal === undefined || !this.has(name)) return;
    const at = Math.floor(ordinal / BITS);
    this.#words[at] = (this.#words[at] ?? 0) & ~(1 << (ordinal % BITS));
  }
}
