import type { ErrorDetailAnswer, Page } from "./page.ts";

/** `GET /api/v1/resources` */
export type ResourcesAnswer = Page<ResourceAnswer>;

export interface ResourceAnswer {
  readonly type: string;
  readonly shortName?: string;
  readonly name: string;
  /** The constraints of this variant, in readable form, if the name has several variants. */
  readonly constraints?: string;
  readonly version: string;
  readonly layer: string;
  readonly bytes: number;
  readonly aliases?: readonly string[];
  readonly ttlMs?: number;
  readonly onDemand?: boolean;
  readonly references: readonly { readonly type: string; readonly name: string }[];
  /** The resource error that stands in place of the resource. */
  readonly error?: ErrorDetailAnswer;
  /** With `body=true`: canonical JSON, secrets replaced. */
  readonly body?: unknown;
  /** With `body=true`: why there is no body. */
  readonly problem?: string;
}

/** `GET /api/v1/node-resources` */
export type NodeResourcesAnswer = Page<NodeResourceAnswer>;

/** A resource that a connected node subscribes to. */
export interface NodeResourceAnswer {
  readonly type: string;
  readonly shortName?: string;
  readonly name: string;
  readonly stream: number;
  /**
   * `acked`: sent and ACKed. `pending`: sent, without ACK or NACK. `nacked`: NACKed. `not-sent`: waits to be sent.
   * `does-not-exist`: subscribed to, and does not exist. `received-error`: a resource error stands in its place.
   * `unknown`: nothing is known of its type.
   */
  readonly status: "acked" | "pending" | "nacked" | "not-sent" | "does-not-exist" | "received-error" | "unknown";
  /** The version that the status is about. */
  readonly version?: string;
  /** Why the node NACKed it, or why it does not exist. */
  readonly reason?: string;
  /** With `body=true`: canonical JSON, secrets replaced. */
  readonly body?: unknown;
  /** With `body=true`: why there is no body. */
  readonly problem?: string;
}

/** `GET /api/v1/holders` */
export type HoldersAnswer = Page<HolderAnswer>;

/** What a node has of one resource. */
export interface HolderAnswer {
  readonly node: string;
  /**
   * `acked`: sent and ACKed. `pending`: sent, without ACK or NACK. `nacked`: NACKed. `not-sent`: waits to be sent.
   * `does-not-exist`: subscribed to, and does not exist. `received-error`: a resource error stands in its place.
   */
  readonly status:
    | "acked"
    | "pending"
    | "nacked"
    | "not-sent"
    | "does-not-exist"
    | "received-error"
    | "unknown"
    | "not-subscribed";
  /** The version that the status is about. */
  readonly version?: string;
  readonly error?: ErrorDetailAnswer;
}

/** `GET /api/v1/graph`: a resource, which is the first, with what it refers to and what refers to it. */
export interface GraphAnswer {
  readonly nodes: readonly GraphNodeAnswer[];
  /** References, by the positions of the resources in `nodes`. */
  readonly edges: readonly { readonly from: number; readonly to: number }[];
  /** True if there are more than are shown. */
  readonly isCut?: true;
}

export interface GraphNodeAnswer {
  readonly type: string;
  readonly shortName?: string;
  readonly name: string;
  readonly layer?: string;
  /** No layer has it. */
  readonly missing?: true;
}

/** `GET /api/v1/conversions` */
export type ConversionsAnswer = Page<ConversionAnswer>;

/** A resource that was converted between v2 and v3, and what the other version cannot express. */
export interface ConversionAnswer {
  /** The type after conversion. */
  readonly type: string;
  readonly shortName?: string;
  readonly name: string;
  readonly layer: string;
  /** Problems by field; the path uses the field names of the proto files. */
  readonly findings: readonly { readonly path: string; readonly message: string }[];
}
