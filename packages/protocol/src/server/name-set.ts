/** A set of names; equal sets are one object, so that what is made for one stream serves all who ask for the same. */
export interface NameSet {
  /** Different for sets that are different. */
  readonly key: string;
  readonly names: ReadonlySet<string>;
}

/** No names. */
export const emptyNameSet: NameSet = { key: "", names: new Set() };

/** Knows every set that some stream holds, and forgets those that none holds any more. */
export class NameSets {
  readonly #known = new Map<string, WeakRef<NameSet>>();
  #sinceSweep = 0;

  /** The one set that equals this one; the given set must not change afterwards. */
  intern(names: ReadonlySet<string>): NameSet {
    if (names.size === 0) return emptyNameSet;
    const sum = sumOf(names);
    for (let i = 0; ; i++) {
      const key = `${sum}.${i}`;
      const known = this.#known.get(key)?.deref();
      if (known === undefined) return this.#remember({ key, names });
      if (isEqual(known.names, names)) return known;
    }
  }

  /** Sets remembered, some of which may be gone already. */
  get size(): number {
    return this.#known.size;
  }

  #remember(set: NameSet): NameSet {
    this.#known.set(set.key, new WeakRef(set));
    if (++this.#sinceSweep > this.#known.size / 2 + 64) this.#sweep();
    return set;
  }

  #sweep(): void {
    this.#sinceSweep = 0;
    for (const [key, set] of this.#known) if (set.deref() === undefined) this.#known.delete(key);
  }
}

function isEqual(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  if (a.size !== b.size) return false;
  for (const name of a) if (!b.has(name)) return false;
  return true;
}

/**
 * A sum of FNV-1a hashes: the order of the names does not matter. It only has to tell most sets apart, because equal
 * sums are compared name by name; a digest per name cost 2.7 s for 2,000 requests.
 */
function sumOf(names: ReadonlySet<string>): string {
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
