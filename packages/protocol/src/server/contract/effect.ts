import type { Body } from "../../message/body.ts";
import type { Status } from "../../message/status.ts";
import type { Node } from "../../node/node.ts";
import type { Peer } from "../../node/node-mapping.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import type { StreamId } from "./event.ts";
import type { PollEffect } from "./poll.ts";
import type { Remembered } from "./remembered.ts";
import type { PassedLimit } from "./stream-limits.ts";
import type { Wait } from "./wait.ts";

/** All that the plane can ask for. Performed in order. */
export type ServerEffect =
  | {
      readonly kind: "send";
      readonly stream: StreamId;
      readonly body: Body;
      /** Never empty, and never the same twice on a stream (S-NON-01). */
      readonly nonce: string;
    }
  | PollEffect
  /** Ends the RPC with this status, and names the limit that the client passed, if that is why. `stream-closed` still follows. */
  | {
      readonly kind: "close-stream";
      readonly stream: StreamId;
      readonly status: Status;
      readonly limit?: PassedLimit["limit"];
    }
  /** After `ms` milliseconds, `timer-fired`. */
  | { readonly kind: "start-timer"; readonly timer: number; readonly ms: number }
  | { readonly kind: "cancel-timer"; readonly timer: number }
  /** Keeps this beyond the life of the server, before what follows is sent. */
  | { readonly kind: "remember"; readonly what: Remembered }
  | { readonly kind: "report"; readonly report: Report };

/** How a request was understood. One request may be several: an ACK that also subscribes is counted as `ack`. */
export type RequestKind = "initial" | "subscribe" | "unsubscribe" | "ack" | "nack" | "stale" | "repeat";

/** What happened to a stream, for counters, logs, and whoever wants to know (S-ACK-13, S-OBS-02, S-OBS-03). */
export type Report =
  /** The first request named the node; it was placed. */
  | {
      readonly kind: "node-identified";
      readonly stream: StreamId;
      readonly node: Node;
      readonly layers: readonly string[];
    }
  | { readonly kind: "node-moved"; readonly stream: StreamId; readonly node: Node; readonly layers: readonly string[] }
  | {
      readonly kind: "request-understood";
      readonly stream: StreamId;
      readonly node: Node;
      readonly type: TypeUrl;
      readonly as: RequestKind;
    }
  | {
      readonly kind: "response-sent";
      readonly stream: StreamId;
      readonly node: Node;
      readonly type: TypeUrl;
      readonly nonce: string;
      readonly version: string;
      readonly revision: number;
      readonly resources: number;
      readonly removed: number;
    }
  /** What the client holds for a time it may keep for that time anew. */
  | {
      readonly kind: "heartbeat-sent";
      readonly stream: StreamId;
      readonly node: Node;
      readonly type: TypeUrl;
      readonly nonce: string;
      readonly version: string;
      readonly resources: number;
    }
  | {
      readonly kind: "response-acked";
      readonly stream: StreamId;
      readonly node: Node;
      readonly type: TypeUrl;
      readonly nonce: string;
      readonly version: string;
    }
  | {
      readonly kind: "response-nacked";
      readonly stream: StreamId;
      readonly node: Node;
      readonly type: TypeUrl;
      readonly nonce: string;
      readonly version: string;
      readonly error: Status;
      /** The names that were in the rejected response, in its order; at most 100 of them. */
      readonly names: readonly string[];
    }
  /** Somebody polls who is not remembered. From now on `stream` is his number, as if his polls were a stream of one type. */
  | {
      readonly kind: "poller-met";
      readonly stream: StreamId;
      readonly node: Node;
      readonly peer: Peer;
      readonly type: TypeUrl;
    }
  /** He has not polled for long, or others are remembered in his place. */
  | { readonly kind: "poller-forgotten"; readonly stream: StreamId; readonly node: Node; readonly type: TypeUrl }
  /** Told with every poll that comes without the version that was given before: a refusal that nobody explains (I4). */
  | {
      readonly kind: "polled-at-old-version";
      readonly stream: StreamId;
      readonly node: Node;
      readonly type: TypeUrl;
      /** The one that was given. */
      readonly version: string;
    }
  /** From now on something is not sent because of something else that has to come first. */
  | ({ readonly kind: "wait-began" } & WaitReport)
  | ({ readonly kind: "wait-ended" } & WaitReport)
  /** It was waited for in vain, and is not any longer: what waited is sent. The client may not be protected. */
  | ({ readonly kind: "order-overdue" } & WaitReport)
  /**
   * A client came back with a version of Clusters that nobody remembers: what it holds is not known, so nothing that it
   * may still use can be held over (S-ORD-05).
   */
  | {
      readonly kind: "client-unprotected";
      readonly stream: StreamId;
      readonly node: Node;
      readonly type: TypeUrl;
    }
  /** Something odd that was borne: a changed node, an unknown type, a stale nonce, late initial versions. */
  | {
      readonly kind: "oddity";
      readonly stream: StreamId;
      readonly node: Node;
      readonly type: TypeUrl | undefined;
      readonly what: Anomaly;
    };

interface WaitReport {
  readonly stream: StreamId;
  readonly node: Node;
  readonly type: TypeUrl;
  readonly wait: Wait;
}

export type Anomaly = "node-changed" | "unknown-type" | "stale-nonce" | "late-initial-versions" | "ack-overdue";
