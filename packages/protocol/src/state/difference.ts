import type { Segment } from "../message/body.ts";
import type { Resource } from "../resource/resource.ts";
import { withoutError } from "../resource/resource-error.ts";
import { isSame, type Ttls } from "../resource/ttl.ts";
import type { TypeUrl } from "../resource/type-url.ts";
import type { Past, PastNames } from "./journal.ts";
import type { VisibleLayer } from "./layer.ts";
import type { Table, TableChange } from "./table.ts";
import { View } from "./view.ts";

/** The state that a subscription has been sent: a view at a revision. */
export interface Position {
  readonly view: View;
  readonly revision: number;
}

/** Whether two positions are the same view at the same revision. */
export function isSamePosition(a: Position, b: Position): boolean {
  return a.revision === b.revision && a.view === b.view;
}

/** A name whose resource differs from before. */
export interface Change {
  readonly name: string;
  readonly then: Past | undefined;
  readonly now: Resource | undefined;
}

/** The changes from a position to now, shared by every subscription at that position. Holds until the next transaction. */
export interface Difference {
  /** At least as many as there are changes. */
  readonly size: number;
  /** Made on first use: to look at every resource takes a while where there are many. */
  readonly changes: readonly Change[];
  /** The names that had a resource and have one now that references something else, if known without the changes. */
  readonly retargeted?: ReadonlySet<string>;
  /** The same for a wildcard, in pieces that other views share unless a layer hides what another one changed. */
  readonly segments: readonly Segment[];
}

/** To look up a name in both states costs as much as so many changes. */
export const COST_OF_A_NAME = 4;

/** Returns the difference under a key; makes it if there is none. Keys are equal until the next transaction only. */
export type ShareDifference = (key: string, make: () => Difference) => Difference;

/** No change. */
export const noDifference: Difference = { size: 0, changes: [], segments: [] };

/**
 * Computes what changed since a position: a name is sent when its resource then differs from its resource now. A stream
 * that moved to another view keeps its old position, and the same rule applies. `ttls` says whether a changed TTL alone
 * counts. `share`: keeps what views share of such differences.
 */
export function differenceBetween(
  from: Position,
  view: View,
  type: TypeUrl,
  ttls: Ttls = "left-off",
  share?: ShareDifference,
): Difference {
  if (isStill(from, view, type)) return noDifference;
  if (from.view === view) {
    const shared = sharedDifference(from, view, type, ttls);
    if (shared !== undefined) return shared;
  } else if (share !== undefined) {
    const below = differenceBelow(from, view, type, ttls, share);
    if (below !== undefined) return below;
  }
  const changes = changesBetween(from, view, type, ttls);
  return { size: changes.length, changes, segments: changes.length === 0 ? [] : [segmentOf(changes, ttls)] };
}

/**
 * The changes of some names since a position, without a look at what else changed; undefined: that would cost more, or a
 * name may be one by which another resource is asked for. The names are those of resources, not of collections.
 */
export function changesAmong(
  names: Iterable<string> & { readonly size: number },
  from: Position,
  view: View,
  type: TypeUrl,
  ttls: Ttls = "left-off",
): readonly Change[] | undefined {
  let changed = 0;
  for (const layer of from.view === view ? view.layers : new Set([...from.view.layers, ...view.layers])) {
    const table = layer.table(type);
    if (table === undefined) continue;
    if (table.hasHadAliases || table.variants !== undefined) return undefined;
    changed += from.view === view ? (table.changeAfter(from.revision)?.past.size ?? 0) : table.resources.size;
  }
  if (COST_OF_A_NAME * names.size >= changed) return undefined;
  const changes: Change[] = [];
  for (const name of names) {
    addChange(changes, name, [pastOf(from, type, name), view.holder(type, name)], ttls);
  }
  return changes;
}

/** Whether nothing of a type changed since a position. */
export function isStill(from: Position, view: View, type: TypeUrl): boolean {
  return from.view === view && view.changedAt(type) <= from.revision;
}

/** Returns a key that is equal for positions with equal differences: the last change in their layers decides. */
export function positionKey(from: Position, view: View, type: TypeUrl): string {
  const at = lastChangeAt(from, view, type);
  return from.view === view
    ? String(at)
    : `${from.view.contentKey(type)} ${Math.max(at, lastChangeAt(from, from.view, type))}`;
}

function lastChangeAt({ revision }: Position, { layers }: Pick<View, "layers">, type: TypeUrl): number {
  let at = 0;
  for (const layer of layers) at = Math.max(at, layer.table(type)?.journal.changeAt(revision) ?? 0);
  return at;
}

