import type { Segment } from "../message/body.ts";
import { addressesOf } from "../resource/addresses.ts";
import type { Resource } from "../resource/resource.ts";
import { noneFits, withoutError } from "../resource/resource-error.ts";
import { isPrefixGlob, isWithin } from "../resource/resource-name.ts";
import type { TermRules } from "../resource/term-rules.ts";
import { hasSameContent, isSame, type Ttls } from "../resource/ttl.ts";
import type { TypeTraits } from "../resource/type-traits.ts";
import type { TypeUrl } from "../resource/type-url.ts";
import { addSums, subtractSums } from "../resource/version.ts";
import { Collections } from "./collections.ts";
import { isRetargeted, Journal, type Past, type PastNames } from "./journal.ts";
import { finish, ITEMS_A_STEP, type Steps } from "./steps.ts";
import { Variants } from "./variants.ts";
import { type FormerParts, noParts, WholeParts } from "./whole-parts.ts";

/** The changes of one table since a revision: the earlier states, and the segment that leads to now. */
export interface TableChange {
  readonly past: PastNames;
  readonly segment: Segment;
  /** The segment for clients that get TTLs; includes resources of which only the TTL changed. */
  readonly segmentWithTtls: Segment;
  /** The names that had a resource and have one now that references something else. */
  readonly retargeted: ReadonlySet<string>;
}

/** Shared by all changes after which everything references what it did before. */
const none: ReadonlySet<string> = new Set();

/** What a transaction does to one entry of a table. */
export type TableEdit = { readonly put: Resource } | { readonly delete: string };

/** Table options. */
export interface TableOptions {
  readonly terms?: TermRules | undefined;
  /** Reads the addresses of a resource; undefined: the type has none. */
  readonly addressesIn?: TypeTraits["addressesIn"];
  /** Called with the name of each resource that has a TTL. */
  readonly noteTimed?: (name: string) => void;
}

/** What a successor was made of, until it takes its place. */
interface Predecessor {
  readonly table: Table;
  /** The edits of the table then. */
  readonly edits: number;
  /** How the successor differs; undefined: it does not. */
  change?: TableChange;
}

/** The resources and resource errors of one type in one layer, with a journal of their changes. */
export class Table {
  static #lastId = 0;
  /** Differs for each table, even of layers that had the same name; a successor has that of its predecessor. */
  readonly id: number;
  readonly #resources = new Map<string, Resource>();
  #journal = new Journal();
  readonly #keepsBodies: boolean;
  /** Reference counts by name, for the types that were queried. */
  readonly #referrers = new Map<TypeUrl, Map<string, number>>();
  readonly #terms: TermRules | undefined;
  readonly #errors = new Map<string, Resource>();
  #namesByAlias: Map<string, Set<string>> | undefined;
  #collections: Collections | undefined;
  #variants: Variants | undefined;
  #standIns = 0;
  #sum = 0n;
  #changedAt = 0;
  #onDemand = 0;
  readonly #timed = new Map<string, Resource>();
  readonly #options: TableOptions;
  #knowsTtls = false;
  #printedVersion: string | undefined;
  #isCanary = false;
  #hasHadAliases = false;
  #changes = new Map<number, TableChange>();
  #whole: WholeParts | undefined;
  /** What is left of it in use since something changed. */
  #formerWhole: FormerParts = noParts;
  /** The names and aliases of the last change, if they were prepared and not taken yet. */
  #changedNames: ReadonlySet<string> | undefined;
  /** Counts what was done to it. */
  #edits = 0;
  #origin: Predecessor | undefined;

  /** `keepsBodies`: the journal keeps whole resources, because a client may still use a replaced one. */
  constructor(keepsBodies: boolean, options: TableOptions = {}, id: number = ++Table.#lastId) {
    this.#keepsBodies = keepsBodies;
    this.#terms = options.terms;
    this.#options = options;
    this.id = id;
  }

  get resources(): ReadonlyMap<string, Resource> {
    return this.#resources;
  }

  /** Entries that are resource errors. */
  get errors(): ReadonlyMap<string, Resource> {
    return this.#errors;
  }

  get journal(): Journal {
    return this.#journal;
  }

  /** The sum of the members; equal for equal content, in whatever order it was built. */
  get sum(): bigint {
    return this.#sum;
  }

  /** The revision of the last change; 0 before any. */
  get changedAt(): number {
    return this.#changedAt;
  }

  /** The number of entries that no wildcard covers. */
  get onDemand(): number {
    return this.#onDemand;
  }

  /** The variants by shared name; undefined if there never were any. */
  get variants(): Variants | undefined {
    return this.#variants;
  }

