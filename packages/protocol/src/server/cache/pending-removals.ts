import type { Body, Segment } from "../../message/body.ts";
import type { Resource } from "../../resource/resource.ts";
import { isSame, type Ttls } from "../../resource/ttl.ts";
import { addSums } from "../../resource/version.ts";
import type { Difference } from "../../state/difference.ts";
import type { Past } from "../../state/journal.ts";
import { answeredAmong, replacedAmong } from "../subscription/locators.ts";
import { covers, type Scope } from "../subscription/subscription.ts";

/** A Cluster, or the endpoints of one, that a client was told of and that is gone: whatever the client holds may still use it. */
export interface PendingRemoval {
  /** As the client was last told, for a State of the World that goes on holding it; delta needs it only where it has a ttl. */
  readonly was?: Past | Resource;
  /** The revision since which nobody is told of it any more. */
  readonly since: number;
}

/**
 * The Clusters of one client that are gone and not yet removed (S-ORD-05). Immutable: streams with the same past share one
 * set, and what is made of it.
 */
export class PendingRemovals {
  readonly names: ReadonlyMap<string, PendingRemoval>;
  /** The oldest and the newest `since`; of an empty set, never and always. */
  readonly oldest: number;
  readonly newest: number;
  /** What it adds to the version of a type. */
  readonly sum: bigint;
  /** Its resources. */
  readonly segment: Segment;

  constructor(names: ReadonlyMap<string, PendingRemoval>) {
    this.names = names;
    let oldest = Number.POSITIVE_INFINITY;
    let newest = 0;
    let sum = 0n;
    const puts: Resource[] = [];
    for (const { was, since } of names.values()) {
      oldest = Math.min(oldest, since);
      newest = Math.max(newest, since);
      if (was === undefined || !("bytes" in was)) continue;
      sum = addSums(sum, was.sum);
      puts.push(was);
    }
    this.oldest = oldest;
    this.newest = newest;
    this.sum = sum;
    this.segment = { puts, removed: [], missing: [] };
  }

  get isEmpty(): boolean {
    return this.names.size === 0;
  }

  /** With names that were there again in the meantime: they are gone since `revision`. */
  goneAnew(isAnew: (name: string) => boolean, revision: number): PendingRemovals {
    const anew = [...this.names].filter(([name]) => isAnew(name));
    if (anew.length === 0) return this;
    const renewed = anew.map(([name, held]) => [name, { ...held, since: revision }] as const);
    return new PendingRemovals(new Map([...this.names, ...renewed]));
  }

  /** Without the names that nothing is to be known of any more. */
  without(isForgotten: (name: string) => boolean): PendingRemovals {
    if (this.isEmpty) return this;
    const left = [...this.names].filter(([name]) => !isForgotten(name));
    if (left.length === this.names.size) return this;
    return setOf(new Map(left));
  }
}

/** Nothing is held over. */
export const nothingHeldOver: PendingRemovals = new PendingRemovals(new Map());

/** What may be removed. */
export interface Removable {
  /** Clusters that are gone since this revision or before. */
  readonly to: number;
  /** The same of Clusters that the client asks for by name: as long as it does, requests may be on their way there. */
  readonly namedTo: number;
  /** Clusters that may be removed however long they are gone: nothing the client was told of sends it there; undefined: there are none. */
  readonly goesAtOnce: ((name: string) => boolean) | undefined;
}

/** What becomes of a client's Clusters between where it stands and now, if what is gone is not removed yet. */
export interface Step {
  readonly pendingRemovals: PendingRemovals;
  /** Something is new to the client, or not what it holds. */
  readonly hasPuts: boolean;
}

