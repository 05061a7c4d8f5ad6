import { globOf, isUnderPrefix, WILDCARD } from "../../resource/resource-name.ts";
import type { TermRules } from "../../resource/term-rules.ts";
import { isLocated, locatedTerm } from "../../resource/variant-name.ts";
import type { Past } from "../../state/journal.ts";
import { GroupedTerms } from "./grouped-terms.ts";
import { Locators } from "./locators.ts";
import { emptyNameSet, type NameSet, type NameSets } from "./name-set.ts";
import { type NameList, Names } from "./names.ts";

/** How many names each use of a set adds to the budget for interning it. */
const NAMES_COMPARED_PER_USE = 256;

/**
 * How many names a term with parameters adds that asks for everything, or for a collection, for which another asks too:
 * each of them is compared with each resource.
 */
const NAMES_OF_REPEATED_TERM = 1_000;

/** How a request changed a subscription. */
export interface SubscriptionChange {
  /** Names subscribed to, newly or again: each needs an answer, whatever its version. Without `*`. */
  readonly asked: readonly string[];
  /** Names unsubscribed from. Without `*`. */
  readonly dropped: readonly string[];
  /** The wildcard was subscribed to, newly or again. */
  readonly joinedWildcard: boolean;
  readonly leftWildcard: boolean;
}

const unchanged: SubscriptionChange = { asked: [], dropped: [], joinedWildcard: false, leftWildcard: false };

/** Classifies a request by the change that it made. */
export function classifyChange(change: SubscriptionChange): "subscribe" | "unsubscribe" | "repeat" {
  if (change.asked.length > 0 || change.joinedWildcard) return "subscribe";
  return change.dropped.length > 0 || change.leftWildcard ? "unsubscribe" : "repeat";
}

/** What a subscription asks for, as an immutable snapshot. */
export interface Scope {
  readonly isWildcard: boolean;
  readonly names: NameList;
  /** The terms of a client that uses parameters; undefined: it does not. */
  readonly locators?: Locators | undefined;
  /** Matching rules of the type beyond names and aliases. */
  readonly terms?: TermRules | undefined;
  /** The terms, other than its name and aliases, that a resource matches; another resource may match them better. */
  termsFor(resource: Past): Iterable<string>;
}

/** Whether two snapshots are of one subscription between whose requests nothing changed. */
export function isSameScope(a: Scope, b: Scope): boolean {
  return a.isWildcard === b.isWildcard && a.names === b.names;
}

const noTerms: readonly string[] = [];
const nothingBroader = (): Iterable<string> => noTerms;

/**
 * Whether a resource, or its former state, is subscribed to: by name, by alias, by its glob collection (B-XTP-05), or
 * by a wildcard that covers it (S-DLT-13).
 */
export function covers({ isWildcard, names, locators }: Omit<Scope, "termsFor">, resource: Past): boolean {
  if (isWildcard && !resource.onDemand) return true;
  if (names.size === 0) return false;
  if (locators !== undefined) return locators.covers(resource);
  if (resource.variant !== undefined) return false;
  return isNamed(names, resource.name) || resource.aliases.some((alias) => names.has(alias));
}

/** Whether a name is subscribed to, regardless of aliases: by a wildcard, or by itself. */
export function coversName({ isWildcard, names, locators }: Omit<Scope, "termsFor">, name: string): boolean {
  return isWildcard || (locators?.asksFor(name) ?? isNamed(names, name));
}

function* termsAnswered(
  { name, aliases }: Past,
  rules: TermRules,
  grouped: () => GroupedTerms,
): Generator<string, void> {
  const told = new Set([name, ...aliases]);
  for (const alias of [name, ...aliases]) {
    if (!rules.isBroad(alias)) continue;
    for (const term of grouped().matching(alias)) {
      if (told.has(term)) continue;
      told.add(term);
      yield term;
    }
  }
}

/** Whether names subscribe to a name: by itself, by its glob collection, or by a prefix. */
export function isNamed(names: NameList, name: string): boolean {
  if (names.has(name)) return true;
  const glob = globOf(name);
  return (glob !== undefined && names.has(glob)) || isUnderPrefix(names, name);
}

/** How editions and clients differ in the meaning of a request without names. */
export interface SubscriptionRules {
  /** A first request without names is a wildcard (S-SUB-09). */
  readonly legacyWildcard: boolean;
  /** A wildcard by a first request without names lasts for the life of the stream (S-SUB-14). */
  readonly wildcardSticky: boolean;
  /** Matching rules of the type beyond names and aliases. */
  readonly terms?: TermRules | undefined;
}

/**
 * What one stream subscribes to of one type: names, aliases, `*`.
 *
 * A first request without names means `*` until the client sends any name; from then on a request without names means
 * nothing (S-SUB-09, S-SUB-10). Names are kept whether or not they exist (S-SUB-19).
 */
