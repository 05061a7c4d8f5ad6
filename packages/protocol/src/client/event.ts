import type { DiscoveryResponse } from "../message/response.ts";
import type { Status } from "../message/status.ts";
import type { Node } from "../node/node.ts";
import type { TypeUrl } from "../resource/type-url.ts";
import type { KeptResource } from "./held.ts";
import type { SourceId, SourceSpec } from "./source.ts";

/** Identifies a watch for its life; the shell assigns it and never reuses it. */
export type WatchId = number;
/** Identifies an attempt to reach a server for its life; the client machine assigns it and never reuses it. */
export type ClientStreamId = number;

/** The time and randomness of an event. */
export interface Moment {
  /** Milliseconds on a monotonic clock. */
  readonly nowMs: number;
  /** A random number from 0 up to 1, exclusive; a new one for each call. */
  readonly chance: number;
}

/** Everything that can happen to a client. */
export type ClientEvent =
  /** Adds a source that watches may name; ignored if there is one with this id. */
  | { readonly kind: "source-added"; readonly source: SourceSpec }
  /** Forgets a source, with everything restored for it; ignored while a watch names it. */
  | { readonly kind: "source-removed"; readonly source: SourceId }
  | WatchStarted
  | { readonly kind: "watch-stopped"; readonly watch: WatchId }
  /** The server is connected and requests reach it; a file was found, or a poll may go out. */
  | { readonly kind: "stream-opened"; readonly stream: ClientStreamId }
  /**
   * A response arrived and is being validated; until `response-received`, nothing of its type is sent (C-ACK-09). The
   * shell reads no further response of the stream until then (C-CLI-07). Omitted if validation takes no time.
   */
  | {
      readonly kind: "response-arrived";
      readonly stream: ClientStreamId;
      readonly type: TypeUrl;
      readonly nonce: string;
    }
  | { readonly kind: "response-received"; readonly stream: ClientStreamId; readonly response: DiscoveryResponse }
  /** REST: nothing changed (C-RST-04). Counts as a response. */
  | { readonly kind: "poll-unchanged"; readonly stream: ClientStreamId; readonly type: TypeUrl }
  /** REST: the delay is over and the next poll may go out; the machine replies with `send-request` (C-RST-08). */
  | { readonly kind: "poll-due"; readonly stream: ClientStreamId; readonly type: TypeUrl }
  /**
   * The input cannot be decoded: not JSON, not the message, or a truncated file (C-RST-18, C-FS-06). The stream
   * continues. For gRPC, where no nonce is known then, the shell ends the stream instead.
   */
  | {
      readonly kind: "unreadable-received";
      readonly stream: ClientStreamId;
      readonly type: TypeUrl;
      readonly problem: string;
    }
  /**
   * The stream ended or could not be opened, or a poll failed (C-RST-17). Harmless after the client's own
   * `close-stream`.
   */
  | { readonly kind: "stream-closed"; readonly stream: ClientStreamId; readonly status: Status }
  | { readonly kind: "timer-fired"; readonly timer: number }
  /** The client's node changed (C-MSC-07). */
  | { readonly kind: "node-changed"; readonly node: Node }
  /** Resources accepted in an earlier run; used if the first attempt to reach the source fails (C-CLI-06). */
  | { readonly kind: "resources-restored"; readonly source: SourceId; readonly resources: readonly KeptResource[] }
  /** Nothing is warming any more; withheld ACKs are sent (C-ACK-15). */
  | { readonly kind: "warming-ended"; readonly source: SourceId };

/** Starts a watch of a name, a glob collection, or everything of a type. */
export interface WatchStarted {
  readonly kind: "watch-started";
  readonly watch: WatchId;
  readonly source: SourceId;
  readonly type: TypeUrl;
  /** A name, a glob or `*`; with parameters in the form of `locatedTerm` (C-LOC-01, B-LOC-09). */
  readonly term: string;
  /** Also notify the watch when a new response repeats what is held (C-WRM-04). */
  readonly wantsConfirmations?: true;
}