/** Takes a step from what is held over to what will be. `before`, `after`: what was asked for then, and is now. `revision`: of now. */
export function stepFrom(
  before: PendingRemovals,
  { changes }: Difference,
  { before: asked, after: asks }: { readonly before: Scope; readonly after: Scope },
  { revision, goesAtOnce, ttls = "left-off" }: { revision: number; goesAtOnce: Removable["goesAtOnce"]; ttls?: Ttls },
): Step {
  const names = new Map<string, PendingRemoval>(before.names);
  const variants: Resource[] = [];
  let isChanged = false;
  let hasPuts = false;
  for (const { name, then, now } of changes) {
    const wasCovered = then !== undefined && covers(asked, then);
    if (now !== undefined && covers(asks, now)) {
      const told = names.get(name)?.was ?? (wasCovered ? then : undefined);
      isChanged = names.delete(name) || isChanged;
      hasPuts ||= !isSame(told, now, ttls);
      if (now.variant !== undefined) variants.push(now);
    } else if (wasCovered && covers(asks, then) && !names.has(name)) {
      names.set(name, { was: then, since: goesAtOnce?.(name) === true ? Number.NEGATIVE_INFINITY : revision });
      isChanged = true;
    }
  }
  for (const key of replacedAmong(names.keys(), variants)) isChanged = names.delete(key) || isChanged;
  return { pendingRemovals: isChanged ? setOf(names) : before, hasPuts };
}

/** A body of delta without the removals that have to wait, and with those that have waited. */
export interface SplitBody {
  readonly pendingRemovals: PendingRemovals;
  readonly body: Body;
}

/**
 * Takes what goes out of a body of delta, and puts in what was held over and may go. `asked`: names whose absence is an
 * answer, which nobody waits for. `pastOf`: what a name was that the client holds for a time only.
 */
export function withhold(
  body: Body,
  before: PendingRemovals,
  {
    revision,
    removable,
    asked = nobody,
    pastOf = () => undefined,
  }: {
    revision: number;
    removable: Removable;
    asked?: Pick<ReadonlySet<string>, "has">;
    pastOf?: (name: string) => Past | undefined;
  },
): SplitBody {
  const names = new Map<string, PendingRemoval>(before.names);
  const segments = body.segments.map((segment): Segment => {
    for (const { name } of segment.puts) names.delete(name);
    for (const term of answeredAmong(names.keys(), segment.puts)) names.delete(term);
    if (segment.removed.length === 0) return segment;
    // One variant takes the place of another at once (S-LOC-07).
    const replaced = replacedAmong(segment.removed, segment.puts);
    const goesNow = (name: string): boolean => asked.has(name) || replaced.has(name);
    const removed = segment.removed.filter(goesNow);
    for (const name of segment.removed) {
      if (goesNow(name)) names.delete(name);
      else if (!names.has(name)) {
        const since = removable.goesAtOnce?.(name) === true ? Number.NEGATIVE_INFINITY : revision;
        const was = pastOf(name);
        names.set(name, { ...(was !== undefined && { was }), since });
      }
    }
    return { ...segment, removed };
  });
  const { stays, goes } = partAt(setOf(names), removable.to);
  if (goes.length > 0) segments.push({ puts: [], removed: goes, missing: [] });
  return { pendingRemovals: stays, body: { ...body, segments } };
}

const nobody: ReadonlySet<string> = new Set();

function setOf(names: ReadonlyMap<string, PendingRemoval>): PendingRemovals {
  return names.size === 0 ? nothingHeldOver : new PendingRemovals(names);
}

/** Of a set, what stays and what goes when everything that is gone since `revision` or before may go. */
export interface RemovalSplit {
  readonly stays: PendingRemovals;
  readonly goes: readonly string[];
}

/** Parts a set at a revision. */
export function partAt(set: PendingRemovals, revision: number): RemovalSplit {
  if (set.oldest > revision) return { stays: set, goes: [] };
  const goes = [...set.names].filter(([, { since }]) => since <= revision).map(([name]) => name);
  const gone = new Set(goes);
  return { stays: set.without((name) => gone.has(name)), goes };
}
