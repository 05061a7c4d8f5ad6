import type { EntryPoint } from "../../access/access-rules.ts";
import type { Body } from "../../message/body.ts";
import type { Status } from "../../message/status.ts";
import type { Node } from "../../node/node.ts";
import type { Peer } from "../../node/node-mapping.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import type { StreamId } from "./event.ts";
import type { PollEffect } from "./poll.ts";
import type { Remembered } from "./remembered.ts";
import type { Eviction, PassedLimit } from "./stream-limits.ts";
import type { Wait } from "./wait.ts";

/** An effect that the server machine asks its host to perform; effects are performed in order. */
export type ServerEffect =
  | {
      readonly kind: "send";
      readonly stream: StreamId;
      readonly body: Body;
      /** Never empty, and never used twice on a stream (S-NON-01). */
      readonly nonce: string;
    }
  | PollEffect
  /**
   * Ends the RPC with this status. `limit`: the stream limit that the client exceeded, if that is the reason.
   * `stream-closed` still follows.
   */
  | {
      readonly kind: "close-stream";
      readonly stream: StreamId;
      readonly status: Status;
      readonly limit?: PassedLimit["limit"];
    }
  /** Fires `timer-fired` after `ms` milliseconds. */
  | { readonly kind: "start-timer"; readonly timer: number; readonly ms: number }
  | { readonly kind: "cancel-timer"; readonly timer: number }
  /** Persists this record for the next server process, before any later effect is performed. */
  | { readonly kind: "remember"; readonly what: Remembered }
  | { readonly kind: "report"; readonly report: Report };

/**
 * How a request was classified. A request that is several of these has one kind: an ACK that also subscribes is `ack`.
 */
export type RequestKind = "initial" | "subscribe" | "unsubscribe" | "ack" | "nack" | "stale" | "repeat";

/** An event on a stream, for counters, logs and callbacks (S-ACK-13, S-OBS-02, S-OBS-03). */
export type Report =
  /** The first request named the node, and the node mapping gave its layers. */
  | {
      readonly kind: "node-connected";
      readonly stream: StreamId;
      readonly node: Node;
      readonly layers: readonly string[];
    }
  | { readonly kind: "node-moved"; readonly stream: StreamId; readonly node: Node; readonly layers: readonly string[] }
  | {
      readonly kind: "request-classified";
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
  /** A heartbeat was sent: it renews the TTLs of resources that the client holds. */
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
      /** Names of the rejected response in its order; at most 100. */
      readonly names: readonly string[];
    }
  /** A new poller was seen. From now on `stream` is its id, as if its polls were a stream of one type. */
  | {
      readonly kind: "poller-met";
      readonly stream: StreamId;
      readonly node: Node;
      readonly peer: Peer;
      readonly type: TypeUrl;
    }
  /** A poller is not remembered any more. */
  | {
      readonly kind: "poller-forgotten";
      readonly stream: StreamId;
      readonly node: Node;
      readonly type: TypeUrl;
      /** Undefined: it has not polled for some minutes. */
      readonly evicted: Eviction | undefined;
    }
  /**
   * A poll came without the version that the poller was last given: a rejection without a reason (I4). Reported for
   * each such poll.
   */
  | {
      readonly kind: "polled-at-old-version";
      readonly stream: StreamId;
      readonly node: Node;
      readonly type: TypeUrl;
      /** The version that the poller was given. */
      readonly version: string;
    }
  /** A response is held back from now on, because something else has to be sent or ACKed first. */
  | ({ readonly kind: "wait-began" } & WaitReport)
  | ({ readonly kind: "wait-ended" } & WaitReport)
  /** An ordering wait timed out: what was held back is sent, and the client may lose requests. */
  | ({ readonly kind: "order-overdue" } & WaitReport)
  /**
   * A client reconnected with a version of Clusters that the server does not remember. What the client holds is
   * unknown, so Clusters that it may still use cannot be kept as pending removals (S-ORD-05).
   */
  | {
      readonly kind: "client-unprotected";
      readonly stream: StreamId;
      readonly node: Node;
      readonly type: TypeUrl;
    }
  /** A client may not be the node that it claims to be, not have a type that it asks for, or not come in at all. */
  | {
      readonly kind: "access-denied";
      readonly entryPoint: EntryPoint;
      /** Undefined: a call that is no discovery stream. */
      readonly stream: StreamId | undefined;
      /** Without an id where the caller speaks for no node. */
      readonly node: Node;
      readonly peer: Peer;
      /** Undefined: it may not be the node, or not come in. */
      readonly type: TypeUrl | undefined;
      readonly reason: string;
    }
  /** A client protocol anomaly that the server tolerated. */
  | {
      readonly kind: "anomaly";
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