export class Subscription {
  readonly #rules: SubscriptionRules;
  #names: Names = Names.none;
  #shared: NameSet | undefined = emptyNameSet;
  /** The budget for interning the set: the names that requests sent, and some for each use of the set. */
  #comparable = 0;
  #isWildcard = false;
  #isLegacy = false;
  #hasNamed = false;
  #isOpen = false;
  #speaksOfParameters = false;
  /** Made when the first broad name or alias is met. */
  #grouped: GroupedTerms | undefined;
  /** Made on first use, if the client uses parameters. */
  #locators: Locators | undefined;
  /** The snapshot of what is subscribed to now. */
  #scope: Scope | undefined;

  constructor(rules: SubscriptionRules) {
    this.#rules = rules;
  }

  get isWildcard(): boolean {
    return this.#isWildcard;
  }

  get names(): Names {
    return this.#names;
  }

  /** Whether the wildcard is all that is subscribed to. */
  get isSoleWildcard(): boolean {
    return this.#isWildcard && this.#names.size === 0;
  }

  /** Whether the client uses parameters, so that it is sent constraints. */
  get speaksOfParameters(): boolean {
    return this.#speaksOfParameters;
  }

  /** The names with their parameters; undefined: the client uses none. */
  get locators(): Locators | undefined {
    if (!this.#speaksOfParameters) return undefined;
    this.#locators ??= new Locators(this.#names);
    return this.#locators;
  }

  /** Whether everything is subscribed to, or everything that matches some parameters. */
  get asksForAll(): boolean {
    return this.#isWildcard || this.locators?.asksForAll === true;
  }

  /**
   * The client used parameters, so it understands constraints: from now on a plain name means that name without
   * parameters (B-LOC-11). Returns the present names as terms, which have to be sent again.
   */
  speakOfParameters(): readonly string[] {
    if (this.#speaksOfParameters) return [];
    this.#speaksOfParameters = true;
    this.#grouped = undefined;
    this.#scope = undefined;
    const located = [...this.#names].map((name) => locatedTerm(name));
    if (located.length > 0) this.#own(Names.of(new Set(located)), located.length);
    return located;
  }

  /** Converts names to the terms under which the subscription keeps them. */
  termsIn(names: readonly string[]): readonly string[] {
    if (!this.#speaksOfParameters) return names;
    return names.map((name) => (isLocated(name) ? name : locatedTerm(name)));
  }

  /** The terms by which the client subscribes to a name. */
  termsNamed(name: string): readonly string[] {
    if (this.locators !== undefined) return this.locators.termsOf(name);
    return this.#names.has(name) ? [name] : [];
  }

  /** Whether a name, or the key of a variant, is subscribed to other than by a plain wildcard. */
  isNamed(name: string): boolean {
    return this.locators?.asksFor(name) ?? isNamed(this.#names, name);
  }

  /** How many names the subscription counts for. */
  get counted(): number {
    const repeated = this.locators?.repeatedBroadly ?? 0;
    return this.#names.counted + repeated * NAMES_OF_REPEATED_TERM;
  }

  /** The names as an interned set. Costs as much as there are names. */
  nameSet(sets: NameSets): NameSet {
    if (this.#shared === undefined) {
      this.#shared = sets.intern(this.#names);
      this.#names = this.#shared.names;
      this.#comparable = 0;
    }
    return this.#shared;
  }

  /**
   * A key that is equal for equal subscriptions. Undefined while interning would cost much more than the requests did,
   * as for a large set with few changes; it is found once the set has been used for a while.
   */
  sharedKey(sets: NameSets): string | undefined {
    if (this.#shared === undefined) this.#comparable += NAMES_COMPARED_PER_USE;
    const key = this.#sharedSet(sets)?.key;
    return key !== undefined && this.#isWildcard ? `* ${key}` : key;
  }

  /** The names as the interned set; undefined while interning would cost too much. */
  sharedNames(sets: NameSets): Names | undefined {
    return this.#sharedSet(sets)?.names;
  }

  #sharedSet(sets: NameSets): NameSet | undefined {
    return this.#shared === undefined && this.#comparable < this.#names.size ? undefined : this.nameSet(sets);
  }

  /** Whether names alone do not say what is subscribed to. */
  get asksBroadly(): boolean {
    return this.#isWildcard || this.#names.hasCollections || this.#speaksOfParameters || this.terms !== undefined;
  }

  /** Matching rules of the type beyond names and aliases. */
  get terms(): TermRules | undefined {
    return this.#rules.terms;
  }

  /** Whether a resource, or its former state, may match the subscription. */
  covers(resource: Past): boolean {
    if (covers(this, resource)) return true;
    return this.#rules.terms !== undefined && hasAny(this.termsFor(resource));
  }

  /** The terms, other than its name and aliases, that a resource matches; another resource may match them better. */
  termsFor(resource: Past): Iterable<string> {
    const { terms } = this.#rules;
    if (terms === undefined || this.#speaksOfParameters) return noTerms;
    return termsAnswered(resource, terms, () => (this.#grouped ??= new GroupedTerms(terms, this.#names)));
  }

  /** A snapshot of what is subscribed to; the subscription itself changes. */
  get scope(): Scope {
    const known = this.#scope;
    if (known?.names === this.#names && known.isWildcard === this.#isWildcard) return known;
    this.#scope = this.#makeScope();
    return this.#scope;
  }

  #makeScope(): Scope {
    const { terms } = this.#rules;
    const names = this.#names;
    const isWildcard = this.#isWildcard;
    if (this.#speaksOfParameters) {
      let locators: Locators | undefined;
      return {
        isWildcard,
        names,
        terms,
        get locators() {
          locators ??= new Locators(names);
          return locators;
        },
        termsFor: nothingBroader,
      };
    }
    if (terms === undefined) return { isWildcard, names, terms, termsFor: nothingBroader };
    let grouped: GroupedTerms | undefined;
    const group = (): GroupedTerms => (grouped ??= new GroupedTerms(terms, names));
    return { isWildcard, names, terms, termsFor: (resource) => termsAnswered(resource, terms, group) };
  }

  /** State of the World: whether the wildcard lasts after a request with these names. */
  keepsWildcard(given: readonly string[]): boolean {
    if (!this.#isWildcard) return false;
    const isLegacyStill = given.length === 0 && !this.#hasNamed;
    return isLegacyStill || (this.#isLegacy && this.#rules.wildcardSticky) || given.includes(WILDCARD);
  }

  /** State of the World: the names of a request replace the subscription (S-SUB-23). */
  replace(given: readonly string[]): SubscriptionChange {
    const list = this.termsIn(given);
    const isFirst = !this.#isOpen;
    this.#isOpen = true;
    if (list.length === 0 && !this.#hasNamed) return this.#openLegacy(isFirst);
    if (this.#isLegacy && this.#rules.wildcardSticky) return unchanged;
    this.#hasNamed = true;
    this.#isLegacy = false;
    const names = new Set(list);
    const isWildcard = names.delete(WILDCARD);
    const before = this.#names;
    const asked = before.size === 0 ? [...names] : [...names].filter((name) => !before.has(name));
    // Where every name that there was is listed, none was dropped.
    const isAnyDropped = names.size - asked.length < before.size;
    const dropped = isAnyDropped ? [...before].filter((name) => !names.has(name)) : [];
    const change = {
      asked,
      dropped,
      joinedWildcard: isWildcard && !this.#isWildcard,
      leftWildcard: this.#isWildcard && !isWildcard,
    };
    this.#isWildcard = isWildcard;
    if (asked.length + dropped.length > 0) {
      this.#own(Names.of(names), names.size);
      this.#regroup(change);
    }
    return change;
  }

  /** Delta: subscribes, then unsubscribes (B-UNS-11). `distinct`: the given names, each once, if such a set exists. */
  update(given: readonly string[], givenUp: readonly string[], distinct?: ReadonlySet<string>): SubscriptionChange {
    const subscribe = this.termsIn(given);
    const unsubscribe = this.termsIn(givenUp);
    const isFirst = !this.#isOpen;
    this.#isOpen = true;
    if (subscribe.length === 0 && unsubscribe.length === 0) return isFirst ? this.#openLegacy(true) : unchanged;
    if (this.#isLegacy && this.#rules.wildcardSticky) return unchanged;
    const wasWildcard = this.#isWildcard;
    const isAsGiven = subscribe === given && unsubscribe.length === 0 && distinct?.has(WILDCARD) === false;
    const named = new Set(isAsGiven ? [] : subscribe);
    const asksAll = named.delete(WILDCARD);
    const dropped = new Set<string>();
    if (asksAll) this.#isWildcard = true;
    for (const name of unsubscribe) {
      if (name === WILDCARD) this.#isWildcard = false;
      else if (named.delete(name) || this.#names.has(name)) dropped.add(name);
    }
    const asked: ReadonlySet<string> = isAsGiven ? distinct : named;
    if (asked.size + dropped.size > 0) {
      this.#own(this.#names.with(asked, dropped), asked.size + dropped.size);
      this.#regroup({ asked, dropped });
    }
    return {
      asked: [...asked],
      dropped: [...dropped],
      joinedWildcard: asksAll && this.#isWildcard,
      leftWildcard: wasWildcard && !this.#isWildcard,
    };
  }

  #openLegacy(isFirst: boolean): SubscriptionChange {
    if (!isFirst || !this.#rules.legacyWildcard) return unchanged;
    this.#isWildcard = true;
    this.#isLegacy = true;
    return { ...unchanged, joinedWildcard: true };
  }

  #regroup({ asked, dropped }: { readonly asked: Iterable<string>; readonly dropped: Iterable<string> }): void {
    for (const index of [this.#grouped, this.#locators]) {
      if (index === undefined) continue;
      for (const term of asked) index.add(term);
      for (const term of dropped) index.delete(term);
    }
  }

  /** `sent`: how many of the names a request contained. */
  #own(names: Names, sent: number): void {
    if (names === this.#names) return;
    this.#names = names;
    // The last snapshot may hold names that were given up.
    this.#scope = undefined;
    this.#shared = undefined;
    this.#comparable += sent;
  }
}

/** Whether an iterable yields anything. */
export function hasAny(some: Iterable<unknown>): boolean {
  return some[Symbol.iterator]().next().done !== true;
}
