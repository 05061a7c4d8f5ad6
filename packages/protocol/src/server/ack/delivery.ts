import type { Body } from "../../message/body.ts";
import type { Status } from "../../message/status.ts";
import type { DeliveryState } from "../contract/inspect.ts";
import { LazySet } from "../memory/lazy.ts";
import { bytesOfText } from "../memory/value-cost.ts";
import type { Scope, Subscription } from "../subscription/subscription.ts";
import { type Absences, withoutAbsences } from "./absences.ts";
import { everyName, namesIn, type ResponseSize, sizeOf } from "./body-names.ts";
import { BroughtNames } from "./brought-names.ts";
import { GivenUpNames } from "./given-up-names.ts";
import { NackHistory, type NackRecord } from "./nack-history.ts";
import { isAnyAsked, RejectedNames } from "./rejected-names.ts";

/** A response that was sent, with what is needed to process its ACK or NACK. */
export interface Delivery {
  readonly nonce: string;
  /** Without its absences once it was ACKed or NACKed. */
  body: Body;
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
  /** The subscription when the response was sent; undefined: it does not matter, or no longer. */
  asked?: Scope | undefined;
  /** The absences in the body; undefined: none, or no longer any. */
  absences?: Absences | undefined;
  /** The size of the response, where absences were taken out of its body. */
  size?: ResponseSize;
  /** A heartbeat repeats what the client holds; its ACK or NACK blocks nothing. */
  readonly isHeartbeat?: true;
}

/** How many heartbeats without ACK or NACK are remembered. */
const HEARTBEATS_KEPT = 16;

/** How many implicitly ACKed responses are remembered. */
const IMPLIED_KEPT = 16;

/** How long a NACK counts: until each rejected name was ACKed in another response, or until any response was ACKed. */
export type RefusalMemory = "by-name" | "whole";

/** Tracks the ACK or NACK of each response of one type on one stream. */
export class Deliveries {
  #pending: readonly Delivery[] = none;
  /** What was asked about the unsettled responses; undefined: nothing. */
  #brought: BroughtNames | undefined;
  /** Settled by the ACK of a newer response; each may still be NACKed by its own nonce. */
  #implied: readonly Delivery[] = none;
  #acked: Delivery | undefined;
  #settled: readonly Delivery[] = none;
  #nacked: { readonly delivery: Delivery; readonly error: Status; readonly names: readonly string[] } | undefined;
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
  readonly #unconfirmed = new LazySet<string>();
  #isOverdue = false;
  readonly #memory: RefusalMemory;
  readonly #rejectedNames = new RejectedNames();
  /** The subscription when the newest response was sent that was rejected as a whole. */
  #refusedOf: Scope | undefined;
  /** The oldest and the newest rejected response whose subscription may be remembered. */
  #refusedScopes: { readonly oldest: number; readonly newest: number } | undefined;
  /** Responses that were ACKed or NACKed, and still have everything that they were sent with. */
  #untrimmed: Delivery[] = [];
  /** How many names the absences in unsettled responses count for. */
  #absent = 0;
  readonly #givenUp = new GivenUpNames();
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

  /**
   * How many names, as limits count them, are kept beside those that are subscribed to: names given up and absences, of
   * responses without ACK or NACK, and absences and removals that were rejected.
   */
  get namesKept(): number {
    return this.#absent + this.#givenUp.counted + this.#rejectedNames.counted;
  }

