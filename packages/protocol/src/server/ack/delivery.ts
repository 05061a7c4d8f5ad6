import type { Body } from "../../message/body.ts";
import type { Status } from "../../message/status.ts";
import { shownName } from "../../resource/variant-name.ts";
import type { DeliveryState } from "../contract/inspect.ts";
import type { Scope, Subscription } from "../subscription/subscription.ts";
import { NackHistory, type NackRecord } from "./nack-history.ts";
import { isAnyAsked, RejectedNames } from "./rejected-names.ts";

/** A response on its way, and what became of it. */
export interface Delivery {
  readonly nonce: string;
  readonly body: Body;
  readonly revision: number;
  /** The revision that the client had been told of before; undefined if it was told nothing, or out of turn. */
  readonly from: number | undefined;
  /** Counts the answers to the node, over all its streams; parts of one answer share it. */
  readonly at: number;
  /** It brought the client up to a position, so newer content waits for its ACK; answers out of turn do not hold it up. */
  readonly isInTurn: boolean;
  /** What was asked for when it left; undefined: that is not of interest. */
  readonly asked?: Scope;
  /** It tells nothing new, but keeps alive what the client holds: whether it is accepted decides nothing else. */
  readonly isHeartbeat?: true;
}

/** How many names of a refused response are told to people. */
export const NAMES_SHOWN = 100;

/** How many responses that were accepted by implication are remembered. */
const IMPLIED_KEPT = 16;

/**
 * How long a refusal counts: until each refused name was accepted in another response, until anything was accepted, or
 * not at all.
 */
export type RefusalMemory = "by-name" | "whole" | "none";

/** The fate of each response of one type on one stream. */
export class Deliveries {
  #pending: Delivery[] = [];
  /** Settled because a newer one was accepted; each may still be refused by its own nonce. */
  #implied: readonly Delivery[] = [];
  #acked: Delivery | undefined;
  #settled: readonly Delivery[] = [];
  #nacked: { readonly delivery: Delivery; readonly error: Status } | undefined;
  readonly #refusals = new NackHistory();
  #lastSent: Delivery | undefined;
  #lastAcked: Delivery | undefined;
  /** The newest that is no heartbeat. */
  #newest: Delivery | undefined;
  #isNewestRefused = false;
  /** What was accepted once was refused when it was repeated. */
  #isAckedRefused = false;
  #refusedNonce: string | undefined;
  /** Names whose newest word was refused, of resources with a ttl: what the client holds of them is its own affair. */
  readonly #unconfirmed = new Set<string>();
  #isOverdue = false;
  readonly #memory: RefusalMemory;
  readonly #rejectedNames = new RejectedNames();
  /** What was asked for when the newest response left that was refused as a whole. */
  #refusedOf: Scope | undefined;
  /** What the client had been told of before the oldest response that it refused and that still counts. */
  #refusedFrom: number | undefined;

  constructor(memory: RefusalMemory = "none") {
    this.#memory = memory;
  }
  #wasAnswered = false;

  get pending(): readonly Delivery[] {
    return this.#pending;
  }

