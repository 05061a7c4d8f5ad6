import type { Body, Segment } from "../../message/body.ts";
import type { Resource } from "../../resource/resource.ts";
import { isSame, type Ttls } from "../../resource/ttl.ts";
import { addSums, formatMark, MARK_LENGTH } from "../../resource/version.ts";
import type { Change } from "../../state/difference.ts";
import type { Past } from "../../state/journal.ts";
import { answeredAmong, replacedAmong } from "../subscription/locators.ts";
import { covers, type Scope } from "../subscription/subscription.ts";

/** Of how many resources a version has marks. */
const MARKS = 48;

/** The marks at the end of a version: those of resources that the client holds beside a state. */
export function marksIn(version: string): readonly string[] {
  const at = version.indexOf(".");
  return at === -1 || version.length - at > 1 + MARKS * MARK_LENGTH
    ? []
    : (version.slice(at + 1).match(new RegExp(`.{${MARK_LENGTH}}`, "g")) ?? []);
}

/** A deleted Cluster, or endpoints of one, that the client still holds: resources that the client holds may use it. */
export interface PendingRemoval {
  /**
   * As the client was last sent it, for a State of the World that goes on listing it; delta needs it only for a TTL.
   */
  readonly was?: Past | Resource;
  /** The revision since which the resource counts as deleted. */
  readonly since: number;
}

/**
 * The deleted Clusters that one client still holds (S-ORD-05). Immutable: streams with the same past share a set, and
 * all that is computed from it.
 */
export class PendingRemovals {
  readonly names: ReadonlyMap<string, PendingRemoval>;
  /** The lowest and highest `since`; of an empty set infinity and 0. */
  readonly oldest: number;
  readonly newest: number;
  /** What the set adds to the sum behind the type version. */
  readonly sum: bigint;
  /**
   * The end of the version of a state that lists the set: marks by which a server that did not send it knows what it
   * lists. Empty if these are too many.
   */
  readonly marks: string;
  /** The resources of the set. */
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
    this.marks =
      puts.length > MARKS
        ? ""
        : puts
            .map((put) => formatMark(put.sum))
            .sort()
            .join("");
    this.segment = { puts, removed: [], missing: [] };
  }

  get isEmpty(): boolean {
    return this.names.size === 0;
  }

  /** The set in which matching names count as deleted at `revision`. */
  deletedAt(matches: (name: string) => boolean, revision: number): PendingRemovals {
    const matching = [...this.names].filter(([name]) => matches(name));
    if (matching.length === 0) return this;
    const renewed = matching.map(([name, held]) => [name, { ...held, since: revision }] as const);
    return new PendingRemovals(new Map([...this.names, ...renewed]));
  }

  /**
   * The set in which these names, which were held back when they were deleted, are as the client was sent them; without
   * those that it was not sent. `sent`: what it was sent; undefined: nothing yet, so that what it holds is unknown.
   */
  asSent(names: readonly string[], sent: () => ReadonlyMap<string, Resource> | undefined): PendingRemovals {
    const deleted = names.filter((name) => this.names.has(name));
    const known = deleted.length === 0 ? undefined : sent();
    if (known === undefined) return this;
    const left = new Map(this.names);
    for (const name of deleted) {
      const was = known.get(name);
      const held = this.names.get(name);
      if (was === undefined || held === undefined) left.delete(name);
      else left.set(name, { ...held, was });
    }
    return setOf(left);
  }

  /** The set without matching names. */
  without(isForgotten: (name: string) => boolean): PendingRemovals {
    if (this.isEmpty) return this;
    const left = [...this.names].filter(([name]) => !isForgotten(name));
    if (left.length === this.names.size) return this;
    return setOf(new Map(left));
  }
}

/** The empty set. */
export const noPendingRemovals: PendingRemovals = new PendingRemovals(new Map());

/** What may be removed from the client. */
export interface Removable {
  /** Clusters that were deleted at this revision or before. */
  readonly to: number;
  /** The same for Clusters that the client subscribes to by name: while it does, requests may go to them. */
  readonly namedTo: number;
  /** Clusters that may be removed at once, because nothing that the client was sent uses them; undefined: none. */
  readonly goesAtOnce: ((name: string) => boolean) | undefined;
}

/** Nothing has to wait. */
export const everythingRemovable: Removable = {
  to: Number.POSITIVE_INFINITY,
  namedTo: Number.POSITIVE_INFINITY,
  goesAtOnce: undefined,
};

/** The pending removals of a client after a difference. */
export interface Step {
  readonly pendingRemovals: PendingRemovals;
  /** Whether anything is new to the client, or differs from what it holds. */
  readonly hasPuts: boolean;
}

/**
 * Computes the pending removals after a difference. `before`, `after`: the subscription at the position and now;
 * `revision`: the present one.
 */
export function stepFrom(
  before: PendingRemovals,
  changes: readonly Change[],
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

/** A delta body without removals that have to wait, and with pending removals that are due. */
export interface SplitBody {
  readonly pendingRemovals: PendingRemovals;
  readonly body: Body;
}

/**
 * Moves removals that have to wait from a delta body to the pending removals, and adds pending removals that are due to
 * the body. `asked`: names whose absence answers the client's request, which never wait. `pastOf`: the former state of
 * a name with a TTL.
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
    // One variant replaces another at once (S-LOC-07).
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
  return names.size === 0 ? noPendingRemovals : new PendingRemovals(names);
}

/** A set split at a revision: `goes` are the names deleted at it or before. */
export interface RemovalSplit {
  readonly stays: PendingRemovals;
  readonly goes: readonly string[];
}

/** Splits a set at a revision. */
export function partAt(set: PendingRemovals, revision: number): RemovalSplit {
  if (set.oldest > revision) return { stays: set, goes: [] };
  const goes = [...set.names].filter(([, { since }]) => since <= revision).map(([name]) => name);
  const gone = new Set(goes);
  return { stays: set.without((name) => gone.has(name)), goes };
}