  /** The memory that the reasons of NACKs take, in bytes. */
  get reasonBytes(): number {
    return this.#refusals.reasonBytes + (this.#nacked === undefined ? 0 : bytesOfText(this.#nacked.error.message));
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

  /** Whether the client rejected the newest state of a name that it was sent; in State of the World, perhaps of another. */
  mayRefuse(name: string): boolean {
    return this.#memory === "by-name" ? this.#rejectedNames.has(name) : this.refusedFrom !== Number.POSITIVE_INFINITY;
  }

  /** The names that the client rejected, where NACKs count by name. */
  get rejectedNames(): Pick<RejectedNames, "size" | "restOf"> {
    return this.#rejectedNames;
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
    this.#giveUp(dropped);
    for (const name of dropped) this.#unconfirmed.delete(name);
    if (this.#refusedFrom === undefined) return;
    this.#rejectedNames.keepAsked(subscription);
    const isWholeAsked = this.#refusedOf !== undefined && isAnyAsked(this.#refusedOf, subscription);
    if (this.#rejectedNames.size === 0 && !isWholeAsked) this.#forgetRefusals();
    this.#releaseNames();
  }

  /** Drops what settled responses were remembered with only until their ACK or NACK was processed. */
  trim(): void {
    if (this.#untrimmed.length === 0) return;
    for (const delivery of this.#untrimmed) {
      const { body, absences } = delivery;
      delivery.asked = undefined;
      if (absences === undefined) continue;
      delivery.size = sizeOf(body);
      delivery.body = withoutAbsences(body, absences);
      delivery.absences = undefined;
    }
    this.#untrimmed = [];
    this.#settled = none;
  }

  /** The response with this nonce, if it is an unsettled part of the newest answer, but not its last part. */
  earlierPart(nonce: string): Delivery | undefined {
    const last = this.#lastSent;
    return this.#pending.find((one) => one.nonce === nonce && one !== last && one.at === last?.at);
  }

  /** Whether an unsettled response contains a resource with one of these names. */
  mayBring(names: readonly string[]): boolean {
    if (this.#pending.length === 0) return false;
    if (this.#brought?.isOf(this.#pending) !== true) this.#brought = new BroughtNames(this.#pending);
    return this.#brought.hasAny(names);
  }

  open(delivery: Delivery): void {
    if (delivery.isHeartbeat && this.#pending.length >= HEARTBEATS_KEPT) this.#forgetOldHeartbeat();
    this.#pending = this.#pending.length === 0 ? [delivery] : [...this.#pending, delivery];
    this.#lastSent = delivery;
    this.#absent += delivery.absences?.counted ?? 0;
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
    this.#leave(this.#settled);
    if (index > 0) this.#implied = [...this.#implied, ...pending.slice(0, index)].slice(-IMPLIED_KEPT);
    this.#lastAcked = delivery;
    const content = this.#settled.every(isContent) ? this.#settled : this.#settled.filter(isContent);
    if (content.length === 0) return delivery;
    this.#acked = content.at(-1);
    this.#isAckedRefused = false;
    // The ACK of one part of an answer does not revoke the NACK of another part.
    if (this.#nacked?.delivery.at !== delivery.at) this.#nacked = undefined;
    for (const { body } of content) this.#accept(body);
    this.#releaseNames();
    return delivery;
  }

  /**
   * Processes a NACK. Undefined: the response is unknown, or was NACKed before. `now`: the subscription now, which stands
   * for that of then if the response was ACKed before.
   */
  nack(nonce: string, error: Status, now?: Scope): Delivery | undefined {
    const delivery = this.#reject(nonce, error, now);
    this.#releaseNames();
    return delivery;
  }

  #reject(nonce: string, error: Status, now: Scope | undefined): Delivery | undefined {
    this.#wasAnswered = true;
    const named = [...this.#pending, ...this.#implied].find((one) => one.nonce === nonce) ?? this.#ackedAs(nonce);
    if (named === undefined) return undefined;
    this.#take(named);
    this.#refusedNonce = nonce;
    // The NACK of a repeated body is a NACK of the body that it repeats.
    const repeated = named.isHeartbeat && this.#pending.find((one) => isContent(one) && one.body === named.body);
    const delivery = repeated || named;
    if (delivery.isHeartbeat && delivery.body.variant === "delta") return delivery;
    if (delivery.body.ttls === "told") this.#doubt(delivery.body);
    this.#take(delivery);
    this.#implied = this.#implied.filter((one) => one !== delivery);
    this.#isNewestRefused ||= delivery.body === this.#newest?.body;
    this.#isAckedRefused ||= delivery.body === this.#acked?.body;
    if (!delivery.isHeartbeat || this.#nacked === undefined)
      this.#nacked = { delivery, error, names: namesIn(delivery.body) };
    this.#refusals.add({ nonce: delivery.nonce, body: delivery.body, error });
    if (delivery.isHeartbeat) return delivery;
    this.#refusedFrom = Math.min(this.refusedFrom, delivery.from ?? -1);
    const { at, body, asked = now } = delivery;
    if (this.#memory === "by-name") this.#rejectedNames.add(everyName(body), body, asked);
    else this.#refusedOf = asked;
    const { oldest, newest } = this.#refusedScopes ?? { oldest: at, newest: at };
    this.#refusedScopes = { oldest: Math.min(oldest, at), newest: Math.max(newest, at) };
    return delivery;
  }

  /** In State of the World the NACK of the newest response settles every older one too. */
  settleOlder(): void {
    this.#leave(this.#pending);
    this.#pending = none;
    this.#releaseNames();
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
              names: this.#nacked.names,
            },
    };
  }

  #accept(body: Body): void {
    this.#refusals.accept(body);
    if (this.#refusedFrom === undefined && this.#unconfirmed.size === 0) return;
    for (const name of everyName(body)) this.#unconfirmed.delete(name);
    this.#rejectedNames.accept(everyName(body), body);
    this.#refusedOf = undefined;
    if (this.#rejectedNames.size === 0) this.#forgetRefusals();
  }

  #forgetRefusals(): void {
    this.#refusedFrom = undefined;
    this.#refusedOf = undefined;
    this.#refusedScopes = undefined;
  }

  /** What the client holds of the resources of a NACKed response is unknown. Of what is gone nothing is repeated. */
  #doubt({ segments }: Body): void {
    for (const { puts, removed, missing, heartbeats = [] } of segments) {
      for (const { name } of puts) this.#unconfirmed.add(name);
      for (const { name } of heartbeats) this.#unconfirmed.add(name);
      for (const name of removed) this.#unconfirmed.delete(name);
      for (const name of missing) this.#unconfirmed.delete(name);
    }
  }

  #forgetOldHeartbeat(): void {
    const heartbeats = this.#pending.filter(({ isHeartbeat }) => isHeartbeat);
    if (heartbeats.length < HEARTBEATS_KEPT) return;
    const [oldest] = heartbeats;
    this.#pending = this.#pending.filter((one) => one !== oldest);
  }

  /** A response is no longer pending. */
  #take(delivery: Delivery): void {
    if (!this.#pending.includes(delivery)) this.#untrimmed.push(delivery);
    else this.#leave([delivery]);
    this.#pending = this.#pending.filter((one) => one !== delivery);
  }

  #leave(deliveries: readonly Delivery[]): void {
    this.#brought = undefined;
    for (const delivery of deliveries) this.#absent -= delivery.absences?.counted ?? 0;
    this.#untrimmed.push(...deliveries);
  }

  /** Counts the names of these that were subscribed to when a response was sent that is still to be processed. */
  #giveUp(dropped: Iterable<string>): void {
    const newest = this.#pending.filter(isContent).at(-1);
    const scopes = [newest?.asked, this.#rejectedNames.scope, this.#refusedOf];
    const at = Math.max(newest?.at ?? 0, this.#refusedScopes?.newest ?? 0);
    this.#givenUp.add(
      dropped,
      scopes.flatMap((scope) => scope?.names ?? []),
      at,
    );
  }

  /** Names that were given up are no longer kept by responses that are settled, nor by rejected ones that are forgiven. */
  #releaseNames(): void {
    if (this.#rejectedNames.scope === undefined && this.#refusedOf === undefined) this.#refusedScopes = undefined;
    const oldest = this.#pending.find(isContent)?.at ?? Number.POSITIVE_INFINITY;
    this.#givenUp.release(Math.min(oldest, this.#refusedScopes?.oldest ?? Number.POSITIVE_INFINITY));
  }

  /** A client may ACK a response and NACK it later; the NACK counts. */
  #ackedAs(nonce: string): Delivery | undefined {
    return this.#acked?.nonce === nonce ? this.#acked : undefined;
  }
}

const none: readonly Delivery[] = [];

/** Whether a response has content, and is no mere heartbeat. */
function isContent({ isHeartbeat }: Delivery): boolean {
  return isHeartbeat !== true;
}

function stateOf(delivery: Delivery): DeliveryState {
  return {
    nonce: delivery.nonce,
    version: delivery.body.version,
    revision: delivery.revision,
    ...(delivery.size ?? sizeOf(delivery.body)),
  };
}