  /** How many responses the client neither accepted nor refused, without heartbeats. */
  get unanswered(): number {
    let count = 0;
    for (const delivery of this.#pending) if (isContent(delivery)) count++;
    return count;
  }

  get lastSent(): Delivery | undefined {
    return this.#lastSent;
  }

  get lastAcked(): Delivery | undefined {
    return this.#lastAcked;
  }

  /** The newest that was told and not refused, or what was accepted before; heartbeats do not count. */
  get held(): Body | undefined {
    const body = this.#isNewestRefused ? this.#acked?.body : this.#newest?.body;
    return this.#isAckedRefused && body === this.#acked?.body ? undefined : body;
  }

  /** Names of resources with a ttl whose newest word was refused: nobody keeps them alive. */
  get unconfirmed(): ReadonlySet<string> {
    return this.#unconfirmed;
  }

  /** What the newest ACK accepted: its own response, and every older one that was unsettled. */
  get lastSettled(): readonly Delivery[] {
    return this.#settled;
  }

  /** The newest that was accepted and is no heartbeat. */
  get accepted(): Delivery | undefined {
    return this.#acked;
  }

  /** The newest refusal of a name that was not accepted in another response since. */
  refusalOf(name: string): NackRecord | undefined {
    return this.#refusals.of(name);
  }

  /** The newest response is the one that was refused. */
  get isRefused(): boolean {
    return this.#refusedNonce !== undefined && this.#refusedNonce === this.#lastSent?.nonce;
  }

  /** The client has used a nonce of ours. */
  get wasAnswered(): boolean {
    return this.#wasAnswered;
  }

  /** Newer content waits: an answer is unsettled, and its time is not over. */
  get isBlocked(): boolean {
    return !this.#isOverdue && this.#pending.some((delivery) => delivery.isInTurn);
  }

  /** Unsettled answers hold nothing up any more, until the next one is sent. */
  release(): void {
    this.#isOverdue = true;
  }

  /**
   * The revision up to which the client answered what it was told: an unsettled response counts from before it was sent.
   * Infinite: nothing is unsettled.
   */
  get answeredTo(): number {
    return Math.min(Number.POSITIVE_INFINITY, ...this.#pending.filter(isContent).map(({ from }) => from ?? -1));
  }

  /** The revision before the oldest response that was refused and that still counts. Infinite: none. */
  get refusedFrom(): number {
    return this.#refusedFrom ?? Number.POSITIVE_INFINITY;
  }

  /** These are not asked for by name any more. What is not asked for at all any more does not count as refused. */
  forgive(dropped: Iterable<string>, subscription: Subscription): void {
    for (const name of dropped) this.#unconfirmed.delete(name);
    if (this.#refusedFrom === undefined) return;
    this.#rejectedNames.keepAsked(subscription);
    const isWholeAsked = this.#refusedOf !== undefined && isAnyAsked(this.#refusedOf, subscription);
    if (this.#rejectedNames.size === 0 && !isWholeAsked) this.#refusedFrom = undefined;
  }

  /** The response of that nonce, if it is an unsettled part of the newest answer and not its last. */
  earlierPart(nonce: string): Delivery | undefined {
    const last = this.#lastSent;
    return this.#pending.find((one) => one.nonce === nonce && one !== last && one.at === last?.at);
  }

  /** Whether a response that is still unsettled holds any of these names. */
  mayBring(names: readonly string[]): boolean {
    const asked = new Set(names);
    return this.#pending.some(({ body }) => body.segments.some(({ puts }) => puts.some((put) => asked.has(put.name))));
  }

  open(delivery: Delivery): void {
    this.#pending.push(delivery);
    this.#lastSent = delivery;
    if (delivery.isHeartbeat) return;
    this.#isOverdue = false;
    this.#newest = delivery;
    this.#isNewestRefused = false;
  }

  /** Accepts the response of that nonce and every older one that is unsettled (S-DLT-07). Undefined: nothing to accept. */
  ack(nonce: string): Delivery | undefined {
    const index = this.#pending.findIndex((delivery) => delivery.nonce === nonce);
    const delivery = this.#pending[index];
    if (delivery === undefined) return undefined;
    this.#wasAnswered = true;
    this.#settled = this.#pending.slice(0, index + 1);
    this.#implied = [...this.#implied, ...this.#settled.slice(0, -1)].slice(-IMPLIED_KEPT);
    this.#pending = this.#pending.slice(index + 1);
    this.#lastAcked = delivery;
    const content = this.#settled.filter(isContent);
    if (content.length === 0) return delivery;
    this.#acked = content.at(-1);
    this.#isAckedRefused = false;
    // That one part of an answer was accepted says nothing of the part that was refused.
    if (this.#nacked?.delivery.at !== delivery.at) this.#nacked = undefined;
    for (const { body } of content) this.#accept(body);
    return delivery;
  }

  /** Books a refusal. Undefined: that response was refused before, or is not known. */
  nack(nonce: string, error: Status): Delivery | undefined {
    this.#wasAnswered = true;
    const named = [...this.#pending, ...this.#implied].find((one) => one.nonce === nonce) ?? this.#ackedAs(nonce);
    if (named === undefined) return undefined;
    this.#pending = this.#pending.filter((one) => one !== named);
    this.#refusedNonce = nonce;
    // Whoever refuses a repetition refuses what it repeats.
    const repeated = named.isHeartbeat && this.#pending.find((one) => isContent(one) && one.body === named.body);
    const delivery = repeated || named;
    if (delivery.isHeartbeat && delivery.body.variant === "delta") return delivery;
    if (delivery.body.ttls === "told") for (const name of everyName(delivery.body)) this.#unconfirmed.add(name);
    this.#pending = this.#pending.filter((one) => one !== delivery);
    this.#implied = this.#implied.filter((one) => one !== delivery);
    this.#isNewestRefused ||= delivery.body === this.#newest?.body;
    this.#isAckedRefused ||= delivery.body === this.#acked?.body;
    if (!delivery.isHeartbeat || this.#nacked === undefined) this.#nacked = { delivery, error };
    this.#refusals.add({ nonce: delivery.nonce, body: delivery.body, error });
    if (this.#memory === "none" || delivery.isHeartbeat) return delivery;
    this.#refusedFrom = Math.min(this.refusedFrom, delivery.from ?? -1);
    if (this.#memory === "by-name") this.#rejectedNames.add(everyName(delivery.body), delivery.body, delivery.asked);
    else this.#refusedOf = delivery.asked;
    return delivery;
  }

  /** In State of the World a refusal of the newest answer closes every older one too. */
  settleOlder(): void {
    this.#pending = [];
  }

  describe(): {
    readonly pending: readonly DeliveryState[];
    readonly acked: DeliveryState | undefined;
    readonly nacked: (DeliveryState & { readonly error: Status; readonly refused: readonly string[] }) | undefined;
  } {
    return {
      pending: this.#pending.filter(isContent).map(stateOf),
      acked: this.#acked === undefined ? undefined : stateOf(this.#acked),
      nacked:
        this.#nacked === undefined
          ? undefined
          : {
              ...stateOf(this.#nacked.delivery),
              error: this.#nacked.error,
              refused: namesIn(this.#nacked.delivery.body),
            },
    };
  }

  #accept(body: Body): void {
    this.#refusals.accept(body);
    if (this.#refusedFrom === undefined && this.#unconfirmed.size === 0) return;
    for (const name of everyName(body)) this.#unconfirmed.delete(name);
    this.#rejectedNames.accept(everyName(body), body);
    this.#refusedOf = undefined;
    if (this.#rejectedNames.size === 0) this.#refusedFrom = undefined;
  }

  /** A client may accept and then refuse the same response; the refusal is the newer word. */
  #ackedAs(nonce: string): Delivery | undefined {
    return this.#acked?.nonce === nonce ? this.#acked : undefined;
  }
}

/** The names that a body speaks of, in its order, for people; at most 100. */
export function namesIn(body: Body): readonly string[] {
  const names: string[] = [];
  for (const name of everyName(body)) {
    if (names.length === NAMES_SHOWN) break;
    names.push(shownName(name));
  }
  return names;
}

/** Whether a response tells something, and is not only a heartbeat. */
function isContent({ isHeartbeat }: Delivery): boolean {
  return isHeartbeat !== true;
}

/** The names that a body speaks of, in its order. */
export function* everyName(body: Body): Iterable<string> {
  for (const segment of body.segments) {
    for (const put of segment.puts) yield put.name;
    yield* segment.removed;
    yield* segment.missing;
    for (const error of segment.errors ?? []) yield error.name;
    for (const heartbeat of segment.heartbeats ?? []) yield heartbeat.name;
  }
}

/** How many resources and removals a body holds. */
export function sizeOf(body: Body): { readonly resources: number; readonly removed: number } {
  let resources = 0;
  let removed = 0;
  for (const segment of body.segments) {
    resources += segment.puts.length + segment.missing.length + (segment.heartbeats?.length ?? 0);
    removed += segment.removed.length;
  }
  return { resources, removed };
}

function stateOf(delivery: Delivery): DeliveryState {
  return {
    nonce: delivery.nonce,
    version: delivery.body.version,
    revision: delivery.revision,
    ...sizeOf(delivery.body),
  };
}
