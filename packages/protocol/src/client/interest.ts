import { always, type Constraints, matches, noParameters, type Parameters } from "../resource/constraints.ts";
import { canonicalName, globOf, isGlob } from "../resource/resource-name.ts";
import { isReservedName, locatedTerm, parseLocated, parseVariantKey } from "../resource/variant-name.ts";
import type { WatchId } from "./event.ts";
import type { HeldFailure, HeldStatus } from "./held.ts";

/** The term of everything. */
export const EVERYTHING = "*";

/** Something that watches ask for, and where it stands while nothing is held for it. */
export interface Term {
  /** As it goes on the wire. */
  readonly text: string;
  readonly kind: "everything" | "glob" | "name";
  /** Without parameters. */
  readonly name: string;
  /** Undefined: it goes out as it is (B-LOC-11). */
  readonly parameters: Parameters | undefined;
  /** Who wants it, and whether confirmations too. None: a server has still to be told that nobody does. */
  readonly watches: Map<WatchId, boolean>;
  /** Of everything and of a glob: what there is is known. */
  isSynced: boolean;
  status: HeldStatus;
  failure: HeldFailure | undefined;
  /** Of a name: everything there is was told, and it was not in that. */
  isBesides: boolean;
}

/** Who watches what of one type at one source. Finding those concerned by a resource takes no time that grows with the number of terms. */
export class Interest {
  readonly #terms = new Map<string, Term>();
  /** Terms with parameters by the name in them, be it a glob or everything. */
  readonly #located = new Map<string, Set<Term>>();
  readonly #unsynced = new Set<Term>();
  #onlyEverything: readonly Term[] | undefined;
  #wanted = 0;
  #revision = 0;

  /** Grows whenever a term becomes wanted, or is not wanted any more. */
  get revision(): number {
    return this.#revision;
  }

  /** How many terms somebody watches. */
  get wanted(): number {
    return this.#wanted;
  }

  /** Terms of everything and of globs of which it is not known what there is. */
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

  /** The texts of what somebody watches, in the order in which it was first asked for. */
  wantedTexts(): string[] {
    const texts: string[] = [];
    for (const term of this.#terms.values()) if (term.watches.size > 0) texts.push(term.text);
    return texts;
  }

  /** Somebody wants a term. `first`: nobody did before. */
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

  /** Somebody wants it no more. Whether nobody does; it is kept until `release`. */
  stop(watch: WatchId, term: Term): boolean {
    if (!term.watches.delete(watch) || term.watches.size > 0) return false;
    this.#wanted--;
    this.#revision++;
    return true;
  }

  /** No server believes any more that it is wanted. */
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

  /** The terms that a resource answers to, by its name, aliases, glob and constraints (C-DLT-15, C-LOC-01). */
  termsFor(name: string, aliases: readonly string[]): readonly Term[] {
    const everything = this.#terms.get(EVERYTHING);
    if (everything !== undefined && this.#terms.size === 1 && !isReservedName(name)) {
      this.#onlyEverything ??= [everything];
      return this.#onlyEverything;
    }
    const { plain, constraints } = identityOf(name);
    const found = new Set<Term>();
    for (const key of [plain, ...aliases, globOf(plain), EVERYTHING]) {
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

/** Whether a resource answers to a term. */
export function fits(term: Term, name: string, aliases: readonly string[]): boolean {
  const { plain, constraints } = identityOf(name);
  if (!fitsConstraints(term, constraints)) return false;
  if (term.kind === "everything") return true;
  return term.kind === "glob" ? globOf(plain) === term.name : plain === term.name || aliases.includes(term.name);
}

/** The one way to write a term. */
function canonicalTerm(text: string): string {
  const located = parseLocated(text);
  return located === undefined ? canonicalName(text) : locatedTerm(canonicalName(located.name), located.parameters);
}

function fitsConstraints(term: Term, constraints: Constraints): boolean {
  return constraints === always || matches(constraints, term.parameters ?? noParameters);
}

/** A resource without constraints is for everybody (B-LOC-04). */
function identityOf(name: string): { readonly plain: string; readonly constraints: Constraints } {
  const variant = isReservedName(name) ? parseVariantKey(name) : undefined;
  return variant === undefined
    ? { plain: name, constraints: always }
    : { plain: variant.name, constraints: variant.constraints };
}
