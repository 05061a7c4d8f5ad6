import type { Reference } from "../../resource/resource.ts";
import { globOf } from "../../resource/resource-name.ts";
import type { Ttls } from "../../resource/ttl.ts";
import type { TypeTraits } from "../../resource/type-traits.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import {
  type Change,
  COST_OF_A_NAME,
  changesAmong,
  type Difference,
  differenceBetween,
  isSamePosition,
  type Position,
  positionKey,
  type ShareDifference,
} from "../../state/difference.ts";
import { isRetargeted, type Past } from "../../state/journal.ts";
import type { View } from "../../state/view.ts";
import { memo } from "../memory/memo.ts";
import { Recent } from "../memory/recent.ts";
import type { Subscription } from "../subscription/subscription.ts";
import { takersAmong } from "./takers.ts";

/**
 * How many elements are kept of each kind: enough for a transaction of 100,000 resources, and for a thousand views of
 * small ones.
 */
const ELEMENTS_KEPT = 200_000;

/** A difference, and what was derived from it when somebody asked. */
interface Way {
  readonly is: Difference;
  names?: ReadonlySet<string>;
  newcomers?: ReadonlySet<string>;
  retargeted?: ReadonlySet<string>;
  regrouped?: ReadonlySet<string>;
  /** By the tables of what is referenced: views with the same resources of this type may differ there. */
  vacated?: Map<string, boolean>;
  takers?: readonly string[];
  byTerm?: ReadonlyMap<string, readonly Change[]>;
  /** How often a few names were looked for among all changes. */
  searches: number;
}

/** After so many searches the changes are sorted by term, which takes as long as some searches. */
const SEARCHES = 4;

/**
 * What changed between a position and now; computed once for all clients at that position. Dropped with the next
 * transaction.
 */
export class SharedChanges {
  readonly #ttls: Ttls;
  readonly #ways = new Recent<Way>(ELEMENTS_KEPT, ({ is }) => is.size);
  /** What the ways of nodes that move have in common. */
  readonly #below = new Recent<Difference>(ELEMENTS_KEPT, ({ size }) => size);
  /** The one that was asked for last: most streams stand at one position. */
  #last: { readonly from: Position; readonly view: View; readonly type: TypeUrl; readonly way: Way } | undefined;

  constructor(ttls: Ttls) {
    this.#ttls = ttls;
  }

  clear(): void {
    this.#last = undefined;
    this.#ways.clear();
    this.#below.clear();
  }

  /** The whole difference. */
  between(from: Position, view: View, type: TypeUrl): Difference {
    return this.#way(from, view, type).is;
  }

