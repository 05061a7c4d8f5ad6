import { globOf } from "../resource/resource-name.ts";
import { plainName } from "../resource/variant-name.ts";
import type { HeldFailure, HeldResource, HeldStatus } from "./held.ts";
import { fits, type Term } from "./interest.ts";
import { areSameNames } from "./received.ts";

/** The state of one name: the held resource, or why there is none. */
export interface AcceptedEntry {
  readonly name: string;
  /** Other names of it: those of the held resource, else those of the rejected one. */
  readonly aliases: readonly string[];
  readonly resource: HeldResource | undefined;
  readonly status: HeldStatus;
  readonly failure: HeldFailure | undefined;
  readonly acceptedAtMs: number | undefined;
  /** The index of the server that sent it; undefined if no server did since the client started. */
  readonly server: number | undefined;
}

/** The accepted resources of one type at one source. */
export class Accepted {
  readonly #entries = new Map<string, AcceptedEntry>();
  /** Names of entries by alias, by the name that variants share, and by glob collection. */
  readonly #byOther = new Map<string, Set<string>>();
  readonly #empty = new Set<string>();
  /** Whether a glob collection was ever watched; without one, globs are not indexed. */
  #hasGlobs = false;

  entries(): Iterable<AcceptedEntry> {
    return this.#entries.values();
  }

  /** Names without a resource, the one that failed last at the end. */
  get empty(): ReadonlySet<string> {
    return this.#empty;
  }

  get(name: string): AcceptedEntry | undefined {
    return this.#entries.get(name);
  }

  set(entry: AcceptedEntry): void {
    const before = this.#entries.get(entry.name);
    this.#entries.set(entry.name, entry);
    if (before?.resource === undefined) this.#empty.delete(entry.name);
    if (entry.resource === undefined) this.#empty.add(entry.name);
    if (before !== undefined) {
      if (areSameNames(before.aliases, entry.aliases)) return;
      this.#unindex(before);
    }
    this.#index(entry);
  }

  delete(name: string): void {
    const entry = this.#entries.get(name);
    if (entry !== undefined) this.#unindex(entry);
    this.#entries.delete(name);
    this.#empty.delete(name);
  }

  /** Yields the entries that have a name as an alias, as the shared name of variants, or as their glob collection. */
  *known(other: string): Iterable<AcceptedEntry> {
    for (const name of this.#byOther.get(other) ?? []) {
      const entry = this.#entries.get(name);
      if (entry !== undefined) yield entry;
    }
  }

  /** Yields the entries that match a term. */
  *answering(term: Term): Iterable<AcceptedEntry> {
    for (const entry of this.#candidates(term)) {
      if (fits(term, entry.name, entry.aliases)) yield entry;
    }
  }

  /** Whether a held resource matches a term. */
  holds(term: Term): boolean {
    for (const { resource } of this.answering(term)) if (resource !== undefined) return true;
    return false;
  }

  *#candidates(term: Term): Iterable<AcceptedEntry> {
    if (term.kind === "everything") {
      yield* this.#entries.values();
      return;
    }
    if (term.kind === "glob" && !this.#hasGlobs) {
      this.#hasGlobs = true;
      for (const entry of this.#entries.values()) this.#index(entry);
    }
    const entry = this.#entries.get(term.name);
    if (entry !== undefined) yield entry;
    yield* this.known(term.name);
  }

  #index(entry: AcceptedEntry): void {
    for (const other of this.#othersOf(entry)) {
      const names = this.#byOther.get(other) ?? new Set();
      this.#byOther.set(other, names.add(entry.name));
    }
  }

  #unindex(entry: AcceptedEntry): void {
    for (const other of this.#othersOf(entry)) {
      const names = this.#byOther.get(other);
      names?.delete(entry.name);
      if (names?.size === 0) this.#byOther.delete(other);
    }
  }

  #othersOf({ name, aliases }: AcceptedEntry): readonly string[] {
    const plain = plainName(name);
    const glob = this.#hasGlobs ? globOf(plain) : undefined;
    if (aliases.length === 0 && plain === name && glob === undefined) return aliases;
    // An alias may equal the name: servers of virtual hosts send it so.
    return [plain, glob, ...aliases].flatMap((other) => (other === undefined || other === name ? [] : other));
  }
}
