import { type AccessGrant, isTypeDenied, wholeGrant } from "../access/access-policy.ts";
import type { Segment } from "../message/body.ts";
import { matches, type Parameters } from "../resource/constraints.ts";
import { areSame, type ErrorSet, noErrors } from "../resource/error-set.ts";
import type { Reference, Resource } from "../resource/resource.ts";
import { noneFits, withoutError } from "../resource/resource-error.ts";
import { isGlob, WILDCARD } from "../resource/resource-name.ts";
import type { TypeUrl } from "../resource/type-url.ts";
import { parseLocated } from "../resource/variant-name.ts";
import { addSums, formatVersion, subtractSums } from "../resource/version.ts";
import type { VisibleLayer } from "./layer.ts";
import type { Table } from "./table.ts";

/** A summary of one type in a view, as of its last change. */
interface TypeSummary {
  readonly changedAt: number;
  readonly sum: bigint;
  /** The number of entries that a wildcard covers. */
  readonly covered: number;
  readonly version: string;
}

/** Resources that have a TTL. */
export interface Timed {
  readonly resources: readonly Resource[];
  /** The shortest of their TTLs, in milliseconds; infinite if there are none. */
  readonly shortestMs: number;
}

/** No resource has a TTL. */
const nothingTimed: Timed = { resources: [], shortestMs: Number.POSITIVE_INFINITY };

/** The ordered layers, top-most first, that some nodes see; the top-most layer that holds a name wins. */
export class View {
  readonly key: string;
  readonly layers: readonly VisibleLayer[];
  readonly grant: AccessGrant;
  readonly #summaries = new Map<TypeUrl, TypeSummary>();
  readonly #errors = new Map<TypeUrl, { changedAt: number; errors: ErrorSet }>();
  /**
   * Held weakly, only while something sends them: a view may never again need what it needed when its node connected.
   */
  readonly #wholes = new Map<TypeUrl, { changedAt: number; segments: WeakRef<readonly Segment[]> }>();
  readonly #timed = new Map<TypeUrl, { changedAt: number; timed: Timed }>();

  constructor(key: string, layers: readonly VisibleLayer[], grant: AccessGrant = wholeGrant) {
    this.key = key;
    this.layers = layers;
    this.grant = grant;
  }

  /** Equal for views that show the same of a type: those in which the same layers hold it. */
  contentKey(type: TypeUrl): string {
    let key = "";
    for (const layer of this.layers) {
      const table = layer.table(type);
      if (table !== undefined) key += `${table.id},`;
    }
    return key;
  }

  /** Whether nothing of a type may be shown, whatever there is. */
  isDenied(type: TypeUrl): boolean {
    return isTypeDenied(
      this.grant,
      this.layers.map(({ name }) => name),
      type,
    );
  }

  /** Returns the resource of that name that the view shows. */
  holder(type: TypeUrl, name: string): Resource | undefined {
    return withoutError(this.#topMost(type, name));
  }

  /** Returns the error in place of that name, if the view shows one. */
  error(type: TypeUrl, name: string): Resource | undefined {
    if (!this.layers.some((layer) => (layer.table(type)?.errors.size ?? 0) > 0)) return undefined;
    const holder = this.#topMost(type, name);
    return holder?.error === undefined || holder.error === noneFits ? undefined : holder;
  }

  /** Returns every resource error; the same object while the errors stay the same. */
  errors(type: TypeUrl): ErrorSet {
    const known = this.#errors.get(type);
    const isAny = this.layers.some((layer) => (layer.table(type)?.errors.size ?? 0) > 0);
    if (!isAny && known === undefined) return noErrors;
    const changedAt = this.changedAt(type);
    if (known?.changedAt === changedAt) return known.errors;
    const found = this.#findErrors(type);
    const errors = known !== undefined && areSame(known.errors, found) ? known.errors : found;
    this.#errors.set(type, { changedAt, errors });
    return errors;
  }

  #findErrors(type: TypeUrl): ErrorSet {
    const errors = new Map<string, Resource>();
    for (const [depth, layer] of this.layers.entries()) {
      const above = this.#tablesAbove(type, depth);
      for (const [name, error] of layer.table(type)?.errors ?? []) {
        if (!above.some((table) => table.resources.has(name))) errors.set(name, error);
      }
    }
    return errors.size === 0 ? noErrors : errors;
  }

