import { isGlob } from "../../resource/resource-name.ts";
import { isLocated } from "../../resource/variant-name.ts";

/** What sets of names are read by. */
export interface NameList extends Iterable<string> {
  readonly size: number;
  has(name: string): boolean;
}

const none: ReadonlySet<string> = new Set();

/**
 * An immutable set of names from which another one is made by adding a few and taking a few away. The two share what they have
 * in common: many small changes to a large set cost the square root of its size each, not its size.
 */
export class Names implements NameList {
  static readonly none: Names = new Names(none, none, none, { size: 0, collections: 0, debt: 0 });

  readonly size: number;
  readonly #base: ReadonlySet<string>;
  readonly #added: ReadonlySet<string>;
  /** Of the base, what is no member any more; a name may have been added again. */
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

  /** The given set must not change afterwards. */
  static of(names: ReadonlySet<string>): Names {
    if (names.size === 0) return Names.none;
    let collections = 0;
    for (const name of names) collections += weigh(name);
    return new Names(names, none, none, { size: names.size, collections, debt: 0 });
  }

  /** Some of them are collections, or have parameters: they may stand for more than one resource. */
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

  /** These, with some added and others taken away; the same object if that changes nothing. `adding` must not change afterwards. */
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
    // As much was copied as a new base costs.
    return debt > this.#base.size ? new Names(new Set(made), none, none, { size, collections, debt: 0 }) : made;
  }
}

function weigh(name: string): 0 | 1 {
  return isGlob(name) || isLocated(name) ? 1 : 0;
}
