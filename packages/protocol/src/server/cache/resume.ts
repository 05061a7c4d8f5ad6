import type { InitialVersions, ListedVersion, VersionCursor } from "../../message/request.ts";
import { matches } from "../../resource/constraints.ts";
import type { Resource } from "../../resource/resource.ts";
import { canonicalName } from "../../resource/resource-name.ts";
import type { Ttls } from "../../resource/ttl.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import { isReservedName, locatedTerm } from "../../resource/variant-name.ts";
import { type Position, touchedSince } from "../../state/difference.ts";
import type { View } from "../../state/view.ts";
import type { Locators } from "../subscription/locators.ts";
import { isAsked } from "../subscription/selection.ts";
import { isNamed, type Scope, type Subscription } from "../subscription/subscription.ts";
import { type CurrentPairs, NONE } from "./current-pairs.ts";
import { NameMarks, Ordinals } from "./name-marks.ts";

/** Options of a comparison. */
export interface ComparisonOptions {
  /** Resources that the client reports at their current version are not sent. */
  readonly trustsVersions: boolean;
  /**
   * Whether clients are sent TTLs. If so, resources that may expire are sent even at an equal version: they may have
   * expired, and no client requests them again (client-behaviours E4).
   */
  readonly ttls?: Ttls;
  /** How many names are compared in one step. */
  readonly namesPerStep: number;
  /** Removals for parameters beyond this number are not found; undefined: no limit. */
  readonly maxRemoved?: number | undefined;
  /** What other comparisons of this view found out; undefined: it does not count for this one. */
  readonly currentPairs?: CurrentPairs | undefined;
}

/**
 * Compares the resources that a reconnecting client holds with those that it should hold: one pass over the versions
 * that it listed, without a copy of them.
 *
 * A comparison may take several steps, with transactions between them. The last step compares again every name that
 * changed since the first one, so the result is true at the revision of the last step. Without listed versions it finds
 * all that a new client is to be sent.
 *
 * @spec S-REC-09, S-REC-10
 */
export class Comparison {
  /** The position of the first step. Journals are kept back to it while the comparison is paused. */
  readonly start: Position;
  /** Subscribed to, not listed by the client, and without a resource. */
  readonly missing: string[] = [];
  /** The names among `puts` that the client did not list. */
  readonly newcomers: Set<string> = new Set();
  readonly #puts = new Map<string, Resource>();
  readonly #removed = new Set<string>();
  readonly #view: View;
  readonly #type: TypeUrl;
  readonly #scope: Scope;
  readonly #initial: InitialVersions;
  readonly #options: ComparisonOptions;
  /** What the client listed and was not compared yet. */
  #unread: VersionCursor | undefined;
  /** Adds what the client did not list. */
  #adding: Iterator<void> | undefined;
  /** The revision of the last step; undefined while there are names left to compare. */
  #doneAt: number | undefined;
  /** Names that the client listed and that are there. */
  readonly #present: NameMarks;
  /** How many of them a wildcard covers. */
  #covered = 0;
  /** What a client that uses parameters listed: versions by name, because it cannot say which variant it holds. */
  readonly #listed = new Map<string, Set<string>>();
  #isCutShort = false;
  readonly #mayBeHeld: (name: string) => boolean;

  /** `scope`: the subscription when the comparison began; it must not change. */
  constructor(start: Position, type: TypeUrl, scope: Scope, initial: InitialVersions, options: ComparisonOptions) {
    this.start = start;
    this.#view = start.view;
    this.#type = type;
    this.#scope = scope;
    this.#initial = initial;
    this.#options = options;
    this.#unread = initial.numbered?.read() ?? new PlainCursor(initial);
    this.#present = new NameMarks(options.currentPairs?.ordinals ?? new Ordinals());
    this.#mayBeHeld = mayBeHeldUnder(scope);
  }

  /** The resources that the client has to be sent. */
  get puts(): Iterable<Resource> {
    return this.#puts.values();
  }

  /** Names that the client listed and that are deleted. */
  get removed(): Iterable<string> {
    return this.#removed;
  }

  /**
   * Whether the client uses so many parameters for so many names that are gone that only some of the removals were found:
   * there is one for each name and parameters.
   */
  get isCutShort(): boolean {
    return this.#isCutShort;
  }

  get isDone(): boolean {
    return this.#doneAt !== undefined;
  }

  /** Whether all names were compared, and nothing was committed since. */
  isDoneAt(revision: number): boolean {
    return this.#doneAt === revision;
  }

  /** Whether a subscription, which names no parameters, is still the one that it was made for. */
  isFor({ names, isWildcard, speaksOfParameters }: Subscription): boolean {
    return this.#scope.names === names && this.#scope.isWildcard === isWildcard && !speaksOfParameters;
  }

