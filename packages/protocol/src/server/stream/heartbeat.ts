import type { Body } from "../../message/body.ts";
import type { Variant } from "../../message/variant.ts";
import type { Resource } from "../../resource/resource.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import { isStill, type Position } from "../../state/difference.ts";
import type { Past } from "../../state/journal.ts";
import type { CurrentView } from "../cache/current-view.ts";
import { LazyMap, LazySet } from "../memory/lazy.ts";
import type { TypeStream } from "../type/type-stream.ts";

/** The heartbeat of a type for one client (S-TTL-09, S-TTL-12). */
interface TypeHeartbeat {
  readonly body: Body;
  /** When the next heartbeat is due, in milliseconds. */
  readonly everyMs: number;
}

/** The bounds of the interval, in milliseconds: shorter TTLs cannot be kept up, and very long timers overflow. */
const MIN_INTERVAL_MS = 100;
const MAX_INTERVAL_MS = 24 * 60 * 60 * 1000;

/**
 * How often a TTL is renewed, in milliseconds: three times while it runs, so that a late or lost heartbeat does no harm
 * (S-TTL-14).
 */
function intervalOf(ttlMs: number): number {
  return Math.min(MAX_INTERVAL_MS, Math.max(MIN_INTERVAL_MS, Math.floor(ttlMs / 3)));
}

/**
 * The heartbeat of one type on one stream: the resources with a TTL as the client was last sent them, whether or not
 * newer content waits. One body serves all streams that hold the same. In delta it has names, versions and TTLs. In
 * State of the World it has whole resources, and for a full-state type all of them: to a client, a resource without a
 * body does not exist, and one that is not listed is deleted (client-behaviours E2, E3). Undefined: the client holds
 * nothing with a TTL.
 *
 * @spec S-TTL-09, S-TTL-12
 */
function heartbeatOf(type: TypeStream, variant: Variant, current: CurrentView): TypeHeartbeat | undefined {
  const { position } = type.sentState;
  if (position === undefined) return undefined;
  if (variant === "sotw" && type.traits.isFullState) return repetitionOf(type, current);
  const { held, shortestMs } = heldForATime(type, position, current);
  if (held.length === 0) return undefined;
  const known = variant === "sotw" ? type.deliveries.held?.version : undefined;
  const version = known ?? current.version(variant, type.traits.type);
  return {
    body: current.shared.bodies.heartbeat(variant, type.traits.type, version, held),
    everyMs: intervalOf(shortestMs),
  };
}

/** Decides when the types of one stream get heartbeats. */
export class Heartbeats {
  readonly #due = new LazySet<TypeStream>();
  /** Types of which the client was sent everything since the last heartbeat. */
  readonly #confirmed = new LazySet<TypeStream>();
  /** How soon each type needs its next heartbeat, in milliseconds. */
  readonly #soon = new LazyMap<TypeStream, number>();

  get isDue(): boolean {
    return this.#due.size > 0;
  }

  /** Marks a heartbeat of a type as due. Returns whether the client is sent TTLs at all. */
  expect(type: TypeStream): boolean {
    if (type.ttl !== "told") return false;
    this.#due.add(type);
    return true;
  }

  /** Notes that the client was just sent everything of a type. */
  confirm(type: TypeStream): void {
    this.#confirmed.add(type);
  }

  /** The heartbeat that is due; undefined if there is none, or if everything was sent since the last one. */
  next(type: TypeStream, variant: Variant, current: CurrentView): Body | undefined {
    if (!this.#due.delete(type)) return undefined;
    const isConfirmed = this.#confirmed.delete(type);
    const heartbeat = heartbeatOf(type, variant, current);
    if (heartbeat === undefined) return undefined;
    this.#soon.set(type, heartbeat.everyMs);
    return isConfirmed ? undefined : heartbeat.body;
  }

  /**
   * How soon each type needs its next heartbeat, in milliseconds, by the present resources and by those that the client
   * was last sent.
   */
  *needs(
    types: readonly TypeStream[],
    currentOf: (type: TypeStream) => CurrentView,
  ): Iterable<{ readonly type: TypeUrl; readonly ms: number }> {
    for (const type of types) {
      const { ttl, traits, subscription, position } = type;
      if (ttl !== "told" || position === undefined) continue;
      const current = currentOf(type);
      if (current.ttls === "left-off") continue;
      const now = current.selectTimed(traits.type, subscription).shortestMs;
      const before = position.view === current.view ? now : position.view.timed(traits.type).shortestMs;
      const shortestMs = Math.min(now, before);
      const soon = this.#soon.get(type) ?? Number.POSITIVE_INFINITY;
      const ms = Math.min(soon, shortestMs === Number.POSITIVE_INFINITY ? shortestMs : intervalOf(shortestMs));
      if (ms !== Number.POSITIVE_INFINITY) yield { type: traits.type, ms };
    }
    this.#soon.clear();
  }
}

/** A repetition of everything that the client holds: with pending removals, and without what it unsubscribed from. */
function repetitionOf({ deliveries, subscription }: TypeStream, current: CurrentView): TypeHeartbeat | undefined {
  const body = deliveries.held;
  if (body?.ttls !== "told") return undefined;
  const { shortestMs } = current.shared.bodies.timedIn(body);
  if (shortestMs === Number.POSITIVE_INFINITY) return undefined;
  const everyMs = intervalOf(shortestMs);
  if (subscription.isSoleWildcard) return { body, everyMs };
  const puts = body.segments.flatMap((segment) => segment.puts);
  const covered = puts.filter((put) => subscription.covers(put));
  if (covered.length === puts.length) return { body, everyMs };
  return { body: { ...body, segments: [{ puts: covered, removed: [], missing: [] }] }, everyMs };
}

interface HeldResources {
  readonly held: readonly (Past | Resource)[];
  readonly shortestMs: number;
}

function heldForATime(type: TypeStream, position: Position, current: CurrentView): HeldResources {
  const { subscription, deliveries, pendingRemovals, traits, sentState } = type;
  const { resources, shortestMs } = current.selectTimed(traits.type, subscription);
  const isUpToDate =
    isStill(position, current.view, traits.type) &&
    sentState.isPlain &&
    deliveries.unconfirmed.size === 0 &&
    pendingRemovals.isEmpty;
  if (isUpToDate) return { held: resources, shortestMs };
  const byName = new Map<string, Past | Resource>(resources.map((resource) => [resource.name, resource]));
  const note = (name: string, sent: Past | Resource | undefined): void => {
    if (sent?.ttlMs === undefined) byName.delete(name);
    else byName.set(name, sent);
  };
  for (const { name, then } of current.differenceSince(position, traits.type).changes) {
    note(name, then !== undefined && subscription.covers(then) ? then : undefined);
  }
  for (const [name, mark] of sentState.sentOutOfOrder)
    note(name, mark !== undefined && "bytes" in mark ? mark : undefined);
  for (const [name, { was }] of pendingRemovals.names) note(name, was);
  const isOwed = (term: string): boolean => sentState.pendingNames.has(term) || sentState.unansweredNames.has(term);
  const isLeftOut = ({ name, aliases }: Past): boolean =>
    deliveries.unconfirmed.has(name) || isOwed(name) || aliases.some(isOwed);
  const held = [...byName.values()].filter((one) => !isLeftOut(one));
  // A loop, because a call takes no more than some 100,000 arguments.
  let shortest = Number.POSITIVE_INFINITY;
  for (const { ttlMs = shortest } of held) shortest = Math.min(shortest, ttlMs);
  return { held, shortestMs: shortest };
}
