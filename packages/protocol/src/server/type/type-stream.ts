import type { Dialect } from "../../dialect/dialect.ts";
import type { TtlVerdict } from "../../dialect/ttl.ts";
import type { Body } from "../../message/body.ts";
import type { DiscoveryRequest } from "../../message/request.ts";
import type { Status } from "../../message/status.ts";
import type { Resource } from "../../resource/resource.ts";
import type { TypeTraits } from "../../resource/type-traits.ts";
import type { Position } from "../../state/difference.ts";
import type { View } from "../../state/view.ts";
import type { Deliveries, Delivery } from "../ack/delivery.ts";
import type { PendingRemovals, Removable } from "../cache/pending-removals.ts";
import type { SharedResponses } from "../cache/shared-responses.ts";
import type { Upcoming } from "../cache/shared-selections.ts";
import type { Anomaly, RequestKind } from "../contract/effect.ts";
import type { Subscription } from "../subscription/subscription.ts";
import type { HeldBackNames } from "./held-back.ts";
import type { ReadonlySentState } from "./readonly-sent-state.ts";

/** What one type on one stream is told when it opens. */
export interface TypeStreamOptions {
  readonly traits: TypeTraits;
  readonly dialect: Dialect;
  /** Nobody described the type and nobody holds any of it (S-TYP-07). */
  readonly isUnknown: boolean;
  readonly isAggregated: boolean;
  /** Whether the client is told of ttls that resources of this type have. */
  readonly ttl: TtlVerdict;
  /**
   * Whether the type whose changes make this one owed was asked for before on this stream, with the versions that the client
   * holds (S-REC-09 as amended).
   */
  readonly cameAfterOwner: boolean;
}

/** How a request was understood, and what it settled. */
export interface Understood {
  readonly as: RequestKind;
  readonly acked?: Delivery | undefined;
  readonly nacked?: { readonly delivery: Delivery; readonly error: Status } | undefined;
  readonly oddity?: Anomaly;
}

/** Terms that were asked for. */
export type AskedTerms = Pick<ReadonlySet<string>, "has" | "size">;

/** What is to be sent now. */
export interface PendingResponse {
  readonly body: Body;
  /** It brings the client up to its position, so newer content waits until it is settled. */
  readonly isInOrder: boolean;
  /** Resources that are new to the client or changed, in lists that others share: what they owe follows in the same turn. */
  readonly news: readonly (readonly Resource[])[];
  /** Something in it was asked for; in delta, the names whose absence is an answer. */
  readonly asked?: AskedTerms | undefined;
  /**
   * In the first answer to a client that came back: what it did not hold. `unknown`: what it holds is not known. Undefined
   * where the position tells, or where it cannot hold anything.
   */
  readonly newToClient?: ReadonlySet<string> | "unknown" | undefined;
}

/** What a turn may not say yet. */
export interface FlushBounds {
  /** Of Clusters that are gone, and of endpoints in delta, only these are removed; the others are held over. */
  readonly removable: Removable;
  readonly heldBack: HeldBackNames;
}

/** What a type whose resources are removed last, when they are gone, says of that (S-ORD-05). */
export interface DeferredRemovalState {
  /** They are Clusters, not the endpoints of some. */
  readonly areClusters: boolean;
  /** A Cluster that is gone and that the client has not given up yet; undefined: none waits for that. */
  readonly unreleased: string | undefined;
}

/** One resource type on one stream: the interface that both variants implement. */
export interface TypeStream {
  readonly traits: TypeTraits;
  readonly subscription: Subscription;
  readonly deliveries: Deliveries;
  readonly ttl: TtlVerdict;
  /** How far the client was told. */
  readonly sentState: ReadonlySentState;
  /** Told up to here; undefined before the first answer. */
  readonly position: Position | undefined;
  /** Changes since then are still needed: the position, or before the first answer where a paused comparison began. */
  readonly needsChangesSince: Position | undefined;
  /** A comparison of many names goes on in the next turn. */
  readonly isPaused: boolean;
  /** What the client goes on holding although it is gone; always empty but for Clusters and, in delta, their endpoints. */
  readonly pendingRemovals: PendingRemovals;
  /** Undefined: what is gone is removed at once. */
  readonly deferredRemovals?: DeferredRemovalState | undefined;
  /** Single resources can be held back while others are sent. */
  readonly canHoldBack: boolean;
  /** It can be told something else in place of what is held back, or, where it cannot hold back single ones, leave it out. */
  readonly canTellTargets: boolean;
  /** The revision before the oldest resource that is held back. Infinite: none is. */
  readonly heldBackFrom: number;
  onRequest(request: DiscoveryRequest): Understood;
  /** State of the World: the client came back with what was sent at that position. It is told everything all the same (S-REC-04). */
  standAt?(position: Position): void;
  /** Asks for names on the client's behalf, whatever their version. Returns whether any is subscribed to. */
  resend(names: Iterable<string>): boolean;
  /** There may be something that the client has to hear. */
  hasNews(view: View): boolean;
  /** What the client has to hear now, from the newest state. */
  next(view: View, responses: SharedResponses, bounds: FlushBounds): readonly PendingResponse[];
  /** Of what is asked for nothing changed up to this revision: the client counts as told up to there. */
  catchUp(revision: number): void;
  /** Whether the client was told of a name as it stands now. */
  isSent(name: string, view: View, responses: SharedResponses): boolean;
  /** What `next` would send now. More than that does no harm. */
  upcoming(view: View, responses: SharedResponses): Iterable<Upcoming>;
  /** Newer content is there that `next` held back until an answer is settled. */
  isWaiting(view: View): boolean;
}
