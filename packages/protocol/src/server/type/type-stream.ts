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
import type { CurrentView } from "../cache/current-view.ts";
import type { PendingRemovals, Removable } from "../cache/pending-removals.ts";
import type { PendingResource } from "../cache/shared-selections.ts";
import type { Anomaly, RequestKind } from "../contract/effect.ts";
import type { Subscription } from "../subscription/subscription.ts";
import type { HeldBackNames } from "./held-back.ts";
import type { ReadonlySentState } from "./readonly-sent-state.ts";
import type { AbsenceBounds, UntoldAbsences } from "./untold-absences.ts";

/** Options of a type on a stream. */
export interface TypeStreamOptions {
  readonly traits: TypeTraits;
  readonly dialect: Dialect;
  /** Nobody described the type, and no layer holds any of it (S-TYP-07). */
  readonly isUnknown: boolean;
  readonly isAggregated: boolean;
  /** Whether the client is sent the TTLs of the type's resources. */
  readonly ttl: TtlVerdict;
  /**
   * Whether the type that makes this one resent was requested before on this stream, with the versions that the client
   * holds (S-REC-09 as amended).
   */
  readonly cameAfterOwner: boolean;
}

/** How a request was classified, and which responses it settled. */
export interface ClassifiedRequest {
  readonly as: RequestKind;
  readonly acked?: Delivery | undefined;
  readonly nacked?: { readonly delivery: Delivery; readonly error: Status } | undefined;
  readonly anomaly?: Anomaly;
  /** It is an ACK that changes nothing else. */
  readonly isOnlyAck?: boolean;
}

/** Terms that the client requested. */
export type AskedTerms = Pick<ReadonlySet<string>, "has" | "size">;

/** An answer to be sent now. */
export interface PendingResponse {
  readonly body: Body;
  /** Whether it brings the client up to its position, so that newer content waits until it is settled. */
  readonly isInOrder: boolean;
  /**
   * Resources that are new to the client or changed, in lists shared with others: what depends on them is resent in the
   * same flush.
   */
  readonly news: readonly (readonly Resource[])[];
  /** Set if it answers a request; in delta, the names whose absence is the answer. */
  readonly asked?: AskedTerms | undefined;
  /**
   * In the first answer to a reconnecting client: the names that it did not hold, or `unknown` if what it holds is
   * unknown. Undefined where the position says it, or where the client cannot hold anything.
   */
  readonly newToClient?: ReadonlySet<string> | "unknown" | undefined;
  /** Beside `newToClient`: the names that it held in another state; undefined: all others of the answer. */
  readonly changedForClient?: ReadonlySet<string> | undefined;
}

/** What a flush must not send yet. */
export interface FlushBounds {
  /** Which deleted resources may be removed, of a type whose removals are deferred; others become pending removals. */
  readonly removable: () => Removable;
  readonly heldBack: HeldBackNames;
  /** State of the World: whether removals are pending, so that there may be an answer although nothing changed. */
  readonly hasPendingRemovals?: boolean;
  /** Which absences of requested names may be told; others wait. */
  readonly absences: () => AbsenceBounds;
}

/** The state of a type whose deleted resources are removed last (S-ORD-05). */
export interface DeferredRemovalState {
  /** Whether the type is Clusters. */
  readonly areClusters: boolean;
  /** A deleted Cluster that the client has not unsubscribed from yet; undefined: none. */
  readonly unreleased: string | undefined;
}

/** One resource type on one stream: the interface that both variants implement. */
export interface TypeStream {
  readonly traits: TypeTraits;
  readonly subscription: Subscription;
  readonly deliveries: Deliveries;
  readonly ttl: TtlVerdict;
  /** How many names the client's requests list, as limits count them: those subscribed to, and those that are hints. */
  readonly namesAskedFor: number;
  /** How many names are kept that the client gave up, or for responses that were not accepted, as limits count them. */
  readonly namesKept: number;
  /**
   * The memory of what the client said beside its node and names, in bytes: the reasons of its NACKs, and the versions
   * that it listed until they were compared.
   */
  readonly saidBytes: number;
  /** What the client was sent. */
  readonly sentState: ReadonlySentState;
  /** The position up to which the client was sent changes; undefined before the first response. */
  readonly position: Position | undefined;
  /**
   * Journals are needed since this position: the position of the client or, before the first response, the start of a
   * paused comparison.
   */
  readonly needsChangesSince: Position | undefined;
  /** Whether a comparison of many names continues in the next flush. */
  readonly isPaused: boolean;
  /** Deleted resources that the client still holds; always empty for types whose removals are not deferred. */
  readonly pendingRemovals: PendingRemovals;
  /** Requested names whose absence waits. */
  readonly untoldAbsences: Pick<UntoldAbsences, "isEmpty" | "oldest" | "has">;
  /** Undefined: deleted resources are removed at once. */
  readonly deferredRemovals?: DeferredRemovalState | undefined;
  /** Whether single resources can be held back while others are sent. */
  readonly canHoldBack: boolean;
  /** Whether an older state of a held-back resource can be sent instead, or the resource left out of a full state. */
  readonly canTellTargets: boolean;
  /** State of the World: whether former states can be listed again, which is so after a first response on this stream. */
  readonly canRelist?: boolean | undefined;
  /** The revision before the oldest resource that is held back. Infinite: none is. */
  readonly heldBackFrom: number;
  onRequest(request: DiscoveryRequest): ClassifiedRequest;
  /**
   * State of the World: the client reconnected with what was sent at this position. It is sent everything all the same
   * (S-REC-04).
   */
  standAt?(position: Position): void;
  /**
   * Marks those of the names that are subscribed to as pending, whatever their version. Returns whether there are any.
   */
  resend(names: ReadonlySet<string>): boolean;
  /** Whether there may be something to send. */
  hasNews(view: View): boolean;
  /** The answers to send now, from the newest state. */
  next(current: CurrentView, bounds: FlushBounds): readonly PendingResponse[];
  /** Nothing that is subscribed to changed up to this revision: the position advances to it. */
  catchUp(revision: number): void;
  /** Whether the client was sent the current state of a name. */
  isSent(name: string, current: CurrentView): boolean;
  /** What `next` would send now; may contain more. */
  pendingResources(current: CurrentView): Iterable<PendingResource>;
  /** Delta: the names that a reconnected client lists at their current version, and is not sent; until they were compared. */
  listedIn?(view: View): ReadonlySet<string>;
  /** Whether something that the client holds is to be removed. */
  removesAny(current: CurrentView): boolean;
  /**
   * Delta: whether `next` may send a removal that has to wait, as it does not if only changes are to be sent and none is a
   * removal. That a requested name is absent does not wait.
   */
  mayRemove?(current: CurrentView): boolean;
  /**
   * Delta: withholds the removals of those of the names that the view refers to, until it no longer does. Returns them.
   */
  withholdReferenced?(names: Iterable<string>, view: View): ReadonlySet<string>;
  /** Whether any removal is withheld so: the change of another type may release it. */
  readonly withholdsRemovals?: boolean;
  /** Whether `next` held back newer content until a response is settled. */
  isWaiting(view: View): boolean;
}