  /** The number of entries that stand under the shared name of variants. */
  get standIns(): number {
    return this.#standIns;
  }

  /** Entries that have a TTL. */
  get timed(): ReadonlyMap<string, Resource> {
    return this.#timed;
  }

  /** The type version that the caller set in place of the sum. */
  get printedVersion(): string | undefined {
    return this.#printedVersion;
  }

  /** Whether any of its resources ever had aliases. */
  get hasHadAliases(): boolean {
    return this.#hasHadAliases;
  }

  /** Whether responses of the type are marked as canary. */
  get isCanary(): boolean {
    return this.#isCanary;
  }

  /** Sets the canary mark and returns whether that changed it. Causes no response by itself. */
  markCanary(isCanary: boolean): boolean {
    if (isCanary === this.#isCanary) return false;
    this.#isCanary = isCanary;
    this.#edits++;
    return true;
  }

  /** Stores a resource and returns whether anything changed; an equal version, content, TTL and equal references change nothing. */
  put(resource: Resource, revision: number): boolean {
    const before = this.#resources.get(resource.name);
    if (
      before !== undefined &&
      isSame(before, resource, "told") &&
      !isRetargeted(before, resource) &&
      before.onDemand === resource.onDemand &&
      before.variant?.onDemand === resource.variant?.onDemand
    )
      return false;
    this.#set(resource, before, revision);
    this.#noteVariant(resource);
    return true;
  }

  /** Replaces a resource by one that is known to be equal, without a change. */
  adopt(resource: Resource): void {
    const before = this.#resources.get(resource.name);
    if (before === undefined) return;
    this.#resources.set(resource.name, resource);
    this.#account(before, -1);
    this.#account(resource, 1);
    this.#noteVariant(resource);
    this.#dropWhole();
    this.#edits++;
  }

  delete(name: string, revision: number): boolean {
    const before = this.#resources.get(name);
    if (before === undefined || before.isStandIn === true) return false;
    this.#remove(before, revision);
    this.#variants?.remove(before);
    return true;
  }

  /** Updates the stand-in of each name whose variants changed. */
  settle(revision: number): void {
    for (const name of this.#variants?.takeTouched() ?? []) {
      const before = this.#resources.get(name);
      const standIn = this.#variants?.standIn(name);
      if (standIn !== undefined) this.#set(standIn, before, revision);
      else if (before?.isStandIn === true) this.#remove(before, revision);
    }
  }

  #set(resource: Resource, before: Resource | undefined, revision: number): void {
    this.#resources.set(resource.name, resource);
    if (before === undefined) this.#collections?.add(resource.name);
    this.#account(before, -1);
    this.#account(resource, 1);
    this.#note(revision, resource.name, before);
  }

