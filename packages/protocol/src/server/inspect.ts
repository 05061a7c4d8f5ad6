import type { TtlVerdict } from "../dialect/ttl.ts";
import type { Status } from "../message/status.ts";
import type { Node } from "../node/node.ts";
import type { Peer } from "../node/placement.ts";
import type { ErrorDetail } from "../resource/resource.ts";
import type { TypeUrl } from "../resource/type-url.ts";
import type { StreamId, Variant } from "./event.ts";
import type { Wait } from "./wait.ts";

/** One stream as it stands, for people (admin API, dashboards). */
export interface StreamState {
  readonly stream: StreamId;
  readonly variant: Variant;
  readonly onlyType: TypeUrl | undefined;
  readonly peer: Peer;
  /** It is no stream: it polls, and is shown for some minutes after its last poll (S-RST-12). */
  readonly isPoller?: true;
  /** Undefined before the first request. */
  readonly node: Node | undefined;
  readonly layers: readonly string[];
  readonly types: readonly TypeState[];
}

/** One type on one stream. */
export interface TypeState {
  readonly type: TypeUrl;
  readonly isWildcard: boolean;
  /** Names subscribed to beside a wildcard. */
  readonly names: number;
  /** Subscribed names that nothing in the view answers to; at most 100 of them. */
  readonly missing: readonly string[];
  /** Why names that it asks for do not exist, as it was told; at most 100 of them. */
  readonly errors: readonly ResourceErrorState[];
  /** The revision up to which the client was told; undefined before its first answer. */
  readonly toldRevision: number | undefined;
  /** The version the client would have if it took everything sent. */
  readonly sentVersion: string | undefined;
  /** What has to come before what there is to be sent; undefined: nothing waits. */
  readonly wait: Wait | undefined;
  /** The resources that wait; of a type that is told as a whole the first of them, of removals none; at most 100 of them. */
  readonly waiting: readonly string[];
  /** Clusters that are gone and that the client is left with until nothing can use them; at most 100 of them. */
  readonly heldOver: readonly string[];
  /** Whether the client is told of ttls that resources of the type have, or why not; undefined: none has one. */
  readonly ttl: TtlVerdict | undefined;
  /** Sent and not answered yet, oldest first. Heartbeats are not among them. */
  readonly pending: readonly DeliveryState[];
  /** The newest response that was accepted. */
  readonly acked: DeliveryState | undefined;
  /** The newest response that was refused and that no accepted one came after. */
  readonly nacked: (DeliveryState & { readonly error: Status; readonly refused: readonly string[] }) | undefined;
}

/** Why a client was not given a resource. */
export interface ResourceErrorState {
  readonly name: string;
  readonly error: ErrorDetail;
}

/** One response and its fate so far. */
export interface DeliveryState {
  readonly nonce: string;
  readonly version: string;
  readonly revision: number;
  readonly resources: number;
  readonly removed: number;
}
