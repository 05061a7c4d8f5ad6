import type { DiscoveryRequest } from "../message/request.ts";
import type { Status } from "../message/status.ts";
import type { Node } from "../node/node.ts";
import type { TypeUrl } from "../resource/type-url.ts";
import type { ClientStreamId, WatchId } from "./event.ts";
import type { News } from "./news.ts";
import type { SourceId } from "./source.ts";

/** All that a client can ask for. Performed in order. */
export type ClientEffect =
  /** Connects to a server of a source; `stream-opened` or `stream-closed` follows. */
  | {
      readonly kind: "open-stream";
      readonly stream: ClientStreamId;
      readonly source: SourceId;
      /** The place of the server in the list of the source. */
      readonly server: number;
      /** The type of a stream, poll or file of one type; undefined on an aggregated stream. */
      readonly onlyType: TypeUrl | undefined;
    }
  /**
   * Sends a request. Its `node` is set where it is to be sent; the shell encodes its own for it. On a poll, the next poll: one that is under way is given
   * up if `isUrgent` (C-RST-20), else it waits for its time. On a file: what is wanted of it, so that it is read.
   */
  | {
      readonly kind: "send-request";
      readonly stream: ClientStreamId;
      readonly request: DiscoveryRequest;
      readonly isUrgent?: true;
    }
  /** Nobody needs the stream any more. `stream-closed` is not expected. */
  | { readonly kind: "close-stream"; readonly stream: ClientStreamId }
  /** After `ms` milliseconds, `timer-fired`. */
  | { readonly kind: "start-timer"; readonly timer: number; readonly ms: number }
  | { readonly kind: "cancel-timer"; readonly timer: number }
  | { readonly kind: "notify"; readonly watch: WatchId; readonly news: News }
  | { readonly kind: "report"; readonly report: ClientReport };

/** What happened at a source, for counters and logs (C-OBS-01). */
export type ClientReport =
  /** A server is connected to, a file is there; of polls, the first one was answered. */
  | { readonly kind: "stream-opened"; readonly source: SourceId; readonly server: number }
  /** One that was opened, and that nobody needs any more. */
  | { readonly kind: "stream-closed"; readonly source: SourceId; readonly server: number }
  | {
      readonly kind: "stream-ended";
      readonly source: SourceId;
      readonly server: number;
      readonly status: Status;
      /** Those that somebody wants, and that were to come on it. */
      readonly types: readonly TypeUrl[];
      /** It was told as opened before. */
      readonly wasOpened: boolean;
      /** No response came on it (C-FBK-01). A poll that failed is one whatever those before were answered (C-RST-17). */
      readonly isFailure: boolean;
      /** Until the next attempt. */
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
  /** A file was read, whatever was in it: the next report says. */
  | { readonly kind: "file-read"; readonly source: SourceId; readonly type: TypeUrl }
  | {
      readonly kind: "response-accepted";
      readonly source: SourceId;
      readonly type: TypeUrl;
      readonly version: string;
      readonly controlPlane: string | undefined;
      readonly resources: number;
      readonly removed: number;
      /** Something in it differs from what was held. */
      readonly isNews: boolean;
    }
  | {
      readonly kind: "response-rejected";
      readonly source: SourceId;
      readonly type: TypeUrl;
      readonly version: string;
      readonly controlPlane: string | undefined;
      /** The text that is sent in the NACK. */
      readonly error: string;
      /** Something in it was taken all the same, and differs from what was held (B-ACK-08). */
      readonly isNews: boolean;
    }
  /** A response for what was never asked for on this stream (C-TYP-13). */
  | { readonly kind: "response-ignored"; readonly source: SourceId; readonly type: TypeUrl }
  | { readonly kind: "poll-unchanged"; readonly source: SourceId; readonly type: TypeUrl }
  /** Names that were asked for and did not come in time (C-NEX-02). */
  | {
      readonly kind: "absence-timeout";
      readonly source: SourceId;
      readonly type: TypeUrl;
      readonly names: readonly string[];
    }
  | { readonly kind: "resource-expired"; readonly source: SourceId; readonly type: TypeUrl; readonly name: string }
  /** Requests wait for a token (C-CFG-07); `pending` of 0: none does any more. */
  | { readonly kind: "rate-limited"; readonly source: SourceId; readonly pending: number };
