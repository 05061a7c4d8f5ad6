import { type Dialect, forKind } from "../../dialect/dialect.ts";
import type { View } from "../../state/view.ts";
import type { CurrentView } from "../cache/current-view.ts";
import type { Wait } from "../contract/wait.ts";
import { LazyMap, LazySet } from "../memory/lazy.ts";
import { nothingHeldBack } from "../type/held-back.ts";
import type { TypeStream } from "../type/type-stream.ts";
import type { Order, Waits } from "./order.ts";

/**
 * A type that waits: for an ACK before newer content is sent (`ack`), for its place in the order (`order`), or for a
 * reconnected client to subscribe to what it uses (`return`), such as Clusters (`clusters`). `limitMs`: how long it may
 * wait, in milliseconds.
 */
export interface WaitingType {
  readonly type: TypeStream;
  readonly what: "ack" | "order" | "return" | "clusters";
  readonly limitMs: number;
}

/** A type began to wait, or stopped. */
export interface WaitChange {
  readonly kind: "wait-began" | "wait-ended";
  readonly type: TypeStream;
  readonly wait: Wait;
}

/** What the waits of a stream read and tell of its order. */
type OrderOfWaits = Pick<
  Order,
  | "waitsOf"
  | "removalWaitOf"
  | "absenceWaitOf"
  | "awaitsClusters"
  | "awaitsReturn"
  | "stopAwaitingClusters"
  | "endReturn"
  | "countGiven"
  | "overruleUser"
  | "overruleRemovals"
  | "overruleAbsences"
>;

const nothing: ReadonlyMap<TypeStream, Waits> = new Map();
const returning: Wait = { for: "return" };

/** Tracks what waits on one stream, how long it may wait, and what happens after that. */
export class StreamWaits {
  readonly #dialect: Dialect;
  readonly #order: OrderOfWaits;
  readonly #isAggregated: boolean;
  #waits = new LazyMap<TypeStream, Waits>();
  #before = nothing;
  /** How long a type has waited, in milliseconds, by the timers that fired, and since which revision. */
  readonly #waited = new LazyMap<TypeStream, { readonly ms: number; readonly since: number }>();
  /**
   * The types whose removals began to wait when nothing awaited an ACK. Their time goes on while later changes do, as that
   * of a reconnected client.
   */
  readonly #timed = new LazySet<TypeStream>();

  constructor(dialect: Dialect, order: OrderOfWaits, isAggregated: boolean) {
    this.#dialect = dialect;
    this.#order = order;
    this.#isAggregated = isAggregated;
  }

  get isEmpty(): boolean {
    return this.#waits.size === 0;
  }

  /** What a type waits for; undefined: nothing. */
  of(type: TypeStream): Waits | undefined {
    return this.#waits.get(type);
  }

