import type { Body } from "../../message/body.ts";
import type { Status } from "../../message/status.ts";
import { shownName } from "../../resource/variant-name.ts";
import type { DeliveryState } from "../contract/inspect.ts";
import type { Scope, Subscription } from "../subscription/subscription.ts";
import { NackHistory, type NackRecord } from "./nack-history.ts";
import { isAnyAsked, RejectedNames } from "./rejected-names.ts";

/** A response that was sent, with what is needed to process its ACK or NACK. */
export interface Delivery {
  readonly nonce: string;
  readonly body: Body;
  readonly revision: number;
  /**
   * The revision up to which the client had been sent changes before; undefined: it was sent nothing, or this response
   * is out of order.
   */
  readonly from: number | undefined;
  /** Numbers the answers to the client, over all its streams; parts of one answer share the number. */
  readonly at: number;
  /**
   * The response brought the client up to a position, so newer content waits for its ACK. Responses out of order block
   * nothing.
   */
  readonly isInTurn: boolean;
  /** The subscription when the response was sent; undefined: it does not matter. */
  readonly asked?: Scope;
  /** A heartbeat repeats what the client holds; its ACK or NACK blocks nothing. */
  readonly isHeartbeat?: true;
}

/** The most names of a rejected response that people are shown. */
export const NAMES_SHOWN = 100;

/** How many implicitly ACKed responses are remembered. */
const IMPLIED_KEPT = 16;

/** How long a NACK counts: until each rejected name was ACKed in another response, or until any response was ACKed. */
export type RefusalMemory = "by-name" | "whole";

/** Tracks the ACK or NACK of each response of one type on one stream. */
export class Deliveries {
  #pending: readonly Delivery[] = none;
  /** Settled by the ACK of a newer response; each may still be NACKed by its own nonce. */
  #implied: readonly Delivery[] = none;
  #acked: Delivery | undefined;
  #settled: readonly Delivery[] = none;
  #nacked: { readonly delivery: Delivery; readonly error: Status } | undefined;
  readonly #refusals = new NackHistory();
  #lastSent: Delivery | undefined;
  #lastAcked: Delivery | undefined;
  /** The newest response that is no heartbeat. */
  #newest: Delivery | undefined;
  #isNewestRefused = false;
  /** The newest ACKed content was NACKed later, when it was repeated. */
  #isAckedRefused = false;
  #refusedNonce: string | undefined;
  /** Names whose newest state in a response with TTLs was NACKed: whether the client still holds them is unknown. */
  readonly #unconfirmed = new Set<string>();
  #isOverdue = false;
  readonly #memory: RefusalMemory;
  readonly #rejectedNames = new RejectedNames();
  /** The subscription when the newest response was sent that was rejected as a whole. */
  #refusedOf: Scope | undefined;
  /** The revision that the client had before the oldest NACKed response that still counts. */
  #refusedFrom: number | undefined;

  constructor(memory: RefusalMemory = "by-name") {
    this.#memory = memory;
  }
  #wasAnswered = false;

  get pending(): readonly Delivery[] {
    return this.#pending;
  }

  /** How many responses have neither ACK nor NACK, without heartbeats. */
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

  /**
   * The newest body that was sent and not NACKed, or else the newest that was ACKed; without heartbeats. Undefined:
   * unknown.
   */
  get held(): Body | undefined {
    const body = this.#isNewestRefused ? this.#acked?.body : this.#newest?.body;
    return this.#isAckedRefused && body === this.#acked?.body ? undefined : body;
  }

  /** Names whose newest state in a response with TTLs was NACKed: heartbeats leave them out. */
  get unconfirmed(): ReadonlySet<string> {
    return this.#unconfirmed;
  }

  /** The responses that the newest ACK settled: its own, and all older ones. */
  get lastSettled(): readonly Delivery[] {
    return this.#settled;
  }

  /** The newest response that was ACKed and is no heartbeat. */
  get accepted(): Delivery | undefined {
    return this.#acked;
  }

  /** The newest NACK of a name that was not ACKed in another response since. */
  refusalOf(name: string): NackRecord | undefined {
    return this.#refusals.of(name);
  }

  /** Whether the newest response was NACKed. */
  get isRefused(): boolean {
    return this.#refusedNonce !== undefined && this.#refusedNonce === this.#lastSent?.nonce;
  }

  /** Whether the client has ever returned a nonce of this type. */
  get wasAnswered(): boolean {
    return this.#wasAnswered;
  }

  /** Whether newer content has to wait: a response in order is unsettled, and the ACK limit has not passed. */
  get isBlocked(): boolean {
    return this.#pending.length > 0 && !this.#isOverdue && this.#pending.some((delivery) => delivery.isInTurn);
  }

  /** Lets newer content through, though responses are unsettled; holds until the next response is sent. */
  release(): void {
    this.#isOverdue = true;
  }

