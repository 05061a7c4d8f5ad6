import type { ClientChoice, NamedChoice } from "../../dialect/choice.ts";
import type { MethodSwitch } from "../../dialect/dialect.ts";
import type { DiscoveryRequest } from "../../message/request.ts";
import type { Variant } from "../../message/variant.ts";
import type { NodeMapping, Peer } from "../../node/node-mapping.ts";
import type { ApiVersion } from "../../resource/api-version.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import type { Transaction } from "../../state/transaction.ts";
import type { PollEvent } from "./poll.ts";
import type { Remembered } from "./remembered.ts";

/** Names one stream for its life; given by the shell, never used again. */
export type StreamId = number;

/** All that can happen to the plane. */
export type ServerEvent =
  /** Changes over many layers that take effect together. */
  | { readonly kind: "transaction-committed"; readonly transaction: Transaction }
  | StreamOpened
  | { readonly kind: "request-received"; readonly stream: StreamId; readonly request: DiscoveryRequest }
  /** The client half-closed, cancelled, or its connection broke; or we ended it. */
  | { readonly kind: "stream-closed"; readonly stream: StreamId }
  /** The client does not read: until `stream-drained`, the stream gets no turn, so it costs integers (S-GRP-07). */
  | { readonly kind: "stream-stalled"; readonly stream: StreamId }
  | { readonly kind: "stream-drained"; readonly stream: StreamId }
  /** Nodes are to be placed anew: by another function, or because the one there is reads something that changed. */
  | { readonly kind: "node-mapping-changed"; readonly nodeMapping: NodeMapping }
  /** Streams whose first request is still to come are spoken to by another choice; the others stay as they are. */
  | { readonly kind: "clients-changed"; readonly clients: ClientChoice | undefined }
  | { readonly kind: "timer-fired"; readonly timer: number }
  | PollEvent
  /**
   * What `remember` effects of the server before said, in their order. Comes before the first transaction, which then replaces
   * the Clusters of that server in every layer.
   */
  | { readonly kind: "history-restored"; readonly remembered: Iterable<Remembered> };

export interface StreamOpened {
  readonly kind: "stream-opened";
  readonly stream: StreamId;
  readonly variant: Variant;
  /** The type of a per-type stream, unless its first request names the twin of it; undefined on an aggregated one. */
  readonly onlyType: TypeUrl | undefined;
  /** The version of the messages on it; that of the types in them may be the other one (B-TYP-08). */
  readonly apiVersion: ApiVersion;
  /** The switch without which a client is not served on this stream; undefined: there is none. */
  readonly needs?: MethodSwitch;
  readonly peer: Peer;
  /** Streams of one connection share it: those of a node on it are one client's, also where others have its id (S-WRM-12). */
  readonly connection: number;
  /** What was chosen for the listener that the client came to. */
  readonly listener?: NamedChoice | undefined;
}