  #topMost(type: TypeUrl, name: string): Resource | undefined {
    for (const layer of this.layers) {
      const resource = layer.table(type)?.resources.get(name);
      if (resource === undefined) continue;
      if (resource.variant === undefined) return resource;
      return isHidden(resource, this.#tablesAbove(type, this.layers.indexOf(layer))) ? undefined : resource;
    }
    return undefined;
  }

  /** Finds the resource for a subscribed term: by name, else by alias (S-DLT-13), else by the type's own rules. */
  find(type: TypeUrl, term: string): Resource | undefined {
    const called = this.called(type, term);
    if (called !== undefined) return called;
    const terms = this.layers.find((layer) => layer.table(type)?.terms !== undefined)?.table(type)?.terms;
    for (const alias of terms?.broader(term) ?? []) {
      const broader = this.called(type, alias);
      if (broader !== undefined) return broader;
    }
    return undefined;
  }

  /** Whether a reference leads to anything. */
  leadsTo({ type, name }: Reference): boolean {
    if (name === WILDCARD) return this.coveredBy(type) > 0;
    return this.find(type, name) !== undefined || (isGlob(name) && this.answersTo(type, name).length > 0);
  }

  /** Returns every resource for a subscribed term: the members of a glob collection, or the one that `find` returns. */
  answersTo(type: TypeUrl, term: string): readonly Resource[] {
    if (isGlob(term)) return [...this.within(type, term)].filter(({ variant }) => variant === undefined);
    const located = parseLocated(term);
    if (located !== undefined) return [...this.#fitting(type, located.name, located.parameters)];
    const found = this.find(type, term);
    return found === undefined ? [] : [found];
  }

  /** Yields what matches the parameters under a name, in a collection, or among all resources (B-LOC-04). */
  *#fitting(type: TypeUrl, name: string, parameters: Parameters): Iterable<Resource> {
    const isAll = name === "*";
    if (!isAll && !isGlob(name)) {
      const found = this.#fittingOf(type, name, parameters) ?? this.called(type, name);
      const resource = found?.isStandIn === true ? this.#fittingOf(type, found.name, parameters) : found;
      if (resource !== undefined) yield resource;
      return;
    }
    for (const resource of isAll ? this.members(type) : this.within(type, name)) {
      const { variant, isStandIn, onDemand } = resource;
      if (isStandIn === true || (isAll && (variant?.onDemand ?? onDemand))) continue;
      if (variant === undefined || matches(variant.constraints, parameters)) yield resource;
    }
  }