  /**
   * The revision up to which the client has answered: an unsettled response counts from before it was sent. Infinite:
   * nothing is unsettled.
   */
  get answeredTo(): number {
    let to = Number.POSITIVE_INFINITY;
    for (const delivery of this.#pending) if (isContent(delivery)) to = Math.min(to, delivery.from ?? -1);
    return to;
  }

  /** The same for responses that contain resources; a NACKed one counts until it is replaced. */
  get broughtTo(): number {
    let to = this.#rejectedNames.hasResources ? this.refusedFrom : Number.POSITIVE_INFINITY;
    for (const delivery of this.#pending)
      if (isContent(delivery) && delivery.body.segments.some(({ puts }) => puts.length > 0))
        to = Math.min(to, delivery.from ?? -1);
    return to;
  }

  /** The revision before the oldest NACKed response that still counts. Infinite: none. */
  get refusedFrom(): number {
    return this.#refusedFrom ?? Number.POSITIVE_INFINITY;
  }

  /** Forgets the NACKs of names that are no longer subscribed to. `dropped`: names just unsubscribed from. */
  forgive(dropped: Iterable<string>, subscription: Subscription): void {
    for (const name of dropped) this.#unconfirmed.delete(name);
    if (this.#refusedFrom === undefined) return;
    this.#rejectedNames.keepAsked(subscription);
    const isWholeAsked = this.#refusedOf !== undefined && isAnyAsked(this.#refusedOf, subscription);
    if (this.#rejectedNames.size === 0 && !isWholeAsked) this.#refusedFrom = undefined;
  }

  /** The response with this nonce, if it is an unsettled part of the newest answer, but not its last part. */
  earlierPart(nonce: string): Delivery | undefined {
    const last = this.#lastSent;
    return this.#pending.find((one) => one.nonce === nonce && one !== last && one.at === last?.at);
  }

  /** Whether an unsettled response contains a resource with one of these names. */
  mayBring(names: readonly string[]): boolean {
    const asked = new Set(names);
    return this.#pending.some(({ body }) => body.segments.some(({ puts }) => puts.some((put) => asked.has(put.name))));
  }

  open(delivery: Delivery): void {
    this.#pending = this.#pending.length === 0 ? [delivery] : [...this.#pending, delivery];
    this.#lastSent = delivery;
    if (delivery.isHeartbeat) return;
    this.#isOverdue = false;
    this.#newest = delivery;
    this.#isNewestRefused = false;
  }

  /**
   * Processes an ACK: settles the response with this nonce and all older ones (S-DLT-07). Undefined: nothing to settle.
   */
  ack(nonce: string): Delivery | undefined {
    const pending = this.#pending;
    const index = pending.findIndex((delivery) => delivery.nonce === nonce);
    const delivery = pending[index];
    if (delivery === undefined) return undefined;
    this.#wasAnswered = true;
    const isNewest = index === pending.length - 1;
    this.#settled = isNewest ? pending : pending.slice(0, index + 1);
    this.#pending = isNewest ? none : pending.slice(index + 1);
    if (index > 0) this.#implied = [...this.#implied, ...pending.slice(0, index)].slice(-IMPLIED_KEPT);
    this.#lastAcked = delivery;
    const content = this.#settled.every(isContent) ? this.#settled : this.#settled.filter(isContent);
    if (content.length === 0) return delivery;
    this.#acked = content.at(-1);
    this.#isAckedRefused = false;
    // The ACK of one part of an answer does not revoke the NACK of another part.
    if (this.#nacked?.delivery.at !== delivery.at) this.#nacked = undefined;
    for (const { body } of content) this.#accept(body);
    return delivery;
  }

  /** Processes a NACK. Undefined: the response is unknown, or was NACKed before. */
  nack(nonce: string, error: Status): Delivery | undefined {
    this.#wasAnswered = true;
    const named = [...this.#pending, ...this.#implied].find((one) => one.nonce === nonce) ?? this.#ackedAs(nonce);
    if (named === undefined) return undefined;
    this.#pending = this.#pending.filter((one) => one !== named);
    this.#refusedNonce = nonce;
    // The NACK of a repeated body is a NACK of the body that it repeats.
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
    if (delivery.isHeartbeat) return delivery;
    this.#refusedFrom = Math.min(this.refusedFrom, delivery.from ?? -1);
    if (this.#memory === "by-name") this.#rejectedNames.add(everyName(delivery.body), delivery.body, delivery.asked);
    else this.#refusedOf = delivery.asked;
    return delivery;
  }

  /** In State of the World the NACK of the newest response settles every older one too. */
  settleOlder(): void {
    this.#pending = none;
  }

  describe(): {
    readonly pending: readonly DeliveryState[];
    readonly acked: DeliveryState | undefined;
    readonly nacked: (DeliveryState & { readonly error: Status; readonly names: readonly string[] }) | undefined;
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
              names: namesIn(this.#nacked.delivery.body),
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

  /** A client may ACK a response and NACK it later; the NACK counts. */
  #ackedAs(nonce: string): Delivery | undefined {
    return this.#acked?.nonce === nonce ? this.#acked : undefined;
  }
}

const none: readonly Delivery[] = [];

/** The names in a body, in its order, as shown to people; at most 100. */
export function namesIn(body: Body): readonly string[] {
  const names: string[] = [];
  for (const name of everyName(body)) {
    if (names.length === NAMES_SHOWN) break;
    names.push(shownName(name));
  }
  return names;
}

/** Whether a response has content, and is no mere heartbeat. */
function isContent({ isHeartbeat }: Delivery): boolean {
  return isHeartbeat !== true;
}

/** The names in a body, in its order. */
export function* everyName(body: Body): Iterable<string> {
  for (const segment of body.segments) {
    for (const put of segment.puts) yield put.name;
    yield* segment.removed;
    yield* segment.missing;
    for (const error of segment.errors ?? []) yield error.name;
    for (const heartbeat of segment.heartbeats ?? []) yield heartbeat.name;
  }
}

/** The number of resources and of removals in a body. */
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
