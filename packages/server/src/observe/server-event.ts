import type { Peer, Report, Status, StreamId, TypeUrl, Variant } from "@xdskit/protocol";

/** Why a stream ended, for counters and people (S-OBS-02). */
export type CloseReason =
  /** The client ended or cancelled it. */
  | "client"
  /** The connection broke. */
  | "connection-lost"
  /** It was old enough to be asked to connect anew. */
  | "max-age"
  /** The client did not read for too long. */
  | "slow"
  /** The node or its peer may not be served. */
  | "refused"
  /** The client broke the protocol or sent what cannot be read. */
  | "protocol"
  /** A limit was passed. */
  | "limit"
  /** There is nothing to serve yet. */
  | "not-ready"
  /** What the stream needs to go on is no longer kept. */
  | "lagging"
  | "shutdown"
  /** Our own mistake. */
  | "fault";

/** Why a connection or a stream was turned away before it was served. */
export type RefusalReason =
  | "not-ready"
  | "draining"
  | "max-connections"
  | "max-streams"
  | "max-streams-per-peer"
  | "rate"
  | "authentication"
  | "unknown-method";

/** What happens to a server beside what the plane reports. */
export type ShellEvent =
  | {
      readonly kind: "stream-opened";
      readonly stream: StreamId;
      readonly variant: Variant;
      /** Polling over REST is a stream of one request. */
      readonly transport: "grpc" | "rest";
      readonly onlyType: TypeUrl | undefined;
      readonly peer: Peer;
      readonly connection: number;
    }
  | {
      readonly kind: "stream-closed";
      readonly stream: StreamId;
      readonly reason: CloseReason;
      readonly status: Status;
    }
  /** The bytes of a response were handed to the connection. */
  | {
      readonly kind: "response-written";
      readonly stream: StreamId;
      readonly variant: Variant;
      readonly type: TypeUrl;
      readonly bytes: number;
    }
  | { readonly kind: "stream-stalled"; readonly stream: StreamId }
  | { readonly kind: "stream-drained"; readonly stream: StreamId }
  | { readonly kind: "connection-opened"; readonly connection: number; readonly peer: Peer }
  | { readonly kind: "connection-closed"; readonly connection: number; readonly peer: Peer }
  | { readonly kind: "admission-rejected"; readonly reason: RefusalReason; readonly peer: Peer }
  /** A transaction took effect. */
  | {
      readonly kind: "revision-made";
      readonly revision: number;
      readonly layers: number;
      readonly puts: number;
      readonly deletes: number;
    }
  | { readonly kind: "source-reported"; readonly status: SourceStatus }
  | { readonly kind: "server-started"; readonly address: string; readonly adminAddress: string | undefined }
  | { readonly kind: "drain-began"; readonly graceMs: number }
  /** Certificates were read anew, or could not be. */
  | { readonly kind: "tls-reloaded"; readonly problem: string | undefined }
  /** Our own mistake, on the stream it happened on if it is known. */
  | { readonly kind: "fault"; readonly stream: StreamId | undefined; readonly during: string; readonly cause: unknown };

/** Everything that a server tells of itself. */
export type ServerEvent = Report | ShellEvent;

/** The kinds of events, each with what it carries and when it happened (milliseconds since 1970). */
export type ServerEvents = {
  readonly [K in ServerEvent["kind"]]: Extract<ServerEvent, { readonly kind: K }> & { readonly at: number };
};

/** How the source of the resources stands. */
export interface SourceStatus {
  readonly state: "loading" | "good" | "failed";
  readonly problems: readonly SourceProblem[];
  /** Since when the source is in this state. */
  readonly since: Date;
}

/** Something wrong in what the operator gave, as the admin API tells it; `Problem` of `@xdskit/source` is one. */
export interface SourceProblem {
  readonly code: string;
  readonly severity: "error" | "warning";
  readonly file: string;
  readonly line?: number;
  readonly column?: number;
  readonly path?: string;
  readonly message: string;
  readonly hint?: string;
}
