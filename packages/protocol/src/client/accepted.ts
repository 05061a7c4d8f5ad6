import { plainName } from "../resource/variant-name.ts";
import type { HeldFailure, HeldResource, HeldStatus } from "./held.ts";
import { fits, type Term } from "./interest.ts";

/** One name of which something is held, or is known why not. */
export interface Entry {
  readonly name: string;
  /** Other names that it answers to: those of what is held, else those of what was refused. */
  readonly aliases: readonly string[];
  readonly resource: HeldResource | undefined;
  readonly status: HeldStatus;
  readonly failure: HeldFailure | undefined;
  readonly acceptedAtMs: number | undefined;
  /** The place of the server that it came from; undefined: from none in this life. */
  readonly server: number | undefined;
}

/** What of one type at one source was accepted. */
export class Accepted {
  readonly #entries = new Map<string, Entry>();
  /** Entries by their aliases, and variants by the name that they share. */
  readonly #byOther = new Map<string, Set<Entry>>();

  entries(): Iterable<Entry> {
    return this.#entries.values();
  }

  get(name: string): Entry | undefined {
    return this.#entries.get(name);
  }

  set(entry: Entry): void {
    this.#unindex(this.#entries.get(entry.name));
    this.#entries.set(entry.name, entry);
    for (const other of othersOf(entry)) {
      const entries = this.#byOther.get(other) ?? new Set();
      this.#byOther.set(other, entries.add(entry));
    }
  }

  delete(name: string): void {
    this.#unindex(this.#entries.get(name));
    this.#entries.delete(name);
  }

  /** The entries that have a name as an alias, or as that which they share with other variants. */
  known(other: string): Iterable<Entry> {
    return this.#byOther.get(other) ?? [];
  }

  /** The entries that answer to a term. */
  *answering(term: Term): Iterable<Entry> {
    for (const entry of this.#candidates(term)) {
      if (fits(term, entry.name, entry.aliases)) yield entry;
    }
  }

  /** Whether a resource is held that answers to a term. */
  holds(term: Term): boolean {
    for (const { resource } of this.answering(term)) if (resource !== undefined) return true;
    return false;
  }

  *#candidates(term: Term): Iterable<Entry> {
    if (term.kind !== "name") {
      yield* this.#entries.values();
      return;
    }
    const entry = this.#entries.get(term.name);
    if (entry !== undefined) yield entry;
    yield* this.known(term.name);
  }

  #unindex(entry: Entry | undefined): void {
    if (entry === undefined) return;
    for (const other of othersOf(entry)) {
      const entries = this.#byOther.get(other);
      entries?.delete(entry);
      if (entries?.size === 0) this.#byOther.delete(other);
    }
  }
}

/** An alias may be the name itself: servers of virtual hosts say it so. */
function othersOf({ name, aliases }: Entry): readonly string[] {
  const others = aliases.includes(name) ? aliases.filter((alias) => alias !== name) : aliases;
  const plain = plainName(name);
  return plain === name ? others : [plain, ...others];
}
