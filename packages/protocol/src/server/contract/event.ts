import type { AccessPolicy } from "../../access/access-policy.ts";
import type { ClientChoice, NamedChoice } from "../../dialect/choice.ts";
import type { MethodSwitch } from "../../dialect/dialect.ts";
import type { DiscoveryRequest } from "../../message/request.ts";
import type { Variant } from "../../message/variant.ts";
import type { NodeMapping, Peer } from "../../node/node-mapping.ts";
import type { ApiVersion } from "../../resource/api-version.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import type { Transaction } from "../../state/transaction.ts";
import type { PollEvent } from "./poll.ts";
import type { PreparedCommit } from "./prepared-commit.ts";
import type { Remembered } from "./remembered.ts";

/** Identifies one stream for its life; chosen by the host, never reused. */
export type StreamId = number;

/** An event that the host gives to the server machine. */
export type ServerEvent =
  | TransactionCommitted
  | StreamEvent
  | PollEvent
  | { readonly kind: "timer-fired"; readonly timer: number }
  /**
   * The `remember` effects of the previous server, in their order. Comes before the first transaction, which then
   * replaces that server's Clusters in every layer.
   */
  | { readonly kind: "history-restored"; readonly remembered: Iterable<Remembered> }
  /** The `remember` effects of another server with the same resources, by the revisions of this one. */
  | { readonly kind: "served-elsewhere"; readonly remembered: Iterable<Remembered> };

/** An event about one stream. */
export type StreamEvent =
  | StreamOpened
  | { readonly kind: "request-received"; readonly stream: StreamId; readonly request: DiscoveryRequest }
  | RequestWithheld
  /** The client half-closed or cancelled, its connection broke, or the server ended the stream. */
  | { readonly kind: "stream-closed"; readonly stream: StreamId }
  /** The client does not read. Until `stream-drained` the stream gets no flush, so it buffers nothing (S-GRP-07). */
  | { readonly kind: "stream-stalled"; readonly stream: StreamId }
  | { readonly kind: "stream-drained"; readonly stream: StreamId };

/** Takes effect as a whole, at one revision: a client is served by the state before it or by the state after it. */
export interface TransactionCommitted {
  readonly kind: "transaction-committed";
  /** Changes of any number of layers. */
  readonly transaction?: Transaction;
  /** What the machine prepared for this transaction. */
  readonly prepared?: PreparedCommit;
  /** Maps every node to layers again: the mapping is another one, or something that it reads changed. */
  readonly nodeMapping?: NodeMapping;
  /** Decides again what every client may have. */
  readonly access?: AccessPolicy;
  /** Applies other client overrides to streams whose first request is still to come; other streams keep theirs. */
  readonly clients?: ClientChoice;
}

/**
 * A request cannot be answered yet, because the content of what it asks for is not at hand. Its type stays pending on the
 * stream until `request-received` brings the request itself. Told again, it replaces what was told of the type.
 */
export interface RequestWithheld {
  readonly kind: "request-withheld";
  readonly stream: StreamId;
  readonly request: DiscoveryRequest;
  /** The names whose content is waited for. */
  readonly missing: readonly string[];
}

export interface StreamOpened {
  readonly kind: "stream-opened";
  readonly stream: StreamId;
  readonly variant: Variant;
  /**
   * The type of a per-type stream, unless its first request names the type's twin in the other API version; undefined
   * on an aggregated stream.
   */
  readonly onlyType: TypeUrl | undefined;
  /** A unary fetch: a stream that ends after its first answer. */
  readonly isFetch?: boolean;
  /** The API version of the messages; that of the resource types in them may differ (B-TYP-08). */
  readonly apiVersion: ApiVersion;
  /** The dialect switch that must be on for a client of this method; undefined: none. */
  readonly needs?: MethodSwitch;
  readonly peer: Peer;
  /**
   * The connection of the stream. Streams of one node on one connection belong to one client, even if other clients use
   * the same node id (S-WRM-12).
   */
  readonly connection: number;
  /** The overrides of the listener that the client connected to. */
  readonly listener?: NamedChoice | undefined;
}
