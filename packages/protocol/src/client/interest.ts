import { always, type Constraints, matches, noParameters, type Parameters } from "../resource/constraints.ts";
import { canonicalName, globOf, isGlob } from "../resource/resource-name.ts";
import { isReservedName, locatedTerm, parseLocated, parseVariantKey } from "../resource/variant-name.ts";
import type { WatchId } from "./event.ts";
import type { HeldFailure, HeldStatus } from "./held.ts";

/** The wildcard term. */
export const EVERYTHING = "*";

/** A watched term, and its state while no resource is held for it. */
export interface Term {
  /** In its wire form. */
  readonly text: string;
  readonly kind: "everything" | "glob" | "name";
  /** Without parameters. */
  readonly name: string;
  /** Undefined: the term is sent as it is (B-LOC-11). */
  readonly parameters: Parameters | undefined;
  /** The watches, and whether each wants confirmations. Empty while a server has still to be sent the unsubscribe. */
  readonly watches: Map<WatchId, boolean>;
  /** For a wildcard or a glob: its resources are known. */
  isSynced: boolean;
  status: HeldStatus;
  failure: HeldFailure | undefined;
  /** For a name: a complete response did not hold it. */
  isBesides: boolean;
}

/**
 * The watches of one type at one source. The cost of finding those of a resource does not grow with the number of
 * terms.
 */
export class Interest {
  readonly #terms = new Map<string, Term>();
  /** Terms with parameters by their name, glob or `*`. */
  readonly #located = new Map<string, Set<Term>>();
  readonly #unsynced = new Set<Term>();
  #onlyEverything: readonly Term[] | undefined;
  #wanted = 0;
  #revision = 0;

  /** Grows whenever a term gets its first watch or loses its last. */
  get revision(): number {
    return this.#revision;
  }

  /** The number of terms that have a watch. */
  get wanted(): number {
    return this.#wanted;
  }

  /** Wildcards and globs whose resources are not known yet. */
  get unsynced(): ReadonlySet<Term> {
    return this.#unsynced;
  }

  terms(): Iterable<Term> {
    return this.#terms.values();
  }

  get(text: string): Term | undefined {
    return this.#terms.get(text);
  }

  isWanted(text: string): boolean {
    return (this.#terms.get(text)?.watches.size ?? 0) > 0;
  }

  /** Returns the terms that have a watch, in the order in which they were first watched. */
  wantedTexts(): string[] {
    const texts: string[] = [];
    for (const term of this.#terms.values()) if (term.watches.size > 0) texts.push(term.text);
    return texts;
  }

  /** Adds a watch of a term. `isFirst`: it had none before. */
  start(watch: WatchId, text: string, wantsConfirmations: boolean): { readonly term: Term; readonly isFirst: boolean } {
    const term = this.#termOf(canonicalTerm(text));
    const isFirst = term.watches.size === 0;
    if (isFirst) {
      this.#wanted++;
      this.#revision++;
    }
    term.watches.set(watch, wantsConfirmations);
    return { term, isFirst };
  }

  /** Removes a watch and returns whether it was the last; the term is kept until `release`. */
  stop(watch: WatchId, term: Term): boolean {
    if (!term.watches.delete(watch) || term.watches.size > 0) return false;
    this.#wanted--;
    this.#revision++;
    return true;
  }

  /** Drops a term that no server believes to be subscribed any more. */
  release(term: Term): void {
    this.#terms.delete(term.text);
    this.#unsynced.delete(term);
    this.#onlyEverything = undefined;
    const located = this.#located.get(term.name);
    located?.delete(term);
    if (located?.size === 0) this.#located.delete(term.name);
  }

  sync(term: Term): void {
    term.isSynced = true;
    this.#unsynced.delete(term);
  }

  /** Returns the terms that a resource matches, by name, alias, glob and constraints (C-DLT-15, C-LOC-01). */
  termsFor(name: string, aliases: readonly string[]): readonly Term[] {
    const everything = this.#terms.get(EVERYTHING);
    if (everything !== undefined && this.#terms.size === 1 && !isReservedName(name)) {
      this.#onlyEverything ??= [everything];
      return this.#onlyEverything;
    }
    const { plain, constraints } = identityOf(name);
    const found = new Set<Term>();
    // An alias is the name of a resource, never that of a collection.
    for (const key of [plain, ...aliases.filter((alias) => !isGlob(alias)), globOf(plain), EVERYTHING]) {
      if (key === undefined) continue;
      const term = this.#terms.get(key);
      if (term !== undefined && fitsConstraints(term, constraints)) found.add(term);
      for (const one of this.#located.get(key) ?? []) if (fitsConstraints(one, constraints)) found.add(one);
    }
    return [...found];
  }

  #termOf(text: string): Term {
    const known = this.#terms.get(text);
    if (known !== undefined) return known;
    const located = parseLocated(text);
    const name = located?.name ?? text;
    const kind = name === EVERYTHING ? "everything" : isGlob(name) ? "glob" : "name";
    const term: Term = {
      text,
      kind,
      name,
      parameters: located?.parameters,
      watches: new Map(),
      isSynced: false,
      status: "requested",
      failure: undefined,
      isBesides: false,
    };
    this.#terms.set(text, term);
    if (kind !== "name") this.#unsynced.add(term);
    this.#onlyEverything = undefined;
    if (located !== undefined) {
      const same = this.#located.get(name) ?? new Set();
      this.#located.set(name, same.add(term));
    }
    return term;
  }
}

/** Whether a resource matches a term. */
export function fits(term: Term, name: string, aliases: readonly string[]): boolean {
  const { plain, constraints } = identityOf(name);
  if (!fitsConstraints(term, constraints)) return false;
  if (term.kind === "everything") return true;
  return term.kind === "glob" ? globOf(plain) === term.name : plain === term.name || aliases.includes(term.name);
}

/** Returns the canonical form of a term. */
function canonicalTerm(text: string): string {
  const located = parseLocated(text);
  return located === undefined ? canonicalName(text) : locatedTerm(canonicalName(located.name), located.parameters);
}

function fitsConstraints(term: Term, constraints: Constraints): boolean {
  return constraints === always || matches(constraints, term.parameters ?? noParameters);
}

/** A resource without constraints is for every client (B-LOC-04). */
function identityOf(name: string): { readonly plain: string; readonly constraints: Constraints } {
  const variant = isReservedName(name) ? parseVariantKey(name) : undefined;
  return variant === undefined
    ? { plain: name, constraints: always }
    : { plain: variant.name, constraints: variant.constraints };
}