  /**
   * The changes among which are all that concern a subscription. A few names are looked up, which costs as much as there
   * are names, not as what else changed.
   */
  concerning(
    { asksBroadly, names }: Pick<Subscription, "asksBroadly" | "names">,
    from: Position,
    view: View,
    type: TypeUrl,
  ): readonly Change[] {
    const ofNames = asksBroadly ? undefined : changesAmong(names, from, view, type, this.#ttls);
    if (ofNames !== undefined) return ofNames;
    const way = this.#way(from, view, type);
    if (asksBroadly || COST_OF_A_NAME * names.size >= way.is.size || way.searches++ < SEARCHES) return way.is.changes;
    const byTerm = this.byTerm(from, view, type);
    const concerning = new Set<Change>();
    for (const name of names) for (const change of byTerm.get(name) ?? []) concerning.add(change);
    return [...concerning];
  }

  /** The names that changed since a position. */
  names(from: Position, view: View, type: TypeUrl): ReadonlySet<string> {
    const way = this.#way(from, view, type);
    way.names ??= new Set(way.is.changes.map(({ name }) => name));
    return way.names;
  }

  /** The names that had no resource at a position and have one now. */
  newcomers(from: Position, view: View, type: TypeUrl): ReadonlySet<string> {
    const way = this.#way(from, view, type);
    way.newcomers ??= new Set(
      way.is.changes.flatMap(({ name, then, now }) => (then === undefined && now !== undefined ? [name] : [])),
    );
    return way.newcomers;
  }

  /** The names that had a resource at a position and have one now that references something else. */
  retargeted(from: Position, view: View, type: TypeUrl): ReadonlySet<string> {
    const way = this.#way(from, view, type);
    way.retargeted ??=
      way.is.retargeted ??
      new Set(way.is.changes.flatMap(({ name, then, now }) => (isRetargeted(then, now) ? [name] : [])));
    return way.retargeted;
  }

  /** Those of them that referenced resources of their own type, or do now: aggregate Clusters. */
  regrouped(from: Position, view: View, type: TypeUrl): ReadonlySet<string> {
    const retargeted = this.retargeted(from, view, type);
    if (retargeted.size === 0) return retargeted;
    const way = this.#way(from, view, type);
    const isOwn = (reference: Reference): boolean => reference.type === type;
    way.regrouped ??= new Set(
      way.is.changes.flatMap(({ name, then, now }) =>
        retargeted.has(name) && (then?.references.some(isOwn) || now?.references.some(isOwn)) ? [name] : [],
      ),
    );
    return way.regrouped;
  }

  /** Whether any of them references something of these types that has no resource, and did not reference it before. */
  isAnyVacated(from: Position, view: View, type: TypeUrl, owes: readonly TypeUrl[]): boolean {
    const retargeted = this.retargeted(from, view, type);
    if (retargeted.size === 0) return false;
    const way = this.#way(from, view, type);
    way.vacated ??= new Map();
    return memo(way.vacated, owes.map((one) => view.contentKey(one)).join(" "), () =>
      way.is.changes.some(
        ({ name, then, now }) =>
          retargeted.has(name) && then !== undefined && now !== undefined && isVacated(now, then, view, owes),
      ),
    );
  }

  /** The names that take over an address which another one gave up since a position, in the order to send them. */
  takers(from: Position, view: View, traits: TypeTraits): readonly string[] {
    const way = this.#way(from, view, traits.type);
    way.takers ??= takersAmong(
      way.is.changes.flatMap(({ then, now }) => (now === undefined ? [] : [{ resource: now, replaces: then }])),
      traits,
    );
    return way.takers;
  }

  /**
   * The difference by every term that a change may match: present and former names and aliases, and their collections.
   */
  byTerm(from: Position, view: View, type: TypeUrl): ReadonlyMap<string, readonly Change[]> {
    const way = this.#way(from, view, type);
    way.byTerm ??= changesByTerm(way.is);
    return way.byTerm;
  }

  #way(from: Position, view: View, type: TypeUrl): Way {
    const last = this.#last;
    if (last?.view === view && last.type === type && isSamePosition(last.from, from)) return last.way;
    const share: ShareDifference = (key, of) => this.#below.get(key, of);
    const make = (): Way => ({ is: differenceBetween(from, view, type, this.#ttls, share), searches: 0 });
    const way = this.#ways.get(wayKey(from, view, type), make);
    this.#last = { from, view, type, way };
    return way;
  }

  /** The former states with a TTL of names that changed since a position; undefined: none. */
  timedPast(from: Position, view: View, type: TypeUrl): ReadonlyMap<string, Past> | undefined {
    if (this.#ttls === "left-off") return undefined;
    const { changes } = this.between(from, view, type);
    const timed = changes.flatMap(({ name, then }) => (then?.ttlMs === undefined ? [] : [[name, then] as const]));
    return timed.length === 0 ? undefined : new Map(timed);
  }
}

/** Whether a resource references something of these types that has no resource, and that its former state did not. */
export function isVacated(
  { references }: Pick<Past, "references">,
  before: Pick<Past, "references">,
  view: View,
  owes: readonly TypeUrl[],
): boolean {
  return references.some(
    ({ type, name }) =>
      owes.includes(type) &&
      view.find(type, name) === undefined &&
      !before.references.some((one) => one.type === type && one.name === name),
  );
}

function changesByTerm({ changes }: Difference): ReadonlyMap<string, readonly Change[]> {
  const byTerm = new Map<string, Change[]>();
  for (const change of changes) {
    for (const term of termsFor(change)) memo(byTerm, term, (): Change[] => []).push(change);
  }
  return byTerm;
}

function termsFor({ name, then, now }: Change): ReadonlySet<string> {
  const called = then?.variant?.name ?? now?.variant?.name ?? name;
  const terms = new Set([name, called, ...(then?.aliases ?? []), ...(now?.aliases ?? [])]);
  const collection = globOf(called);
  return collection === undefined ? terms : terms.add(collection);
}

/** A key for the difference between a position and now. */
export function wayKey(from: Position, view: View, type: TypeUrl): string {
  return `${type} ${view.contentKey(type)} ${positionKey(from, view, type)}`;
}
