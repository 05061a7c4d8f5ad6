import { isGlob } from "../../resource/resource-name.ts";
import { isLocated } from "../../resource/variant-name.ts";

/** The read-only interface of sets of names. */
export interface NameList extends Iterable<string> {
  readonly size: number;
  /** Whether some may match more than one resource; undefined: unknown. */
  readonly hasCollections?: boolean;
  has(name: string): boolean;
}

const none: ReadonlySet<string> = new Set();

/**
 * An immutable set of names that shares structure with the sets derived from it: each of many small changes to a large
 * set costs the square root of its size, not its size.
 */
export class Names implements NameList {
  static readonly none: Names = new Names(none, none, none, { size: 0, collections: 0, debt: 0 });

  readonly size: number;
  readonly #base: ReadonlySet<string>;
  readonly #added: ReadonlySet<string>;
  /** Names of the base that are no members; a name may be in `#added` again. */
  readonly #removed: ReadonlySet<string>;
  readonly #collections: number;
  /** Names copied since the base was made. */
  readonly #debt: number;

  private constructor(
    base: ReadonlySet<string>,
    added: ReadonlySet<string>,
    removed: ReadonlySet<string>,
    { size, collections, debt }: { readonly size: number; readonly collections: number; readonly debt: number },
  ) {
    this.#base = base;
    this.#added = added;
    this.#removed = removed;
    this.size = size;
    this.#collections = collections;
    this.#debt = debt;
  }

  /** Wraps a set, which must not change afterwards. */
  static of(names: ReadonlySet<string>): Names {
    if (names.size === 0) return Names.none;
    let collections = 0;
    for (const name of names) collections += weigh(name);
    return new Names(names, none, none, { size: names.size, collections, debt: 0 });
  }

  /** Whether some names are globs or have parameters, so that they may match more than one resource. */
  get hasCollections(): boolean {
    return this.#collections > 0;
  }

  has(name: string): boolean {
    return this.#added.has(name) || (this.#base.has(name) && !this.#removed.has(name));
  }

  [Symbol.iterator](): Iterator<string> {
    return this.#added.size + this.#removed.size === 0 ? this.#base[Symbol.iterator]() : this.#walk();
  }

  *#walk(): Iterator<string> {
    for (const name of this.#base) if (!this.#removed.has(name)) yield name;
    yield* this.#added;
  }

  /**
   * Derives a set with names added and removed; returns the same object if nothing changes. `adding` must not change
   * afterwards.
   */
  with(adding: ReadonlySet<string>, removing: ReadonlySet<string>): Names {
    if (this.size === 0) return Names.of(adding);
    const coming = [...adding].filter((name) => !this.has(name));
    const going = [...removing].filter((name) => this.has(name));
    if (coming.length + going.length === 0) return this;
    const added = new Set(this.#added);
    const removed = new Set(this.#removed);
    let { size } = this;
    let collections = this.#collections;
    for (const name of coming) {
      added.add(name);
      size++;
      collections += weigh(name);
    }
    for (const name of going) {
      if (!added.delete(name)) removed.add(name);
      size--;
      collections -= weigh(name);
    }
    if (size === 0) return Names.none;
    const debt = this.#debt + added.size + removed.size;
    const made = new Names(this.#base, added, removed, { size, collections, debt });
    // A new base costs no more than what was copied so far.
    return debt > this.#base.size ? new Names(new Set(made), none, none, { size, collections, debt: 0 }) : made;
  }
}

function weigh(name: string): 0 | 1 {
  return isGlob(name) || isLocated(name) ? 1 : 0;
}