  /** A flush begins: what waits is determined again. */
  begin(): void {
    this.#before = this.#waits.size === 0 ? nothing : this.#waits;
    if (this.#before !== nothing) this.#waits = new LazyMap();
  }

  /** Determines what a type has to wait for; undefined: nothing. */
  find(type: TypeStream, current: CurrentView): Waits | undefined {
    const waits = this.#order.waitsOf(type, current);
    if (waits !== undefined) this.#waits.set(type, waits);
    return waits;
  }

  /** Determines what the pending removals and untold absences of a type wait for. */
  findOfRemovals(type: TypeStream): void {
    const ofRemovals = this.#removalWaitOf(type);
    const isOwn = ofRemovals !== undefined && ofRemovals.for !== "return";
    if (isOwn && !type.deliveries.isBlocked) this.#timed.add(type);
    const wait = this.#order.absenceWaitOf(type) ?? ofRemovals;
    if (wait !== undefined) this.#waits.set(type, { first: wait, names: nothingHeldBack, maySpeak: true });
  }

  /** How the waits changed in the last flush. */
  changes(types: readonly TypeStream[]): readonly WaitChange[] {
    if (this.#before.size + this.#waits.size === 0) return none;
    return types.flatMap((type): WaitChange[] => {
      const [then, now] = [this.#before.get(type), this.#waits.get(type)];
      if (now === undefined) {
        this.#waited.delete(type);
        this.#timed.delete(type);
      }
      if (then !== undefined && now === undefined) return [{ kind: "wait-ended", type, wait: then.first }];
      if (then === undefined && now !== undefined) return [{ kind: "wait-began", type, wait: now.first }];
      return [];
    });
  }

  /** Whether the client has time left to subscribe to what it uses. */
  isReturnAwaited(types: readonly TypeStream[]): boolean {
    return this.#order.awaitsReturn && types.some((type) => this.#returnOf(type) !== undefined);
  }

  /** The types that wait, and for how long they may. */
  waiting(types: readonly TypeStream[], view: View): readonly WaitingType[] {
    // On most streams nothing waits.
    let found: WaitingType[] | undefined;
    const add = (waiting: WaitingType): void => {
      found ??= [];
      found.push(waiting);
    };
    for (const type of types) {
      const isBlocked = type.isWaiting(view);
      if (isBlocked) {
        const withheld = this.#isAggregated ? forKind(this.#dialect.withheldAckLimitMs, type.traits.kind) : undefined;
        add({ type, what: "ack", limitMs: withheld ?? this.#dialect.ackLimitMs });
      }
      // Removals wait for their users only once the client has what replaces the deleted resources.
      const isEarly = isBlocked && type.deferredRemovals !== undefined && !this.#timed.has(type);
      const wait = (isEarly ? undefined : this.#waits.get(type)?.first) ?? this.#returnOf(type);
      // Only a new version ends the wait for a resource that was NACKed.
      if (wait === undefined || (wait.for === "users" && wait.isNacked)) continue;
      if (this.#order.awaitsClusters !== undefined && this.#isForClusters(type, wait))
        add({ type, what: "clusters", limitMs: this.#patienceForClusters(this.#order.awaitsClusters) });
      // A wait of another kind has its own time, also if the two limits are equal.
      else add({ type, what: wait.for === "return" ? "return" : "order", limitMs: this.#patienceWith(wait) });
    }
    return found ?? nobodyWaits;
  }

  /**
   * Handles the timeout of a wait that began at revision `since`. Returns what timed out; undefined: the client loses
   * nothing by it, or the wait continues.
   */
  giveUp({ type, what, limitMs }: WaitingType, since: number, current: CurrentView): Wait | "ack" | undefined {
    if (what === "ack") {
      if (!type.isWaiting(current.view)) return undefined;
      type.deliveries.release();
      return "ack";
    }
    if (what === "clusters") {
      const why = this.#order.awaitsClusters;
      // A client that turned out meanwhile to have come back has longer.
      if (why === undefined || this.#patienceForClusters(why) <= limitMs) this.#order.stopAwaitingClusters();
      return undefined;
    }
    if (what === "return") {
      this.#order.endReturn();
      return undefined;
    }
    const wait = this.#waits.get(type)?.first;
    if (wait === undefined || wait.for === "return") return undefined;
    const before = this.#waited.get(type);
    const waited = { ms: (before?.ms ?? 0) + this.#patienceWith(wait), since: before?.since ?? since };
    if (waited.ms < this.#dialect.orderLimitMs) {
      this.#waited.set(type, waited);
      this.#order.countGiven();
      return undefined;
    }
    this.#waited.delete(type);
    if (wait.for !== "users" && wait.for !== "release" && !isOfAbsence(type, wait))
      return this.#order.overruleUser(type, waited.since, current) ? wait : undefined;
    // What was pending when the wait began is done; the present removals and absences are newer.
    const isPending = ({ oldest }: { readonly oldest: number }): boolean => oldest <= waited.since;
    const [removals, absences] = [isPending(type.pendingRemovals), isPending(type.untoldAbsences)];
    if (removals) this.#order.overruleRemovals(since);
    if (absences) this.#order.overruleAbsences(since);
    return removals || absences ? wait : undefined;
  }

  /**
   * The timeout of a wait in milliseconds; with clients that withhold the ACK of Clusters, the limit is split into
   * short periods.
   */
  #patienceWith(wait: Wait): number {
    const { orderLimitMs } = this.#dialect;
    if (wait.for === "return") return this.#grace;
    if (wait.for !== "cluster") return orderLimitMs;
    return Math.min(this.#withheldClustersMs ?? orderLimitMs, orderLimitMs);
  }

  /**
   * How long a client has to subscribe to Clusters, in milliseconds. One that withholds their ACK while one of them
   * warms withholds the first request of a new stream, too: Envoy until its `initial_fetch_timeout` ends, 15 seconds
   * unless it is configured (client-behaviours A16).
   */
  #patienceForClusters(why: "came-back" | "unannounced"): number {
    const { orderLimitMs, resumeGraceMs } = this.#dialect;
    if (why === "unannounced") return resumeGraceMs;
    return this.#withheldClustersMs === undefined ? this.#grace : orderLimitMs;
  }

  /**
   * How long a reconnected client has to subscribe to what it uses, in milliseconds. Per-type streams that broke
   * reconnect each in its own time.
   */
  get #grace(): number {
    const { resumeGraceMs, separateResumeGraceMs } = this.#dialect;
    return this.#isAggregated ? resumeGraceMs : separateResumeGraceMs;
  }

  /** Whether a wait ends when the client subscribes to Clusters. */
  #isForClusters({ untoldAbsences }: TypeStream, wait: Wait): boolean {
    return wait.for === "cluster" || (wait.for === "return" && this.#isAggregated && !untoldAbsences.isEmpty);
  }

  /** The period after which the ACK of Clusters counts as withheld; undefined: the client does not withhold it. */
  get #withheldClustersMs(): number | undefined {
    return this.#isAggregated ? forKind(this.#dialect.withheldAckLimitMs, "cds") : undefined;
  }

  #removalWaitOf(type: TypeStream): Wait | undefined {
    const { deferredRemovals, pendingRemovals } = type;
    // What a type has to send waits first: it may replace what is to be removed.
    if (deferredRemovals === undefined || pendingRemovals.isEmpty || this.#waits.has(type)) return undefined;
    const wait = this.#order.removalWaitOf(pendingRemovals.oldest, deferredRemovals);
    if (wait !== undefined) return wait;
    // What the client has not ACKed yet may be why it does not unsubscribe.
    return type.deliveries.isBlocked && !this.#timed.has(type) ? undefined : releaseOf(type);
  }

  /**
   * A reconnected client gets its time whether or not anything waits for it, and also while changes await their ACK: if it
   * began anew with each change, it would not end as long as changes come more often.
   */
  #returnOf(type: TypeStream): Wait | undefined {
    return type.deferredRemovals !== undefined && this.#order.awaitsReturn ? returning : undefined;
  }
}

const none: readonly WaitChange[] = [];
const nobodyWaits: readonly WaitingType[] = [];

/** Whether a wait is that of an absence which a Cluster in use keeps from being told. */
function isOfAbsence({ traits: { kind }, untoldAbsences }: TypeStream, wait: Wait): boolean {
  const isOfCluster = wait.for === "endpoints" || wait.for === "secret";
  return isOfCluster && (kind === "eds" || kind === "sds") && !untoldAbsences.isEmpty;
}

function releaseOf(type: TypeStream): Wait | undefined {
  const name = type.deferredRemovals?.unreleased;
  return name === undefined ? undefined : { for: "release", name };
}
