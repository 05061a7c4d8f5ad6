import type { DialectState } from "../../dialect/explain.ts";
import type { TtlVerdict } from "../../dialect/ttl.ts";
import type { ClientState } from "../../message/client-state.ts";
import type { Status } from "../../message/status.ts";
import type { Variant } from "../../message/variant.ts";
import type { Node } from "../../node/node.ts";
import type { Peer } from "../../node/node-mapping.ts";
import type { ApiVersion } from "../../resource/api-version.ts";
import type { ErrorDetail, Resource } from "../../resource/resource.ts";
import type { TypeKind } from "../../resource/type-kinds.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import type { StreamId } from "./event.ts";
import type { Wait } from "./wait.ts";

/** The current state of one stream, for people (admin API, dashboards). */
export interface StreamState {
  readonly stream: StreamId;
  readonly variant: Variant;
  readonly onlyType: TypeUrl | undefined;
  /** The API version of the messages. */
  readonly apiVersion: ApiVersion;
  readonly peer: Peer;
  /** Set for a poller, which is no stream; it is listed for some minutes after its last poll (S-RST-12). */
  readonly isPoller?: true;
  /**
   * Set for a poller that has not ACKed or NACKed yet: it may be a single request, as with curl, and does not count as a
   * connected node.
   */
  readonly isUnconfirmed?: true;
  /** Undefined before the first request. */
  readonly node: Node | undefined;
  /** The same for all streams of one client: those of a node on one connection, and those that share one order. */
  readonly client: string | undefined;
  /** Why the stream has its dialect; undefined before the first request. */
  readonly dialect: DialectState | undefined;
  readonly layers: readonly string[];
  readonly types: readonly TypeState[];
}

/** A stream or poller whose node is known, without what it subscribes to, which is costly to describe. */
export type PlacedStream = Pick<StreamState, "peer" | "onlyType" | "layers" | "isPoller" | "isUnconfirmed"> & {
  readonly node: Node;
};

/** The state of one type on one stream. */
export interface TypeState {
  readonly type: TypeUrl;
  readonly isWildcard: boolean;
  /** How many names are subscribed to beside a wildcard. */
  readonly names: number;
  /** Subscribed names that no resource of the view matches; at most 100. */
  readonly doesNotExist: readonly string[];
  /** Resource errors that the client was sent; at most 100. */
  readonly errors: readonly ResourceErrorState[];
  /** The revision up to which the client was sent changes; undefined before its first response. */
  readonly sentRevision: number | undefined;
  /** The version that the client has if it ACKs everything sent. */
  readonly sentVersion: string | undefined;
  /** What has to come before the unsent changes; undefined: nothing waits. */
  readonly wait: Wait | undefined;
  /** The resources that wait; at most 100. Empty for removals; for a type that is sent as a whole only the first. */
  readonly waiting: readonly string[];
  /** Deleted Clusters that are not removed from the client yet, because something may still use them; at most 100. */
  readonly pendingRemovals: readonly string[];
  /** Whether the client is sent the TTLs of the type's resources, or why not; undefined: no resource has a TTL. */
  readonly ttl: TtlVerdict | undefined;
  /** Responses without ACK or NACK, oldest first; without heartbeats. */
  readonly pending: readonly DeliveryState[];
  /** The newest response that was ACKed. */
  readonly acked: DeliveryState | undefined;
  /** The newest response that was NACKed, unless a later one was ACKed. */
  readonly nacked: (DeliveryState & { readonly error: Status; readonly names: readonly string[] }) | undefined;
}

/** The status of a resource at a client; `unknown`: the server does not know the type. */
export type ResourceStatus = Extract<
  ClientState,
  "acked" | "pending" | "nacked" | "not-sent" | "does-not-exist" | "received-error" | "unknown"
>;

/** The status of one resource, or of one subscribed name, on one stream (B-OBS-04). */
export interface ResourceState {
  readonly type: TypeUrl;
  readonly kind: TypeKind;
  readonly name: string;
  readonly status: ResourceStatus;
  /** The resource that the status is about: held, in flight, NACKed, or to be sent. Undefined: there is none. */
  readonly resource: Resource | undefined;
  /** The nonce of the response that the status is about, while the server remembers it. */
  readonly nonce: string | undefined;
  /** Why the client NACKed the resource, or why the resource does not exist. */
  readonly error: Status | undefined;
  /** Whether the client was sent the current state of the resource, or of its absence. */
  readonly isSent: boolean;
}

/** Why the client did not get a resource. */
export interface ResourceErrorState {
  readonly name: string;
  readonly error: ErrorDetail;
}

/** A response, as far as people are shown it. */
export interface DeliveryState {
  /** Empty for what the client came back with, which it ACKed in a response of a former stream. */
  readonly nonce: string;
  readonly version: string;
  readonly revision: number;
  readonly resources: number;
  readonly removed: number;
}