  /** The top-most layer that has anything under the name decides. */
  #fittingOf(type: TypeUrl, name: string, parameters: Parameters): Resource | undefined {
    const table = this.layers.map((layer) => layer.table(type)).find((one) => one?.resources.has(name) === true);
    const plain = table?.resources.get(name);
    return plain?.isStandIn === true ? table?.variants?.fitting(name, parameters) : withoutError(plain);
  }

  /** Yields the visible members of a collection. */
  *within(type: TypeUrl, collection: string): Iterable<Resource> {
    for (const [depth, layer] of this.layers.entries()) {
      const table = layer.table(type);
      if (table === undefined) continue;
      const above = this.#tablesAbove(type, depth);
      for (const name of table.within(collection)) {
        const resource = table.resources.get(name);
        if (resource === undefined || resource.error !== undefined) continue;
        if (!isHidden(resource, above)) yield resource;
      }
    }
  }

  /** Returns the resource of that name, or else of that alias. */
  called(type: TypeUrl, term: string): Resource | undefined {
    const named = this.holder(type, term);
    if (named !== undefined) return named;
    for (const layer of this.layers) {
      const resource = layer.table(type)?.aliased(term);
      if (resource !== undefined && this.holder(type, resource.name) === resource) return resource;
    }
    return undefined;
  }

  /** Yields every visible resource of a type. */
  *members(type: TypeUrl): Iterable<Resource> {
    for (const [depth, layer] of this.layers.entries()) {
      const above = this.#tablesAbove(type, depth);
      for (const resource of layer.table(type)?.resources.values() ?? []) {
        if (resource.error === undefined && !isHidden(resource, above)) yield resource;
      }
    }
  }

  /** Returns the revision of the last change of a type in any layer. */
  changedAt(type: TypeUrl): number {
    let last = 0;
    for (const layer of this.layers) last = Math.max(last, layer.table(type)?.changedAt ?? 0);
    return last;
  }

  /** Whether any resource in the layers, even a hidden one, refers to that name. */
  refersTo(type: TypeUrl, name: string): boolean {
    for (const { tables } of this.layers)
      for (const table of tables.values()) if (table.refersTo(type, name)) return true;
    return false;
  }

  /** Whether any resource of a type has or had a TTL, here or in another view. */
  knowsTtls(type: TypeUrl): boolean {
    return this.#timedNames(type).size > 0;
  }

  /** Whether a client may hold a name only for a limited time. */
  mayExpire(type: TypeUrl, name: string): boolean {
    return this.#timedNames(type).has(name);
  }

  /** Returns the visible resources with a TTL; computed again when the type changed. */
  timed(type: TypeUrl): Timed {
    if (!this.knowsTtls(type)) return nothingTimed;
    const changedAt = this.changedAt(type);
    const known = this.#timed.get(type);
    if (known?.changedAt === changedAt) return known.timed;
    const resources = this.layers.flatMap((layer, depth) => {
      const above = this.#tablesAbove(type, depth);
      const isSeen = (resource: Resource): boolean => !isHidden(resource, above);
      return [...(layer.table(type)?.timed.values() ?? [])].filter(isSeen);
    });
    const timed = timedOf(resources);
    this.#timed.set(type, { changedAt, timed });
    return timed;
  }

  /** Returns how many entries a wildcard covers. */
  coveredBy(type: TypeUrl): number {
    return this.#summary(type).covered;
  }

  /** Returns the sum behind the type version. */
  typeSum(type: TypeUrl): bigint {
    return this.#summary(type).sum;
  }

  /** Returns the type version as clients see it (S-VER-01). */
  typeVersion(type: TypeUrl): string {
    return this.printedVersion(type) ?? this.#summary(type).version;
  }

  /** Returns the type version that the caller set, if any. */
  printedVersion(type: TypeUrl): string | undefined {
    for (const layer of this.layers) {
      const printed = layer.table(type)?.printedVersion;
      if (printed !== undefined) return printed;
    }
    return undefined;
  }

  /** Whether a resource of the type may ever have been found by an alias. */
  mayHaveAliases(type: TypeUrl): boolean {
    return this.layers.some((layer) => layer.table(type)?.hasHadAliases === true);
  }

  /** Whether a layer marks responses of the type as canary. */
  isCanary(type: TypeUrl): boolean {
    return this.layers.some((layer) => layer.table(type)?.isCanary === true);
  }

  /**
   * Returns the type version for a client that also holds resources the view does not have. `more` is their sum; `marks`
   * tell a server that did not send them which they are.
   */
  typeVersionWith(type: TypeUrl, more: bigint, marks = ""): string {
    const { sum, version } = this.#summary(type);
    const printed = this.typeVersion(type);
    if (printed !== version) return `${printed}+${formatVersion(more)}`;
    const own = formatVersion(addSums(sum, more));
    return marks === "" ? own : `${own}.${marks}`;
  }

  /**
   * Returns what a wildcard covers. What is not hidden is shared with every other view, and what is left of a part in
   * which something is hidden with those that hide the same.
   */
  whole(type: TypeUrl): readonly Segment[] {
    const changedAt = this.changedAt(type);
    const known = this.#wholes.get(type);
    const held = known?.changedAt === changedAt ? known.segments.deref() : undefined;
    if (held !== undefined) return held;
    const segments = this.layers.flatMap((layer, depth) => {
      const table = layer.table(type);
      return table === undefined || table.resources.size === 0 ? [] : this.#wholeOf(type, table, depth);
    });
    this.#wholes.set(type, { changedAt, segments: new WeakRef(segments) });
    return segments;
  }

  #timedNames(type: TypeUrl): ReadonlySet<string> {
    return this.layers[0]?.timedNames.of(type) ?? new Set();
  }

  #wholeOf(type: TypeUrl, table: Table, depth: number): readonly Segment[] {
    let { whole } = table;
    // The nearest layer first: more views have it above this one.
    for (const upper of [...this.#tablesAbove(type, depth)].reverse())
      if (overlap(upper, table)) whole = whole.without(upper);
    return whole.segments;
  }

  #tablesAbove(type: TypeUrl, depth: number): readonly Table[] {
    return this.layers.slice(0, depth).flatMap((layer) => layer.table(type) ?? []);
  }

  #summary(type: TypeUrl): TypeSummary {
    const changedAt = this.changedAt(type);
    const known = this.#summaries.get(type);
    if (known?.changedAt === changedAt) return known;
    const summary = this.#advance(type, known, changedAt) ?? this.#count(type, changedAt);
    this.#summaries.set(type, summary);
    return summary;
  }

  /**
   * Updates the previous summary by what changed since. Undefined if a journal does not reach back that far, or if a
   * full count is cheaper.
   */
  #advance(type: TypeUrl, known: TypeSummary | undefined, changedAt: number): TypeSummary | undefined {
    if (known === undefined) return undefined;
    const tables = this.layers.flatMap((layer) => layer.table(type) ?? []);
    if (tables.some((table) => table.journal.trimmedTo > known.changedAt)) return undefined;
    const pasts = tables.map((table) => table.changeAfter(known.changedAt)?.past);
    const changed = pasts.reduce((sum, past) => sum + (past?.size ?? 0), 0);
    const above = tables.slice(0, -1).reduce((sum, table) => sum + table.resources.size, 0);
    if (above * tables.length < changed) return undefined; // counting costs less
    let { sum, covered } = known;
    for (const name of new Set(pasts.flatMap((past) => [...(past?.keys() ?? [])]))) {
      for (const [i, table] of tables.entries()) {
        const past = pasts[i];
        const then = past?.has(name) === true ? past.get(name) : table.resources.get(name);
        if (then === undefined) continue;
        if (then.variant !== undefined) break;
        sum = subtractSums(sum, then.sum);
        if (!then.onDemand) covered--;
        break;
      }
      const now = this.#topMost(type, name);
      if (now === undefined || now.variant !== undefined) continue;
      sum = addSums(sum, now.sum);
      if (!now.onDemand) covered++;
    }
    return { changedAt, sum, covered, version: formatVersion(sum) };
  }

  #count(type: TypeUrl, changedAt: number): TypeSummary {
    let sum = 0n;
    let covered = 0;
    for (const [depth, layer] of this.layers.entries()) {
      const table = layer.table(type);
      if (table === undefined) continue;
      sum = addSums(sum, table.sum);
      covered += table.resources.size - table.onDemand;
      for (const hidden of this.#hiddenIn(table, this.#tablesAbove(type, depth))) {
        sum = subtractSums(sum, hidden.sum);
        if (!hidden.onDemand) covered--;
      }
    }
    return { changedAt, sum, covered, version: formatVersion(sum) };
  }

  #hiddenIn(table: Table, above: readonly Table[]): ReadonlySet<Resource> {
    const hidden = new Set<Resource>();
    for (const upper of above) {
      for (const name of upper.resources.keys()) {
        const resource = table.resources.get(name);
        if (resource !== undefined && resource.variant === undefined) hidden.add(resource);
      }
    }
    return hidden;
  }
}

/** Returns those of some resources that have a TTL. */
export function timedOf(some: Iterable<Resource>): Timed {
  const resources: Resource[] = [];
  let shortestMs = Number.POSITIVE_INFINITY;
  for (const resource of some) {
    if (resource.ttlMs === undefined) continue;
    resources.push(resource);
    shortestMs = Math.min(shortestMs, resource.ttlMs);
  }
  return resources.length === 0 ? nothingTimed : { resources, shortestMs };
}

/** Whether a higher layer holds that name, even as another variant. */
function isHidden({ name, variant }: Resource, above: readonly Table[]): boolean {
  return above.some(({ resources }) => resources.has(variant?.name ?? name));
}

function overlap(a: Table, b: Table): boolean {
  const [small, large] = a.resources.size <= b.resources.size ? [a, b] : [b, a];
  for (const name of small.resources.keys()) if (large.resources.has(name)) return true;
  return false;
}
