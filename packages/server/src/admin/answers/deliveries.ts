import type { TtlVerdict } from "@xdskit/protocol/internal";
import type { ErrorDetailAnswer, Page } from "./page.ts";

/** `GET /api/v1/deliveries` */
export type DeliveriesAnswer = Page<DeliveryAnswer>;

/** The newest delivery of one type to one node. */
export interface DeliveryAnswer {
  readonly node: string;
  /** The name and version of the node's program; "" if it sends none. */
  readonly userAgent: string;
  readonly type: string;
  readonly shortName?: string;
  readonly stream: number;
  readonly state: DeliveryFate;
  /** Version of the response that `state` is about. */
  readonly version?: string;
  readonly nonce?: string;
  readonly revision?: number;
  /** When the state began. */
  readonly since?: string;
  /** Version that the client holds, where `state` is about another one. */
  readonly ackedVersion?: string;
  readonly reason?: string;
  readonly names?: readonly string[];
  readonly doesNotExist?: readonly string[];
  readonly waits?: WaitAnswer;
  readonly pendingRemovals?: readonly string[];
  readonly ttl?: TtlVerdict;
}

/**
 * Delivery state of one type on one stream. `acked`: the client ACKed everything it was sent. `pending`: a response
 * awaits its ACK or NACK. `nacked`: the client's newest answer is a NACK. `does-not-exist`: every requested name
 * is missing. `sent`: all requested resources were sent, and no ACK is awaited. `requested`: nothing was sent yet.
 */
export type DeliveryFate = "acked" | "pending" | "nacked" | "sent" | "does-not-exist" | "requested";

/** The state of one type on one stream. */
export interface TypeAnswer {
  readonly type: string;
  readonly shortName?: string;
  readonly stream: number;
  readonly state: DeliveryFate;
  readonly isWildcard: boolean;
  /** Number of names requested besides the wildcard. */
  readonly names: number;
  /** Requested names that do not exist; at most 100. */
  readonly doesNotExist: readonly string[];
  /** Names for which the client was sent a resource error instead of a resource; at most 100. */
  readonly errors?: readonly (ErrorDetailAnswer & { readonly name: string })[];
  readonly sentRevision?: number;
  readonly sentVersion?: string;
  /** The newest response that the client ACKed. */
  readonly acked?: ResponseAnswer & { readonly ackedAt?: string };
  readonly nacked?: NackAnswer & { readonly nackedAt?: string };
  readonly waits?: WaitAnswer;
  /** Pending removals: deleted clusters that the client keeps until nothing can use them; at most 100. */
  readonly pendingRemovals?: readonly string[];
  /** Whether the client is sent TTLs, or why not; absent if no resource of the type has one. */
  readonly ttl?: TtlVerdict;
  /** Responses without ACK or NACK, oldest first. */
  readonly pending: readonly ResponseAnswer[];
}

/** What a response of the type waits for (make before break). */
export interface WaitAnswer {
  /**
   * `cluster`: the client has to ACK a cluster. `endpoints`: a cluster needs endpoints. `secret`: a secret of a cluster
   * is missing. `content`: the server has the resource without its content, as a Secret after a restart. `users`: the client has to ACK the resources that may still use a deleted cluster. `release`: the
   * client still subscribes to a deleted cluster by name. `return`: the client reconnected and gets time to subscribe
   * to what it uses.
   */
  readonly for: "cluster" | "endpoints" | "secret" | "content" | "users" | "release" | "return";
  /** The cluster; of `content`, the first of the resources. */
  readonly name?: string;
  /** The waiting resources, at most 100; of a type that is sent as a whole, the first ones. */
  readonly resources?: readonly string[];
  /** The type that the client has to ACK. */
  readonly type?: string;
  readonly shortName?: string;
  /** The client NACKed it, so only another version of it ends the wait. */
  readonly nacked?: boolean;
  readonly since?: string;
}

export interface ResponseAnswer {
  /** Empty for what the client came back with, which it ACKed in a response of a former stream. */
  readonly nonce: string;
  readonly version: string;
  readonly revision: number;
  readonly resources: number;
  readonly removed: number;
  readonly sentAt?: string;
}

export interface NackAnswer extends ResponseAnswer {
  readonly code: number;
  /** The error message of the NACK, made printable; at most 4,096 characters. */
  readonly reason: string;
  /** The resources of the NACKed response; at most 100. */
  readonly names: readonly string[];
}