/** Whether a name was put or deleted in any layer since a position, even if it is back to what it was. */
export function wasTouched(from: Position, view: View, type: TypeUrl, name: string): boolean {
  return [...from.view.layers, ...view.layers].some(
    (layer) => layer.table(type)?.changeAfter(from.revision)?.past.has(name) === true,
  );
}

/**
 * Returns the names put or deleted in any layer of a view since a position; undefined if the journals do not reach back
 * that far.
 */
export function touchedSince(from: Position, view: View, type: TypeUrl): ReadonlySet<string> | undefined {
  return reaches(from, type) ? touchedBetween(from, view, type) : undefined;
}

/** Whether the journals still reach back to a position. */
export function reaches(from: Position, type: TypeUrl): boolean {
  return from.view.layers.every((layer) => (layer.table(type)?.journal.trimmedTo ?? 0) <= from.revision);
}

/** Undefined if one layer hides what another one changed; such a view needs its own encoding. */
function sharedDifference(from: Position, view: View, type: TypeUrl, ttls: Ttls): Difference | undefined {
  const changed: (readonly [Table, TableChange])[] = [];
  const tables = view.layers.flatMap((layer) => layer.table(type) ?? []);
  for (const table of tables) {
    const change = table.changeAfter(from.revision);
    if (change === undefined) continue;
    if (tables.some((other) => other !== table && isAnyIn(other, change.past, from))) return undefined;
    changed.push([table, change]);
  }
  return new SharedDifference(changed, ttls);
}

/** What is a difference in several views. */
class SharedDifference implements Difference {
  readonly segments: readonly Segment[];
  readonly #changed: readonly (readonly [Table, TableChange])[];
  readonly #ttls: Ttls;
  #changes: readonly Change[] | undefined;

  constructor(changed: readonly (readonly [Table, TableChange])[], ttls: Ttls) {
    this.#changed = changed;
    this.#ttls = ttls;
    this.segments = changed.flatMap(([, change]) => {
      const segment = ttls === "told" ? change.segmentWithTtls : change.segment;
      return segment.puts.length + segment.removed.length > 0 ? [segment] : [];
    });
  }

  get size(): number {
    return this.#changed.reduce((sum, [, { past }]) => sum + past.size, 0);
  }

  get changes(): readonly Change[] {
    this.#changes ??= this.#list();
    return this.#changes;
  }

  #list(): readonly Change[] {
    const lists = this.#changed.map(([table, change]) => changesIn(table, change, this.#ttls));
    const [first, ...others] = lists.filter((list) => list.length > 0);
    // Usually one layer changed, and every view that has it shares its changes.
    return others.length === 0 && first !== undefined ? first : lists.flat();
  }

  get retargeted(): ReadonlySet<string> {
    const [first, ...others] = this.#changed.map(([, { retargeted }]) => retargeted).filter(({ size }) => size > 0);
    return others.length === 0 ? (first ?? none) : new Set([first, ...others].flatMap((names) => [...(names ?? [])]));
  }
}

const none: ReadonlySet<string> = new Set();

/**
 * The difference for a node that moves and keeps its uppermost layers, such as its own one: that of the layers below them,
 * which is one for all nodes that move alike. Undefined: the layers that stay hide some of it, or changed themselves.
 */
function differenceBelow(
  from: Position,
  view: View,
  type: TypeUrl,
  ttls: Ttls,
  share: ShareDifference,
): Difference | undefined {
  const [then, now] = [from.view.layers, view.layers];
  let kept = 0;
  while (kept < now.length && then[kept] === now[kept]) kept++;
  const upper = now.slice(0, kept).flatMap((layer) => layer.table(type) ?? []);
  if (upper.length === 0 || upper.some((table) => table.changeAfter(from.revision) !== undefined)) return undefined;
  // A name that is hidden may be that of variants.
  if ([...then, ...now].some((layer) => layer.table(type)?.variants !== undefined)) return undefined;
  const [before, after] = [new View("", then.slice(kept)), new View("", now.slice(kept))];
  const at = Math.max(lastChangeAt(from, before, type), lastChangeAt(from, after, type));
  const key = `${type} ${before.contentKey(type)} ${after.contentKey(type)} ${at}`;
  const below = share(key, () => differenceBetween({ view: before, revision: from.revision }, after, type, ttls));
  return upper.some((table) => hidesAny(table, below.changes)) ? undefined : below;
}

function hidesAny({ resources }: Table, changes: readonly Change[]): boolean {
  if (resources.size > changes.length) return changes.some(({ name }) => resources.has(name));
  let names = namesIn.get(changes);
  if (names === undefined) {
    names = new Set(changes.map(({ name }) => name));
    namesIn.set(changes, names);
  }
  for (const name of resources.keys()) if (names.has(name)) return true;
  return false;
}

const namesIn = new WeakMap<readonly Change[], ReadonlySet<string>>();

