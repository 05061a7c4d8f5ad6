import { always, type Constraints, type Parameters } from "../../resource/constraints.ts";
import type { Resource } from "../../resource/resource.ts";
import { globOf, isGlob } from "../../resource/resource-name.ts";
import { locatedTerm, parseLocated, parseVariantKey } from "../../resource/variant-name.ts";
import type { Past } from "../../state/journal.ts";
import { TermsOfName } from "./terms-of-name.ts";

/** The terms with parameters of a subscription, and which variants of a name they match (B-LOC-04, B-LOC-09). */
export class Locators {
  /** By name and by glob collection; terms that ask for everything are under `*`. */
  readonly #byName = new Map<string, TermsOfName>();
  #globs = 0;
  #repeatedBroadly = 0;

  constructor(terms: Iterable<string>) {
    for (const term of terms) this.add(term);
  }

  add(term: string): void {
    const located = parseLocated(term);
    if (located === undefined) return;
    const known = this.#byName.get(located.name);
    if (known?.has(term) === true) return;
    const same = known ?? new TermsOfName();
    if (known === undefined) this.#byName.set(located.name, same);
    else if (isBroad(located.name)) this.#repeatedBroadly++;
    same.add(term, located.parameters);
    if (isGlob(located.name)) this.#globs++;
  }

  delete(term: string): void {
    const name = parseLocated(term)?.name;
    const same = name === undefined ? undefined : this.#byName.get(name);
    if (name === undefined || same?.delete(term) !== true) return;
    if (same.size === 0) this.#byName.delete(name);
    else if (isBroad(name)) this.#repeatedBroadly--;
    if (isGlob(name)) this.#globs--;
  }

  get isEmpty(): boolean {
    return this.#byName.size === 0;
  }

  /** Whether a term asks for all resources that match its parameters. */
  get asksForAll(): boolean {
    return this.#byName.has("*");
  }

  /** How many terms ask for everything, or for a collection, for which another term with other parameters asks too. */
  get repeatedBroadly(): number {
    return this.#repeatedBroadly;
  }

  /** The terms of a name, with any parameters. */
  termsOf(name: string): readonly string[] {
    return [...(this.#byName.get(name)?.keys() ?? [])];
  }

  /** Whether a term may match a name: one of its own, of its collection, or for everything. */
  hasTermsAround(name: string): boolean {
    if (this.#byName.has(name) || this.asksForAll) return true;
    return this.#collectionsOf(name).some((glob) => this.#byName.has(glob));
  }

  /** Yields the parameters of the terms that may match a name without being its own: of its collection, for everything. */
  *parametersBeside(name: string): Iterable<Parameters> {
    for (const broad of [...this.#collectionsOf(name), "*"]) yield* this.#byName.get(broad)?.parameters ?? [];
  }

  /** Whether a resource, or its former state, matches a term. */
  covers(resource: Past): boolean {
    if (resource.isStandIn === true) return false;
    const { name, onDemand, aliases, variant } = resource;
    const constraints = variant?.constraints ?? always;
    if (this.#isCovered(variant?.name ?? name, variant?.onDemand ?? onDemand, constraints)) return true;
    return aliases.some((alias) => this.#byName.get(alias)?.anyMeets(constraints) === true);
  }

  /** Yields the terms that a resource matches, some perhaps more than once. */
  *matching({ name, onDemand, aliases, variant, isStandIn }: Past): Iterable<string> {
    if (isStandIn === true) return;
    const called = variant?.name ?? name;
    const names = new Set([called, ...aliases, ...this.#collectionsOf(called)]);
    if (!(variant?.onDemand ?? onDemand)) names.add("*");
    for (const one of names) yield* this.#byName.get(one)?.meeting(variant?.constraints ?? always) ?? [];
  }

  /**
   * Whether a name, a term or the key of a variant is subscribed to, existing or not; parameters or constraints in it
   * have to match.
   */
  asksFor(text: string): boolean {
    const located = parseLocated(text);
    if (located !== undefined) {
      const { name, parameters } = located;
      return [name, ...this.#collectionsOf(name), "*"].some((one) => this.#hasTerm(one, parameters));
    }
    const variant = parseVariantKey(text);
    return this.#isCovered(variant?.name ?? text, false, variant?.constraints ?? always);
  }

  #hasTerm(name: string, parameters: Parameters): boolean {
    return this.#byName.get(name)?.has(locatedTerm(name, parameters)) === true;
  }

  /** The collection of a name that terms may ask for, if any. */
  #collectionsOf(name: string): readonly string[] {
    const glob = this.#globs > 0 ? globOf(name) : undefined;
    return glob === undefined ? [] : [glob];
  }

  #isCovered(name: string, onDemand: boolean, constraints: Constraints): boolean {
    if (this.#byName.get(name)?.anyMeets(constraints) === true) return true;
    if (!onDemand && this.#byName.get("*")?.anyMeets(constraints) === true) return true;
    return this.#collectionsOf(name).some((glob) => this.#byName.get(glob)?.anyMeets(constraints) === true);
  }
}

/** Whether terms of a name may match more than one resource. */
function isBroad(name: string): boolean {
  return name === "*" || isGlob(name);
}

/** Those of the variant keys whose name has another variant among `puts`. */
export function replacedAmong(keys: Iterable<string>, puts: Iterable<Pick<Resource, "variant">>): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { variant } of puts) if (variant !== undefined) names.add(variant.name);
  const replaced = new Set<string>();
  if (names.size === 0) return replaced;
  for (const key of keys) {
    const name = parseVariantKey(key)?.name;
    if (name !== undefined && names.has(name)) replaced.add(key);
  }
  return replaced;
}

/** Those of the keys that are terms with parameters and match a resource of `puts`: the term has a resource again. */
export function answeredAmong(keys: Iterable<string>, puts: Iterable<Resource>): readonly string[] {
  const left = new Locators(keys);
  const answered: string[] = [];
  for (const put of puts) {
    for (const term of new Set(left.matching(put))) {
      left.delete(term);
      answered.push(term);
    }
    if (left.isEmpty) break;
  }
  return answered;
}
