import { Names } from "./names.ts";

/**
 * An interned set of names: equal sets are one object, so that work done for one stream serves all with the same names.
 */
export interface NameSet {
  /** Differs for different sets, and is never reused. */
  readonly key: string;
  readonly names: Names;
}

/** The empty set. */
export const emptyNameSet: NameSet = { key: "0", names: Names.none };

/** Interns sets of names. It holds them weakly: a set that no stream uses is forgotten. */
export class NameSets {
  /** By a checksum that tells most sets apart. */
  readonly #known = new Map<string, readonly WeakRef<NameSet>[]>();
  #size = 0;
  #sinceSweep = 0;
  #lastKey = 0;

  /** The one interned set that equals `names`. */
  intern(names: Names): NameSet {
    if (names.size === 0) return emptyNameSet;
    const sum = sumOf(names);
    const alike = this.#known.get(sum) ?? [];
    for (const one of alike) {
      const known = one.deref();
      if (known !== undefined && isEqual(known.names, names)) return known;
    }
    const set = { key: String(++this.#lastKey), names };
    this.#known.set(sum, [...alike, new WeakRef(set)]);
    this.#size++;
    if (++this.#sinceSweep > this.#size / 2 + 64) this.#sweep();
    return set;
  }

  /** How many sets are interned, including some that are already collected. */
  get size(): number {
    return this.#size;
  }

  #sweep(): void {
    this.#sinceSweep = 0;
    this.#size = 0;
    for (const [sum, alike] of this.#known) {
      const alive = alike.filter((set) => set.deref() !== undefined);
      this.#size += alive.length;
      if (alive.length === 0) this.#known.delete(sum);
      else this.#known.set(sum, alive);
    }
  }
}

function isEqual(a: Names, b: Names): boolean {
  if (a === b) return true;
  if (a.size !== b.size) return false;
  // A client lists its names in the same order again, and comparing two of them costs less than looking one up.
  const others = b[Symbol.iterator]();
  for (const name of a) if (others.next().value !== name && !b.has(name)) return false;
  return true;
}

/**
 * A sum of FNV-1a hashes: the order of the names does not matter. It only has to tell most sets apart, because equal
 * sums are compared name by name; a digest per name cost 2.7 s for 2,000 requests.
 */
function sumOf(names: Names): string {
  let low = 0;
  let high = 0;
  for (const name of names) {
    let hash = 0x811c9dc5;
    for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
    low = (low + hash) | 0;
    high = (high + Math.imul(hash, 0x9e3779b1) + (hash >>> 15) * name.length) | 0;
  }
  return `${names.size}.${low >>> 0}.${high >>> 0}`;
}
