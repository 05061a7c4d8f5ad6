import type { DiscoveryResponse } from "../message/response.ts";
import type { Status } from "../message/status.ts";
import type { Node } from "../node/node.ts";
import type { TypeUrl } from "../resource/type-url.ts";
import type { KeptResource } from "./held.ts";
import type { SourceId, SourceSpec } from "./source.ts";

/** Names one watch for its life; given by the shell, never used again. */
export type WatchId = number;
/** Names one attempt to talk to a server for its life; given by the client machine, never used again. */
export type ClientStreamId = number;

/** When an event happened. */
export interface Moment {
  /** Milliseconds since some fixed moment; never goes back. */
  readonly nowMs: number;
  /** A random number, at least 0 and less than 1; another one with each event. */
  readonly chance: number;
}

/** All that can happen to a client. */
export type ClientEvent =
  /** A source that watches may name from now on. One that is there already is left as it is. */
  | { readonly kind: "source-added"; readonly source: SourceSpec }
  | WatchStarted
  | { readonly kind: "watch-stopped"; readonly watch: WatchId }
  /** The server is connected to, and what is sent now reaches it. A file was found, a poll may go out. */
  | { readonly kind: "stream-opened"; readonly stream: ClientStreamId }
  /**
   * A response is there, and is being judged: until `response-received`, nothing of its type is asked (C-ACK-09). The shell reads no further
   * response of the stream before (C-CLI-07). Left out where judging takes no time.
   */
  | {
      readonly kind: "response-arrived";
      readonly stream: ClientStreamId;
      readonly type: TypeUrl;
      readonly nonce: string;
    }
  | { readonly kind: "response-received"; readonly stream: ClientStreamId; readonly response: DiscoveryResponse }
  /** REST: nothing changed (C-RST-04). It counts as an answer of the server. */
  | { readonly kind: "poll-unchanged"; readonly stream: ClientStreamId; readonly type: TypeUrl }
  /** REST: the delay is over, and the next poll may go out; the machine answers with `send-request` (C-RST-08). */
  | { readonly kind: "poll-due"; readonly stream: ClientStreamId; readonly type: TypeUrl }
  /**
   * What came is nothing that can be read: no JSON, no message, a file that is cut short (C-RST-18, C-FS-06). The stream goes on. Of gRPC,
   * whose messages have no nonce then, the shell ends the stream instead.
   */
  | {
      readonly kind: "unreadable-received";
      readonly stream: ClientStreamId;
      readonly type: TypeUrl;
      readonly problem: string;
    }
  /**
   * The stream ended, could not be opened, or a poll failed (C-RST-17); heard of our own `close-stream` too, and harmless then.
   */
  | { readonly kind: "stream-closed"; readonly stream: ClientStreamId; readonly status: Status }
  | { readonly kind: "timer-fired"; readonly timer: number }
  /** The client describes itself otherwise from now on (C-MSC-07). */
  | { readonly kind: "node-changed"; readonly node: Node }
  /** What was accepted in an earlier life; used if the first attempt to reach the source fails (C-CLI-06). */
  | { readonly kind: "resources-restored"; readonly source: SourceId; readonly resources: readonly KeptResource[] }
  /** Nothing warms any more: answers that were withheld for that are acknowledged (C-ACK-15). */
  | { readonly kind: "warming-ended"; readonly source: SourceId };

/** Somebody wants to know of a name, of a glob collection, or of everything there is of a type. */
export interface WatchStarted {
  readonly kind: "watch-started";
  readonly watch: WatchId;
  readonly source: SourceId;
  readonly type: TypeUrl;
  /** A name, a glob, `*`; with parameters as `locatedTerm` writes it (C-LOC-01, B-LOC-09). */
  readonly term: string;
  /** It is told as well when a fresh answer has what is held already (C-WRM-04). */
  readonly wantsConfirmations?: true;
}
