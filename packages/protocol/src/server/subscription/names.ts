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
/** Few names are longer. One that is counts as several, so that limits and caches that count names bound their memory. */
const CHARACTERS_OF_ONE = 256;

/** How many names a name counts for: one for each 256 characters that it has or begins. */
export function countOf(name: string): number {
  return name.length <= CHARACTERS_OF_ONE ? 1 : Math.ceil(name.length / CHARACTERS_OF_ONE);
}

/** How many names these count for. */
export function countOfAll(names: Iterable<string>): number {
  let count = 0;
  for (const name of names) count += countOf(name);
  return count;
}

/**
 * An immutable set of names that shares structure with the sets derived from it: each of many small changes to a large
 * set costs the square root of its size, not its size.
 */
export class Names implements NameList {
  static readonly none: Names = new Names(none, none, none, { size: 0, counted: 0, collections: 0, debt: 0, gone: 0 });

  readonly size: number;
  /** How many names the members count for. */
  readonly counted: number;
  readonly #base: ReadonlySet<string>;
  readonly #added: ReadonlySet<string>;
  /** Names of the base that are no members; a name may be in `#added` again. */
  readonly #removed: ReadonlySet<string>;
  readonly #collections: number;
  /** Names copied since the base was made. */
  readonly #debt: number;
  /** How many names those that were taken out of the base count for. */
  readonly #gone: number;

  private constructor(
    base: ReadonlySet<string>,
    added: ReadonlySet<string>,
    removed: ReadonlySet<string>,
    {
      size,
      counted,
      collections,
      debt,
      gone,
    }: Readonly<Record<"size" | "counted" | "collections" | "debt" | "gone", number>>,
  ) {
    this.#base = base;
    this.#added = added;
    this.#removed = removed;
    this.size = size;
    this.counted = counted;
    this.#collections = collections;
    this.#debt = debt;
    this.#gone = gone;
  }

  /** Wraps a set, which must not change afterwards. */
  static of(names: ReadonlySet<string>): Names {
    if (names.size === 0) return Names.none;
    let counted = 0;
    let collections = 0;
    for (const name of names) {
      counted += countOf(name);
      collections += weigh(name);
    }
    return new Names(names, none, none, { size: names.size, counted, collections, debt: 0, gone: 0 });
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
    let { size, counted } = this;
    let collections = this.#collections;
    let gone = this.#gone;
    for (const name of coming) {
      added.add(name);
      size++;
      counted += countOf(name);
      collections += weigh(name);
    }
    for (const name of going) {
      if (!added.delete(name)) {
        removed.add(name);
        gone += countOf(name);
      }
      size--;
      counted -= countOf(name);
      collections -= weigh(name);
    }
    if (size === 0) return Names.none;
    const debt = this.#debt + added.size + removed.size;
    const made = new Names(this.#base, added, removed, { size, counted, collections, debt, gone });
    // A new base costs no more than what was copied or taken out so far, which the old base still has.
    return debt > this.#base.size || gone > counted
      ? new Names(new Set(made), none, none, { size, counted, collections, debt: 0, gone: 0 })
      : made;
  }
}

function weigh(name: string): 0 | 1 {
  return isGlob(name) || isLocated(name) ? 1 : 0;
}
