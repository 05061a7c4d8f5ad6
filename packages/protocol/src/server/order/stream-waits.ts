import { type Dialect, forKind } from "../../dialect/dialect.ts";
import type { View } from "../../state/view.ts";
import type { SharedResponses } from "../cache/shared-responses.ts";
import type { Wait } from "../contract/wait.ts";
import { nothingHeldBack } from "../type/held-back.ts";
import type { TypeStream } from "../type/type-stream.ts";
import type { Order, Waits } from "./order.ts";

/**
 * Something waits: newer content of a type for the ACK of what was sent, or what was to be sent for its place in the order
 * or, from a client that came back, for its request of Clusters.
 */
export interface WaitingType {
  readonly type: TypeStream;
  readonly what: "ack" | "order" | "clusters";
  readonly limitMs: number;
}

/** A type began to wait, or waits no more. */
export interface WaitChange {
  readonly kind: "wait-began" | "wait-ended";
  readonly type: TypeStream;
  readonly wait: Wait;
}

const nothing: ReadonlyMap<TypeStream, Waits> = new Map();
const returning: Wait = { for: "return" };

/** What waits on one stream, for how long it may, and what becomes of it when that is over. */
export class StreamWaits {
  readonly #dialect: Dialect;
  readonly #order: Order;
  readonly #isAggregated: boolean;
  #waits = new Map<TypeStream, Waits>();
  #before = nothing;
  /** For how many milliseconds a type has waited, as far as timers went off, and since which revision. */
  readonly #waited = new Map<TypeStream, { readonly ms: number; readonly since: number }>();

  constructor(dialect: Dialect, order: Order, isAggregated: boolean) {
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

  /** A turn begins: what still waits is found out anew. */
  begin(): void {
    this.#before = this.#waits.size === 0 ? nothing : this.#waits;
    if (this.#before !== nothing) this.#waits = new Map();
  }

  /** What a type has to wait for before it says all of it; undefined: nothing. */
  find(type: TypeStream, view: View, responses: SharedResponses): Waits | undefined {
    const waits = this.#order.waitsOf(type, view, responses);
    if (waits !== undefined) this.#waits.set(type, waits);
    return waits;
  }

  /** The same of the removal of what is held over. */
  findOfRemovals(type: TypeStream, responses: SharedResponses): void {
    if (type.pendingRemovals.isEmpty) return;
    const wait = this.#order.removalWaitOf(type.pendingRemovals.oldest, responses) ?? releaseOf(type);
    if (wait !== undefined) this.#waits.set(type, { first: wait, names: nothingHeldBack, maySpeak: true });
  }

  /** What became of the waits in the turn that began last. */
  changes(types: readonly TypeStream[]): readonly WaitChange[] {
    if (this.#before.size + this.#waits.size === 0) return none;
    return types.flatMap((type): WaitChange[] => {
      const [then, now] = [this.#before.get(type), this.#waits.get(type)];
      if (now === undefined) this.#waited.delete(type);
      if (then !== undefined && now === undefined) return [{ kind: "wait-ended", type, wait: then.first }];
      if (then === undefined && now !== undefined) return [{ kind: "wait-began", type, wait: now.first }];
      return [];
    });
  }

  /** What waits, and for how long it may. */
  waiting(types: readonly TypeStream[], view: View): readonly WaitingType[] {
    // Most streams wait for nothing.
    let found: WaitingType[] | undefined;
    const add = (waiting: WaitingType): void => {
      found ??= [];
      found.push(waiting);
    };
    for (const type of types) {
      if (type.isWaiting(view)) {
        const withheld = this.#isAggregated ? forKind(this.#dialect.withheldAckLimitMs, type.traits.kind) : undefined;
        add({ type, what: "ack", limitMs: withheld ?? this.#dialect.ackLimitMs });
        // Removals wait for their users when the client has what takes the place of what is gone.
        if (type.deferredRemovals !== undefined) continue;
      }
      const wait = this.#waits.get(type)?.first ?? this.#returnOf(type);
      // Nothing but another version ends the wait for what was refused.
      if (wait === undefined || (wait.for === "users" && wait.isRefused)) continue;
      if (wait.for === "cluster" && this.#order.awaitsClusters !== undefined)
        add({ type, what: "clusters", limitMs: this.#graceOf(this.#order.awaitsClusters) });
      else add({ type, what: "order", limitMs: this.#patienceWith(wait) });
    }
    return found ?? nobodyWaits;
  }

  /**
   * Nobody waits any longer with what a type had to say at a revision. Returns what was waited for in vain; undefined if
   * nothing is lost by that.
   */
  giveUp({ type, what }: WaitingType, since: number, view: View, responses: SharedResponses): Wait | "ack" | undefined {
    if (what === "ack") {
      if (!type.isWaiting(view)) return undefined;
      type.deliveries.release();
      return "ack";
    }
    if (what === "clusters") {
      this.#order.stopAwaitingClusters();
      return undefined;
    }
    const wait = this.#waits.get(type)?.first ?? this.#returnOf(type);
    if (wait === undefined) return undefined;
    if (wait.for === "return") {
      this.#order.endReturn();
      return undefined;
    }
    const before = this.#waited.get(type);
    const waited = { ms: (before?.ms ?? 0) + this.#patienceWith(wait), since: before?.since ?? since };
    if (waited.ms < this.#dialect.orderLimitMs) {
      this.#waited.set(type, waited);
      this.#order.countGiven();
      return undefined;
    }
    this.#waited.delete(type);
    if (wait.for !== "users" && wait.for !== "release")
      return this.#order.overruleUser(type, waited.since, view, responses) ? wait : undefined;
    // Of what was gone when the wait began, something else may have been removed since.
    if (type.pendingRemovals.oldest > waited.since) return undefined;
    this.#order.overruleRemovals(since);
    return wait;
  }

  /** How long is waited at a stretch: with a client that withholds the ACK of Clusters, the limit comes in short pieces. */
  #patienceWith(wait: Wait): number {
    const { orderLimitMs, withheldAckLimitMs } = this.#dialect;
    if (wait.for === "return") return this.#graceOf("came-back");
    if (wait.for !== "cluster") return orderLimitMs;
    const withheld = this.#isAggregated ? forKind(withheldAckLimitMs, "cds") : undefined;
    return Math.min(withheld ?? orderLimitMs, orderLimitMs);
  }

  /** How long a client is given to ask for what it uses. Streams of its own that break come back each in its own time. */
  #graceOf(why: "came-back" | "unannounced"): number {
    const { resumeGraceMs, separateResumeGraceMs } = this.#dialect;
    return this.#isAggregated || why === "unannounced" ? resumeGraceMs : separateResumeGraceMs;
  }

  /** A client that came back is given time, whether or not anything waits for it. */
  #returnOf(type: TypeStream): Wait | undefined {
    return type.deferredRemovals !== undefined && this.#order.awaitsReturn ? returning : undefined;
  }
}

const none: readonly WaitChange[] = [];
const nobodyWaits: readonly WaitingType[] = [];

function releaseOf(type: TypeStream): Wait | undefined {
  const name = type.deferredRemovals?.unreleased;
  return name === undefined ? undefined : { for: "release", name };
}