  #remove(before: Resource, revision: number): void {
    this.#resources.delete(before.name);
    this.#collections?.remove(before.name);
    this.#account(before, -1);
    this.#note(revision, before.name, before);
  }

  #noteVariant(resource: Resource): void {
    if (resource.variant === undefined) return;
    this.#variants ??= new Variants();
    this.#variants.add(resource);
  }

  /**
   * Sets the type version and returns whether that changed it. The type counts as changed, so the next response carries
   * it.
   */
  printVersion(version: string | undefined): boolean {
    if (version === this.#printedVersion) return false;
    this.#printedVersion = version;
    this.#edits++;
    return true;
  }

  /**
   * Returns the resource that lists an alias; among several, the one whose name sorts first, so that replicas agree.
   */
  aliased(alias: string): Resource | undefined {
    if (this.#namesByAlias === undefined) this.#namesByAlias = this.#indexAliases();
    const names = this.#namesByAlias.get(alias);
    if (names === undefined) return undefined;
    const first = [...names].sort()[0];
    return first === undefined ? undefined : this.#resources.get(first);
  }

  /** Returns the names in a collection. A prefix glob scans all names, because few clients use one. */
  within(collection: string): ReadonlySet<string> {
    if (isPrefixGlob(collection))
      return new Set([...this.#resources.keys()].filter((name) => isWithin(collection, name)));
    this.#collections ??= new Collections(this.#resources.keys(), this.#terms);
    return this.#collections.membersOf(collection);
  }

  /** How resources of the type match terms besides their names and aliases. */
  get terms(): TermRules | undefined {
    return this.#terms;
  }

  /** Whether any resource of this table refers to that name of that type. */
  refersTo(type: TypeUrl, name: string): boolean {
    let counts = this.#referrers.get(type);
    if (counts === undefined) {
      counts = new Map();
      this.#referrers.set(type, counts);
      for (const resource of this.#resources.values()) countReferences(counts, resource, type, 1);
    }
    return counts.has(name);
  }

  /**
   * Returns what changed after a revision; undefined if nothing did. Shared by all positions between the same two
   * changes.
   */
  changeAfter(revision: number): TableChange | undefined {
    if (revision >= this.#changedAt) return undefined;
    const key = this.#journal.changeAt(revision);
    let change = this.#changes.get(key);
    if (change === undefined) {
      change = finish(this.#changeFrom(finish(this.#journal.pastAt(revision))));
      this.#changes.set(key, change);
    }
    return change;
  }

  /** The names that changed at the revision of the last change, and their aliases before and after it. */
  takeChangedNames(): ReadonlySet<string> {
    const prepared = this.#changedNames;
    this.#changedNames = undefined;
    return prepared ?? finish(this.#namesIn(this.changeAfter(this.#changedAt - 1)?.past ?? new Map()));
  }

  *#namesIn(past: PastNames): Steps<ReadonlySet<string>> {
    let taken = 0;
    const names = new Set<string>();
    for (const [name, then] of past) {
      names.add(name);
      for (const alias of then?.aliases ?? []) names.add(alias);
      for (const alias of this.#resources.get(name)?.aliases ?? []) names.add(alias);
      if (++taken % ITEMS_A_STEP === 0) yield ITEMS_A_STEP;
    }
    return names;
  }

  /** Makes the table that this one becomes by some edits, beside it; it takes its place by `succeed`. */
  *successor(edits: Iterable<TableEdit>, revision: number): Steps<Table> {
    let taken = 0;
    const next = new Table(this.#keepsBodies, this.#options, this.id);
    const origin: Predecessor = { table: this, edits: this.#edits };
    next.#origin = origin;
    for (const type of this.#referrers.keys()) next.#referrers.set(type, new Map());
    if (this.#namesByAlias !== undefined) next.#namesByAlias = new Map();
    if (this.#collections !== undefined) next.#collections = new Collections([], this.#terms);
    for (const resource of this.#resources.values()) {
      next.#resources.set(resource.name, resource);
      next.#collections?.add(resource.name);
      next.#account(resource, 1);
      next.#noteVariant(resource);
      if (++taken % ITEMS_A_STEP === 0) yield ITEMS_A_STEP;
    }
    next.#variants?.takeTouched();
    next.#printedVersion = this.#printedVersion;
    next.#isCanary = this.#isCanary;
    next.#hasHadAliases ||= this.#hasHadAliases;
    next.#knowsTtls ||= this.#knowsTtls;
    next.#changedAt = this.#changedAt;
    next.#formerWhole = this.#whole?.kept() ?? this.#formerWhole;
    for (const edit of edits) {
      if ("put" in edit) next.put(edit.put, revision);
      else next.delete(edit.delete, revision);
      if (++taken % ITEMS_A_STEP === 0) yield ITEMS_A_STEP;
    }
    next.settle(revision);
    if (next.#changedAt !== revision) return next;
    const past = yield* next.#journal.pastAt(0);
    origin.change = yield* next.#changeFrom(past);
    next.#changedNames = yield* next.#namesIn(past);
    return next;
  }

  /** Whether nothing was done to the table that it was made of since. */
  get isCurrent(): boolean {
    return this.#origin !== undefined && this.#origin.edits === this.#origin.table.#edits;
  }

  /** Takes the place of the table that it was made of. */
  succeed(): void {
    if (this.#origin === undefined) return;
    const { table, change } = this.#origin;
    const key = table.#journal.changeAt(this.#changedAt - 1);
    table.#journal.extend(this.#journal);
    this.#journal = table.#journal;
    this.#origin = undefined;
    if (change !== undefined) this.#changes.set(key, change);
  }

  /** Every resource that a wildcard covers. */
  get whole(): WholeParts {
    if (this.#whole !== undefined) return this.#whole;
    const resources = [...this.#resources.values()];
    const covered = this.#onDemand === 0 ? resources : resources.filter((resource) => !resource.onDemand);
    this.#whole = WholeParts.of(covered, this.#formerWhole);
    this.#formerWhole = noParts;
    return this.#whole;
  }

  #dropWhole(): void {
    if (this.#whole === undefined) return;
    this.#formerWhole = this.#whole.kept();
    this.#whole = undefined;
  }

  *#changeFrom(past: PastNames): Steps<TableChange> {
    const retargeted = new Set<string>();
    const segment = yield* this.#segmentFrom(past, "left-off", retargeted);
    const hasTtlAlone = ([name, then]: [string, Past | undefined]): boolean => {
      const now = this.#resources.get(name);
      return hasSameContent(now, then) && now?.ttlMs !== then?.ttlMs;
    };
    const isOne = !this.#knowsTtls || ![...past].some(hasTtlAlone);
    const segmentWithTtls = isOne ? segment : yield* this.#segmentFrom(past, "told");
    return { past, segment, segmentWithTtls, retargeted: retargeted.size === 0 ? none : retargeted };
  }

  *#segmentFrom(past: PastNames, ttls: Ttls, retargeted?: Set<string>): Steps<Segment> {
    let taken = 0;
    const puts: Resource[] = [];
    const removed: string[] = [];
    for (const [name, then] of past) {
      const now = this.#resources.get(name);
      const wasCovered = then !== undefined && !then.onDemand;
      const isCovered = now !== undefined && !now.onDemand;
      if (isCovered && !(wasCovered && isSame(then, now, ttls))) puts.push(now);
      else if (wasCovered && !isCovered) removed.push(name);
      if (retargeted !== undefined && isRetargeted(withoutError(then), withoutError(now))) retargeted.add(name);
      if (++taken % ITEMS_A_STEP === 0) yield ITEMS_A_STEP;
    }
    return { puts, removed, missing: [] };
  }

  #note(revision: number, name: string, before: Resource | undefined): void {
    // A client that holds the resource for its TTL needs heartbeats until it gets the replacement.
    if (before !== undefined && (this.#keepsBodies || before.ttlMs !== undefined))
      this.#journal.append(revision, name, before, before.bytes.length);
    else this.#journal.append(revision, name, before && slim(before, this.#options), 0);
    this.#dropWhole();
    if (this.#changes.size > 0) this.#changes = new Map();
    this.#changedNames = undefined;
    this.#changedAt = revision;
    this.#edits++;
  }

  #account(resource: Resource | undefined, by: 1 | -1): void {
    if (resource === undefined) return;
    if (resource.isStandIn === true) this.#standIns += by;
    if (resource.error !== undefined && resource.error !== noneFits) {
      if (by === 1) this.#errors.set(resource.name, resource);
      else this.#errors.delete(resource.name);
    }
    // The stand-in of a name counts for all of its variants.
    if (resource.variant === undefined)
      this.#sum = by === 1 ? addSums(this.#sum, resource.sum) : subtractSums(this.#sum, resource.sum);
    if (resource.onDemand) this.#onDemand += by;
    if (resource.aliases.length > 0) this.#hasHadAliases = true;
    if (resource.ttlMs !== undefined) this.#accountTtl(resource, by);
    for (const [type, counts] of this.#referrers) countReferences(counts, resource, type, by);
    if (this.#namesByAlias !== undefined) indexAliases(this.#namesByAlias, resource, by);
  }

  #accountTtl(resource: Resource, by: 1 | -1): void {
    this.#knowsTtls = true;
    this.#options.noteTimed?.(resource.name);
    if (by === 1) this.#timed.set(resource.name, resource);
    else if (this.#resources.get(resource.name)?.ttlMs === undefined) this.#timed.delete(resource.name);
  }

  #indexAliases(): Map<string, Set<string>> {
    const index = new Map<string, Set<string>>();
    for (const resource of this.#resources.values()) indexAliases(index, resource, 1);
    return index;
  }
}

function slim(resource: Resource, { addressesIn }: TableOptions): Past {
  const { name, version, content, sum, aliases, onDemand, references, ttlMs, error, variant, isStandIn } = resource;
  return {
    ...{ name, version, sum, aliases, onDemand, references, ttlMs },
    ...(content !== undefined && { content }),
    ...(error !== undefined && { error }),
    ...(variant !== undefined && { variant }),
    ...(isStandIn !== undefined && { isStandIn }),
    ...(addressesIn !== undefined && { addresses: addressesOf(resource, { addressesIn }) }),
  };
}

function countReferences(counts: Map<string, number>, resource: Resource, type: TypeUrl, by: 1 | -1): void {
  for (const reference of resource.references) {
    if (reference.type !== type) continue;
    const count = (counts.get(reference.name) ?? 0) + by;
    if (count === 0) counts.delete(reference.name);
    else counts.set(reference.name, count);
  }
}

function indexAliases(index: Map<string, Set<string>>, resource: Resource, by: 1 | -1): void {
  if (resource.variant !== undefined) return;
  for (const alias of resource.aliases) {
    const names = index.get(alias) ?? new Set();
    if (by === 1) names.add(resource.name);
    else names.delete(resource.name);
    if (names.size === 0) index.delete(alias);
    else index.set(alias, names);
  }
}