  /** Compares the next names with the view at this revision. */
  step(revision: number): void {
    const { currentPairs, namesPerStep } = this.#options;
    // They hold at the revision of the first step.
    const known = revision === this.start.revision ? currentPairs : undefined;
    for (let i = 0; i < namesPerStep && !this.isDone; i++) if (!this.#next(known)) this.#finish(revision);
  }

  /** Compares one that the client listed, or adds one that it did not list; false: there is none left. */
  #next(known: CurrentPairs | undefined): boolean {
    if (this.#unread !== undefined) {
      if (this.#unread.next()) {
        this.#takeNext(this.#unread, known);
        return true;
      }
      this.#unread = undefined;
      if (this.#scope.locators === undefined && !this.#isWhole) this.#adding = this.#addUnknown();
    }
    return this.#adding?.next().done === false;
  }

  /** Whether the client listed all that it should hold. If anything changes meanwhile, the last step adds it all again. */
  get #isWhole(): boolean {
    return this.#scope.names.size === 0 && this.#covered === this.#view.coveredBy(this.#type);
  }

  #takeNext(unread: VersionCursor, known: CurrentPairs | undefined): void {
    const { number } = unread;
    const ordinal = known === undefined || number < 0 ? NONE : known.ordinalOf(number);
    // A name that is listed again is compared again.
    if (ordinal !== NONE && this.#present.mark(ordinal)) {
      this.#covered++;
      return;
    }
    const [given, version] = unread.pair;
    const name = canonicalName(given);
    if (this.#scope.locators !== undefined) {
      this.#listed.set(name, (this.#listed.get(name) ?? new Set()).add(version));
      return;
    }
    this.#compare(name, version);
    if (known !== undefined && number >= 0 && this.#isCurrent(name)) known.learn(number, name);
  }

