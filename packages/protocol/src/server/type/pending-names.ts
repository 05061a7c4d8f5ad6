import { LazyMap } from "../memory/lazy.ts";
import type { NameList } from "../subscription/names.ts";

/** Terms to be answered whatever the version, in the order in which they were asked. */
export interface PendingNameList {
  readonly size: number;
  has(term: string): boolean;
  /** Whether the client held nothing for a pending term before; undefined: the term is not pending. */
  get(term: string): boolean | undefined;
  keys(): Iterable<string>;
}

/**
 * The pending terms of one type. Those of a first request are all of its names: they are not copied, because a client may
 * have hundreds of thousands.
 */
export class PendingNames implements PendingNameList {
  /** Pending as a whole, and equally new. */
  #shared: { readonly names: NameList; readonly areNew: boolean } | undefined;
  #own = new LazyMap<string, boolean>();

  get size(): number {
    return this.#shared?.names.size ?? this.#own.size;
  }

  has(term: string): boolean {
    return this.#shared?.names.has(term) ?? this.#own.has(term);
  }

  get(term: string): boolean | undefined {
    if (this.#shared === undefined) return this.#own.get(term);
    return this.#shared.names.has(term) ? this.#shared.areNew : undefined;
  }

  keys(): Iterable<string> {
    return this.#shared?.names ?? this.#own.keys();
  }

  add(term: string, isNew: boolean): void {
    const known = this.get(term);
    if (known === true || (known === false && !isNew)) return;
    this.#copy().set(term, isNew);
  }

  /** Adds terms, which must not change afterwards. */
  addAll(names: NameList, areNew: boolean): void {
    if (this.size === 0) this.#shared = { names, areNew };
    else for (const name of names) this.add(name, areNew);
  }

  delete(term: string): void {
    if (this.has(term)) this.#copy().delete(term);
  }

  #copy(): LazyMap<string, boolean> {
    if (this.#shared !== undefined) {
      const { names, areNew } = this.#shared;
      this.#own = new LazyMap();
      for (const name of names) this.#own.set(name, areNew);
      this.#shared = undefined;
    }
    return this.#own;
  }
}