/** The changes of one table, shared by every view that has it; kept as long as the `TableChange`. */
const changesInTables: { readonly [T in Ttls]: WeakMap<TableChange, readonly Change[]> } = {
  "left-off": new WeakMap(),
  told: new WeakMap(),
};

function changesIn(table: Table, change: TableChange, ttls: Ttls): readonly Change[] {
  const known = changesInTables[ttls].get(change);
  if (known !== undefined) return known;
  const changes: Change[] = [];
  for (const [name, then] of change.past) addChange(changes, name, [then, table.resources.get(name)], ttls);
  changesInTables[ttls].set(change, changes);
  return changes;
}

/** Whether a table has any of these names, or had one at a position. Iterates over the smaller side. */
function isAnyIn(table: Table, names: PastNames, from: Position): boolean {
  const past = table.changeAfter(from.revision)?.past;
  if (table.resources.size + (past?.size ?? 0) > names.size) {
    for (const name of names.keys()) if (table.resources.has(name) || past?.get(name) !== undefined) return true;
    return false;
  }
  for (const name of table.resources.keys()) if (names.has(name)) return true;
  for (const [name, then] of past ?? []) if (then !== undefined && names.has(name)) return true;
  return false;
}

function changesBetween(from: Position, view: View, type: TypeUrl, ttls: Ttls): Change[] {
  const changes: Change[] = [];
  for (const name of touchedBetween(from, view, type)) {
    addChange(changes, name, [pastOf(from, type, name), view.holder(type, name)], ttls);
  }
  return changes;
}

function touchedBetween(from: Position, view: View, type: TypeUrl): Set<string> {
  const names = new Set<string>();
  const keepsOrder = shareInOrder(from.view.layers, view.layers);
  for (const layer of new Set([...from.view.layers, ...view.layers])) {
    const table = layer.table(type);
    if (table === undefined) continue;
    for (const name of table.changeAfter(from.revision)?.past.keys() ?? []) names.add(name);
    const isInBoth = keepsOrder && from.view.layers.includes(layer) && view.layers.includes(layer);
    if (!isInBoth) for (const name of table.resources.keys()) names.add(name);
  }
  return withVariants(names, from, view, type);
}

/** A name that changed in one layer may hide or reveal variants in another. */
function withVariants(names: Set<string>, from: Position, view: View, type: TypeUrl): Set<string> {
  for (const layer of new Set([...from.view.layers, ...view.layers])) {
    const variants = layer.table(type)?.variants;
    if (variants === undefined) continue;
    for (const name of [...names]) for (const key of variants.of(name).keys()) names.add(key);
  }
  return names;
}

/** Whether the layers that both views have are in the same order, so that the same layer wins. */
function shareInOrder(a: readonly VisibleLayer[], b: readonly VisibleLayer[]): boolean {
  const inB = a.filter((layer) => b.includes(layer));
  const inA = b.filter((layer) => a.includes(layer));
  return inB.every((layer, i) => layer === inA[i]);
}

function pastOf(from: Position, type: TypeUrl, name: string): Past | undefined {
  const above: Table[] = [];
  for (const layer of from.view.layers) {
    const table = layer.table(type);
    const past = table === undefined ? undefined : pastIn(table, from, name);
    if (past?.variant !== undefined) {
      const shared = past.variant.name;
      return above.some((upper) => pastIn(upper, from, shared) !== undefined) ? undefined : past;
    }
    if (past !== undefined) return past;
    if (table !== undefined) above.push(table);
  }
  return undefined;
}

function pastIn(table: Table, from: Position, name: string): Past | undefined {
  const past = table.changeAfter(from.revision)?.past;
  return past?.has(name) === true ? past.get(name) : table.resources.get(name);
}

/** Adds it if its two states differ. An error counts as no resource: the resource that it replaced is gone. */
function addChange(
  changes: Change[],
  name: string,
  held: readonly [then: Past | undefined, now: Resource | undefined],
  ttls: Ttls,
): void {
  const then = withoutError(held[0]);
  const now = withoutError(held[1]);
  if (differs(then, now, ttls)) changes.push({ name, then, now });
}

function differs(then: Past | undefined, now: Resource | undefined, ttls: Ttls): boolean {
  return !isSame(then, now, ttls) || then?.onDemand !== now?.onDemand;
}

function segmentOf(changes: readonly Change[], ttls: Ttls): Segment {
  const puts: Resource[] = [];
  const removed: string[] = [];
  for (const { name, then, now } of changes) {
    const wasCovered = then !== undefined && !then.onDemand;
    if (now !== undefined && !now.onDemand) {
      if (!(wasCovered && isSame(then, now, ttls))) puts.push(now);
    } else if (wasCovered) removed.push(name);
  }
  return { puts, removed, missing: [] };
}