  #finish(revision: number): void {
    this.#adding = undefined;
    this.#doneAt = revision;
    const { locators } = this.#scope;
    if (locators !== undefined) this.#compareLocated(locators);
    else if (revision !== this.start.revision) this.#compareAgain();
  }

  /** Compares again what changed since the first step. */
  #compareAgain(): void {
    const touched = touchedSince(this.start, this.#view, this.#type);
    if (touched?.size === 0) return;
    if (touched !== undefined && this.#areByName(touched)) this.#addTouched(touched);
    else {
      // First, because what was added may be listed too: it came into being after its name was compared.
      this.#forgetAdded();
      this.#compareTouched(touched);
      const adding = this.#addUnknown();
      while (adding.next().done !== true);
    }
  }

  /** Whether a new client subscribes to names only, and each name is that of one resource. */
  #areByName(touched: ReadonlySet<string>): boolean {
    const { isWildcard, names, terms } = this.#scope;
    if (this.#initial.size > 0 || isWildcard || terms !== undefined || names.hasCollections !== false) return false;
    if (this.#view.mayHaveAliases(this.#type)) return false;
    for (const name of touched) if (isReservedName(name)) return false;
    return true;
  }

  /** Looks again at these names only: with hundreds of thousands, looking at all would take a long turn. */
  #addTouched(touched: ReadonlySet<string>): void {
    const found = new Set<string>();
    const gone: string[] = [];
    for (const name of touched) {
      if (!this.#scope.names.has(name)) continue;
      const now = this.#view.find(this.#type, name);
      if (now === undefined) {
        if (this.#puts.delete(name)) gone.push(name);
        this.newcomers.delete(name);
      } else {
        if (!this.#puts.has(name)) found.add(name);
        this.#puts.set(name, now);
        this.newcomers.add(name);
      }
    }
    if (found.size > 0) {
      const left = this.missing.filter((name) => !found.has(name));
      this.missing.length = 0;
      for (const name of left) this.missing.push(name);
    }
    for (const name of gone) this.missing.push(name);
  }

  #forgetAdded(): void {
    for (const name of this.newcomers) this.#puts.delete(name);
    this.newcomers.clear();
    this.missing.length = 0;
  }

  /** Compares again the listed names that changed since the first step; undefined: any may have. */
  #compareTouched(touched: ReadonlySet<string> | undefined): void {
    // Where terms match the best of several resources, a changed one affects which terms the others match.
    const isAny = touched === undefined || this.#scope.terms !== undefined;
    for (const [given, version] of this.#initial) {
      const name = canonicalName(given);
      if (isAny || touched.has(name)) this.#compare(name, version);
    }
  }

  /** The version tells which variant of a name the client holds: its constraints are part of it. */
  #compareLocated(locators: Locators): void {
    const found = new Map<string, Resource>();
    for (const term of this.#scope.names) {
      const answers = this.#view.answersTo(this.#type, term);
      for (const one of answers) found.set(one.name, one);
      if (answers.length === 0) this.missing.push(term);
    }
    if (this.#scope.isWildcard)
      for (const member of this.#view.members(this.#type)) if (!member.onDemand) found.set(member.name, member);
    const called = new Map<string, Resource[]>();
    for (const resource of found.values()) {
      const name = resource.variant?.name ?? resource.name;
      const same = called.get(name);
      if (same === undefined) called.set(name, [resource]);
      else same.push(resource);
      const versions = this.#listed.get(name);
      if (versions === undefined) this.newcomers.add(resource.name);
      const isHeld = this.#options.trustsVersions && versions?.has(resource.version) === true;
      if (!isHeld || this.#mayExpire(resource.name)) this.#puts.set(resource.name, resource);
    }
    this.#removeGone(locators, called);
  }

  /**
   * The constraints of a deleted variant are unknown: it is removed for the parameters that the client subscribed with.
   */
  #removeGone(locators: Locators, found: ReadonlyMap<string, readonly Resource[]>): void {
    const { isWildcard, names } = this.#scope;
    const { maxRemoved = Number.POSITIVE_INFINITY } = this.#options;
    for (const name of this.#listed.keys()) {
      const here = found.get(name) ?? [];
      if (isWildcard && here.length === 0 && !locators.hasTermsAround(name)) this.#removed.add(name);
      if (here.some(({ variant }) => variant === undefined)) continue;
      // The terms of the name itself are answered: with a resource, or as missing.
      for (const parameters of locators.parametersBeside(name)) {
        if (here.some(({ variant }) => variant !== undefined && matches(variant.constraints, parameters))) continue;
        const told = locatedTerm(name, parameters);
        if (!names.has(told)) this.#removed.add(told);
        if (this.#removed.size > maxRemoved) {
          this.#isCutShort = true;
          return;
        }
      }
    }
  }

  /** The last comparison of a name counts: it may be compared again, and be listed twice. */
  #compare(name: string, version: string): void {
    this.#puts.delete(name);
    this.#removed.delete(name);
    const now = this.#view.holder(this.#type, name);
    if (now === undefined) this.#present.delete(name);
    else if (this.#present.add(name) && !now.onDemand) this.#covered++;
    if (now !== undefined && isAsked(now, this.#view, this.#scope)) {
      if (!this.#options.trustsVersions || now.version !== version || this.#mayExpire(name)) this.#puts.set(name, now);
    } else if (this.#mayBeHeld(name)) this.#removed.add(name);
  }

  /** Whether a name that was just compared counts as covered, and the client has it as it is. */
  #isCurrent(name: string): boolean {
    return !this.#puts.has(name) && this.#view.holder(this.#type, name)?.onDemand === false;
  }

  #mayExpire(name: string): boolean {
    return this.#options.ttls === "told" && this.#view.mayExpire(this.#type, name);
  }

  /** Adds what the client should hold and did not list; yields after each name. */
  *#addUnknown(): Generator<void, void, void> {
    const { isWildcard, names } = this.#scope;
    const add = (resource: Resource): void => {
      if (this.#present.has(resource.name) || this.#puts.has(resource.name)) return;
      this.#puts.set(resource.name, resource);
      this.newcomers.add(resource.name);
    };
    if (isWildcard) {
      for (const member of this.#view.members(this.#type)) {
        if (!member.onDemand) add(member);
        yield;
      }
    }
    for (const term of names) {
      // With its name a listed resource was compared already.
      if (!this.#present.has(term)) {
        const answers = this.#view.answersTo(this.#type, term);
        for (const found of answers) add(found);
        if (answers.length === 0 && !this.#removed.has(term)) this.missing.push(term);
      }
      yield;
    }
  }
}

/**
 * Returns a test of whether a client with this subscription may hold a name: it subscribes to the name, or to a term of
 * the same collection.
 */
export function mayBeHeldUnder({ isWildcard, names, terms }: Scope): (name: string) => boolean {
  let collections: ReadonlySet<string> | undefined;
  return (name) => {
    if (isWildcard || isNamed(names, name)) return true;
    const collection = terms?.collectionOf(name);
    if (terms === undefined || collection === undefined) return false;
    collections ??= new Set([...names].flatMap((term) => terms.collectionOf(term) ?? []));
    return collections.has(collection);
  };
}

/** Listed versions whose pairs have no numbers. */
class PlainCursor implements VersionCursor {
  readonly number = -1;
  readonly #rest: Iterator<ListedVersion>;
  #pair: ListedVersion = ["", ""];

  constructor(initial: InitialVersions) {
    this.#rest = initial[Symbol.iterator]();
  }

  get pair(): ListedVersion {
    return this.#pair;
  }

  next(): boolean {
    const next = this.#rest.next();
    if (next.done === true) return false;
    this.#pair = next.value;
    return true;
  }
}
