import type { TtlVerdict } from "@xdskit/protocol/internal";
import type { ErrorDetailAnswer, Page } from "./page.ts";

/** `GET /api/v1/deliveries` */
export type DeliveriesAnswer = Page<DeliveryAnswer>;

/** The fate of what one node was sent of one type. */
export interface DeliveryAnswer {
  readonly node: string;
  readonly type: string;
  readonly shortName?: string;
  readonly stream: number;
  readonly state: DeliveryFate;
  /** Of the response that the state is about. */
  readonly version?: string;
  readonly nonce?: string;
  readonly revision?: number;
  /** Since when it is so. */
  readonly since?: string;
  /** What the client holds, beside what the state is about. */
  readonly ackedVersion?: string;
  readonly reason?: string;
  readonly refused?: readonly string[];
  readonly missing?: readonly string[];
  readonly waits?: WaitAnswer;
  readonly heldOver?: readonly string[];
  readonly ttl?: TtlVerdict;
}

/**
 * How it went for one type on one stream. `acked`: the client took everything it was sent. `pending`: it was sent
 * something and has not answered. `nacked`: it refused the newest thing it answered. `requested-but-missing`: it asked
 * only for what does not exist. `sent`: it has what it asked for, and no answer is awaited. `requested`: nothing was sent yet.
 */
export type DeliveryFate = "acked" | "pending" | "nacked" | "sent" | "requested-but-missing" | "requested";

/** Where one type stands on one stream. */
export interface TypeAnswer {
  readonly type: string;
  readonly shortName?: string;
  readonly stream: number;
  readonly state: DeliveryFate;
  readonly isWildcard: boolean;
  /** Names asked for beside the wildcard. */
  readonly names: number;
  /** Asked for, and nothing has that name; at most 100 of them. */
  readonly missing: readonly string[];
  /** Names that it was told an error of, in place of a resource; at most 100 of them. */
  readonly errors?: readonly (ErrorDetailAnswer & { readonly name: string })[];
  readonly toldRevision?: number;
  readonly sentVersion?: string;
  /** What the client holds. */
  readonly acked?: ResponseAnswer & { readonly ackedAt?: string };
  readonly nacked?: RefusalAnswer & { readonly nackedAt?: string };
  readonly waits?: WaitAnswer;
  /** Clusters that are gone and that the client is left with until nothing can use them; at most 100 of them. */
  readonly heldOver?: readonly string[];
  /** Whether the client is told of ttls, or why not; absent: no resource of the type has one. */
  readonly ttl?: TtlVerdict;
  /** Sent and not answered, oldest first. */
  readonly pending: readonly ResponseAnswer[];
}

/** What has to come before what there is to be sent of a type. */
export interface WaitAnswer {
  /**
   * `cluster`: the client has to accept a cluster. `endpoints`: a cluster has to get endpoints. `secret`: a secret that a
   * cluster needs has to come. `users`: the client has to accept what may still use a cluster that is gone. `release`: the
   * client asks for a cluster that is gone by its name. `return`: the client came back, and is given time to ask for what it
   * uses.
   */
  readonly for: "cluster" | "endpoints" | "secret" | "users" | "release" | "return";
  /** The cluster. */
  readonly name?: string;
  /** The resources that wait for it; of a type that is told as a whole the first of them; at most 100 of them. */
  readonly resources?: readonly string[];
  /** The type that has to be accepted. */
  readonly type?: string;
  readonly shortName?: string;
  /** The client refused it, so nothing ends the wait but another version of it. */
  readonly refused?: boolean;
  readonly since?: string;
}

export interface ResponseAnswer {
  readonly nonce: string;
  readonly version: string;
  readonly revision: number;
  readonly resources: number;
  readonly removed: number;
  readonly sentAt?: string;
}

export interface RefusalAnswer extends ResponseAnswer {
  readonly code: number;
  /** What the client said, made printable, at most 4096 characters. */
  readonly reason: string;
  /** The resources that were in the refused response; at most 100 of them. */
  readonly refused: readonly string[];
}
