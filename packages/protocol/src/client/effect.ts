import type { DiscoveryRequest } from "../message/request.ts";
import type { Status } from "../message/status.ts";
import type { Node } from "../node/node.ts";
import type { TypeUrl } from "../resource/type-url.ts";
import type { ClientStreamId, WatchId } from "./event.ts";
import type { SourceId } from "./source.ts";
import type { WatchEvent } from "./watch-event.ts";

/** Everything that a client machine can ask for, to be performed in order. */
export type ClientEffect =
  /** Connect to a server of a source; `stream-opened` or `stream-closed` follows. */
  | {
      readonly kind: "open-stream";
      readonly stream: ClientStreamId;
      readonly source: SourceId;
      /** The index of the server in the list of the source. */
      readonly server: number;
      /** The type of a stream, poll or file of one type; undefined on an aggregated stream. */
      readonly onlyType: TypeUrl | undefined;
    }
  /**
   * Send a request. If its `node` is set, the shell sends its own encoded node. On a poll it is the next poll: with
   * `isUrgent` it cancels one in progress (C-RST-20), otherwise it waits for its time. On a file it says which names to
   * read.
   */
  | {
      readonly kind: "send-request";
      readonly stream: ClientStreamId;
      readonly request: DiscoveryRequest;
      readonly isUrgent?: true;
    }
  /** Close a stream that is no longer needed; no `stream-closed` needs to follow. */
  | { readonly kind: "close-stream"; readonly stream: ClientStreamId }
  /** Raise `timer-fired` after `ms` milliseconds. */
  | { readonly kind: "start-timer"; readonly timer: number; readonly ms: number }
  | { readonly kind: "cancel-timer"; readonly timer: number }
  /** A source was forgotten; no effect for it follows until it is added again. */
  | { readonly kind: "source-forgotten"; readonly source: SourceId }
  | { readonly kind: "notify"; readonly watch: WatchId; readonly news: WatchEvent }
  | { readonly kind: "report"; readonly report: ClientReport };

/** What happened at a source, for metrics and logs (C-OBS-01). */
export type ClientReport =
  /** The server is connected, or the file exists; for polls, the first one was answered. */
  | { readonly kind: "stream-opened"; readonly source: SourceId; readonly server: number }
  /** The client closed an open stream that is no longer needed. */
  | { readonly kind: "stream-closed"; readonly source: SourceId; readonly server: number }
  | {
      readonly kind: "stream-ended";
      readonly source: SourceId;
      readonly server: number;
      readonly status: Status;
      /** The watched types that the stream carried. */
      readonly types: readonly TypeUrl[];
      /** Whether `stream-opened` was reported before. */
      readonly wasOpened: boolean;
      /** Whether no response came on it (C-FBK-01). A failed poll is always a failure (C-RST-17). */
      readonly isFailure: boolean;
      /** Until the next attempt, in milliseconds. */
      readonly retryMs: number;
    }
  | { readonly kind: "server-chosen"; readonly source: SourceId; readonly server: number }
  | {
      readonly kind: "request-sent";
      readonly source: SourceId;
      readonly type: TypeUrl;
      readonly as: "initial" | "ack" | "nack" | "subscription" | "poll";
      readonly node: Node | undefined;
    }
  /** A file was read; the next report has the result. */
  | { readonly kind: "file-read"; readonly source: SourceId; readonly type: TypeUrl }
  | {
      readonly kind: "response-accepted";
      readonly source: SourceId;
      readonly type: TypeUrl;
      readonly version: string;
      readonly controlPlane: string | undefined;
      readonly resources: number;
      readonly removed: number;
      /** Whether something in it differs from what was held. */
      readonly isNews: boolean;
    }
  | {
      readonly kind: "response-rejected";
      readonly source: SourceId;
      readonly type: TypeUrl;
      readonly version: string;
      readonly controlPlane: string | undefined;
      /** The error text of the NACK. */
      readonly error: string;
      /** Whether resources in it were applied all the same and differ from what was held (B-ACK-08). */
      readonly isNews: boolean;
    }
  /** A response for a type that was never requested on this stream (C-TYP-13). */
  | { readonly kind: "response-ignored"; readonly source: SourceId; readonly type: TypeUrl }
  | { readonly kind: "poll-unchanged"; readonly source: SourceId; readonly type: TypeUrl }
  /** Requested names that did not come in time (C-NEX-02). */
  | {
      readonly kind: "absence-timeout";
      readonly source: SourceId;
      readonly type: TypeUrl;
      readonly names: readonly string[];
    }
  | { readonly kind: "resource-expired"; readonly source: SourceId; readonly type: TypeUrl; readonly name: string }
  /** Requests wait for a rate limit token (C-CFG-07); `pending` is 0 when none waits any more. */
  | { readonly kind: "rate-limited"; readonly source: SourceId; readonly pending: number };
