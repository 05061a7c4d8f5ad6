import { matches, type Parameters } from "../../resource/constraints.ts";
import type { Resource } from "../../resource/resource.ts";
import { globOf, isGlob } from "../../resource/resource-name.ts";
import { isLocated, type Located, locatedTerm, parseLocated, parseVariantKey } from "../../resource/variant-name.ts";
import type { Past } from "../../state/journal.ts";

/** The terms with parameters of a subscription, and which variants of a name they match (B-LOC-04, B-LOC-09). */
export class Locators {
  /** By name and by glob collection; terms that ask for everything are under `*`. */
  readonly #byName = new Map<string, Map<string, Located>>();
  #globs = 0;

  constructor(terms: Iterable<string>) {
    for (const term of terms) this.add(term);
  }

  add(term: string): void {
    const located = parseLocated(term);
    if (located === undefined) return;
    const same = this.#byName.get(located.name);
    if (same?.has(term) === true) return;
    if (same === undefined) this.#byName.set(located.name, new Map([[term, located]]));
    else same.set(term, located);
    if (isGlob(located.name)) this.#globs++;
  }

  delete(term: string): void {
    const name = parseLocated(term)?.name;
    const same = name === undefined ? undefined : this.#byName.get(name);
    if (name === undefined || same?.delete(term) !== true) return;
    if (same.size === 0) this.#byName.delete(name);
    if (isGlob(name)) this.#globs--;
  }

  get #hasGlobs(): boolean {
    return this.#globs > 0;
  }

  /** Whether a term asks for all resources that match its parameters. */
  get asksForAll(): boolean {
    return this.#byName.has("*");
  }

  /** The terms of a name, with any parameters. */
  termsOf(name: string): readonly string[] {
    return [...(this.#byName.get(name)?.keys() ?? [])];
  }

  /** The terms that may match a name: its own, those of its collection, and those for everything. */
  termsAround(name: string): readonly string[] {
    const glob = this.#hasGlobs ? globOf(name) : undefined;
    const ofGlob = glob === undefined ? [] : this.termsOf(glob);
    return [...this.termsOf(name), ...ofGlob, ...this.termsOf("*")];
  }

  /** Whether a resource, or its former state, matches a term. */
  covers(resource: Past): boolean {
    if (resource.isStandIn === true) return false;
    const { name, onDemand, aliases, variant } = resource;
    const called = variant?.name ?? name;
    const fits = ({ parameters }: Located): boolean =>
      variant === undefined || matches(variant.constraints, parameters);
    if (this.#isCovered(called, variant?.onDemand ?? onDemand, fits)) return true;
    return aliases.some((alias) => this.#located(alias).some(fits));
  }

  /**
   * Whether a name, a term or the key of a variant is subscribed to, existing or not; parameters or constraints in it
   * have to match.
   */
  asksFor(text: string): boolean {
    const located = parseLocated(text);
    if (located !== undefined) {
      const { name, parameters } = located;
      const glob = this.#hasGlobs ? globOf(name) : undefined;
      return this.#hasTerm(name, parameters) || this.#hasTerm(glob, parameters) || this.#hasTerm("*", parameters);
    }
    const variant = parseVariantKey(text);
    const fits = ({ parameters }: { readonly parameters: Parameters }): boolean =>
      variant === undefined || matches(variant.constraints, parameters);
    return this.#isCovered(variant?.name ?? text, false, fits);
  }

  #hasTerm(name: string | undefined, parameters: Parameters): boolean {
    const same = name === undefined ? undefined : this.#byName.get(name);
    return name !== undefined && same?.has(locatedTerm(name, parameters)) === true;
  }

  #isCovered(name: string, onDemand: boolean, fits: (located: Located) => boolean): boolean {
    if (this.#located(name).some(fits)) return true;
    if (!onDemand && this.#located("*").some(fits)) return true;
    const glob = this.#hasGlobs ? globOf(name) : undefined;
    return glob !== undefined && this.#located(glob).some(fits);
  }

  #located(name: string): readonly Located[] {
    return [...(this.#byName.get(name)?.values() ?? [])];
  }
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
  const terms = [...keys].filter(isLocated);
  if (terms.length === 0) return terms;
  const locators = new Map(terms.map((term) => [term, new Locators([term])]));
  const answered = new Set<string>();
  for (const put of puts) for (const [term, one] of locators) if (one.covers(put)) answered.add(term);
  return [...answered];
}
