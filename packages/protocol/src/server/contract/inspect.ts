import type { DialectState } from "../../dialect/explain.ts";
import type { TtlVerdict } from "../../dialect/ttl.ts";
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

/** One stream as it stands, for people (admin API, dashboards). */
export interface StreamState {
  readonly stream: StreamId;
  readonly variant: Variant;
  readonly onlyType: TypeUrl | undefined;
  /** The version of the messages on it. */
  readonly apiVersion: ApiVersion;
  readonly peer: Peer;
  /** It is no stream: it polls, and is shown for some minutes after its last poll (S-RST-12). */
  readonly isPoller?: true;
  /** Undefined before the first request. */
  readonly node: Node | undefined;
  /** The same for all streams of one client: those of a node on one connection, and those that one order holds for. */
  readonly client: string | undefined;
  /** Why it is spoken to as it is; undefined before the first request. */
  readonly dialect: DialectState | undefined;
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
  readonly pendingRemovals: readonly string[];
  /** Whether the client is told of ttls that resources of the type have, or why not; undefined: none has one. */
  readonly ttl: TtlVerdict | undefined;
  /** Sent and not answered yet, oldest first. Heartbeats are not among them. */
  readonly pending: readonly DeliveryState[];
  /** The newest response that was accepted. */
  readonly acked: DeliveryState | undefined;
  /** The newest response that was refused and that no accepted one came after. */
  readonly nacked: (DeliveryState & { readonly error: Status; readonly refused: readonly string[] }) | undefined;
}

/**
 * How a resource stands with a client. `synced`: it was sent and accepted. `stale`: it was sent and is not answered. `refused`:
 * it was sent and refused. `not-sent`: there is news of it, or it is new, and it waits. `missing`: it is asked for and does
 * not exist. `failed`: an error stands in its place. `unknown`: nothing is known of the type.
 */
export type ResourceStatus = "synced" | "stale" | "refused" | "not-sent" | "missing" | "failed" | "unknown";

/** One resource, or one name that is asked for, on one stream (B-OBS-04). */
export interface ResourceState {
  readonly type: TypeUrl;
  readonly kind: TypeKind;
  readonly name: string;
  readonly status: ResourceStatus;
  /** What the status is about: what is held, on its way, refused, or to be sent. Undefined: there is none. */
  readonly resource: Resource | undefined;
  /** The nonce of the response that the status is about, while it is remembered. */
  readonly nonce: string | undefined;
  /** Why it was refused, or why there is none. */
  readonly error: Status | undefined;
  /** The client was told of it as it stands, also that there is none. */
  readonly isTold: boolean;
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
