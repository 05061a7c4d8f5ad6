import type { FieldProblem } from "@xdskit/envoy-api";
import type { ApiVersion, EntryPoint, LoadReport, Node, Peer, Status, TypeUrl, Variant } from "@xdskit/protocol";
import type {
  AccessGrant,
  Account,
  Body,
  DiscoveryRequest,
  MethodSwitch,
  NamedChoice,
  PollId,
  Remembered,
  Report,
  ReporterId,
  StreamId,
} from "@xdskit/protocol/internal";
import type { LimitName, Limits } from "../limits.ts";
import type { ByteBudget } from "./byte-budget.ts";
import type { NewPoll, PollHandle } from "./poll-registry.ts";
import type { ReadinessTracker } from "./readiness.ts";

/** The transport side of one stream. The hub calls `write` again only after `written`. */
export interface StreamHandle {
  /** The transport's prefix of a message of that length; empty where messages are not framed. */
  readonly prefix: (byteLength: number) => Uint8Array;
  /** Writes the pieces in order; calls `written` once the client's window and the socket accepted them. */
  write(pieces: readonly Uint8Array[], written: () => void): void;
  /** Ends the stream after everything written so far. */
  end(status: Status): void;
  /** Resets the stream at once: written data may be lost, and the status is reduced to a reset code. */
  reset(status: Status): void;
}

/** A response from the protocol. Receivers must not change it. */
export interface TakenResponse {
  readonly body: Body;
  readonly nonce: string;
}

/** A stream of an in-process client, which receives bodies instead of bytes. */
export interface BodyHandle {
  /** Receives the responses of one write. A multi-part answer is never split between calls. */
  take(responses: readonly TakenResponse[]): void;
  /** Ends the stream with a status. */
  end(status: Status): void;
}

/** A stream that a client opens. */
export interface NewStream {
  readonly connection: number;
  readonly variant: Variant;
  /**
   * The type of a per-type stream (its first request may name the type's twin in the other API version); undefined on
   * an aggregated stream.
   */
  readonly onlyType: TypeUrl | undefined;
  /** A unary fetch. */
  readonly isFetch?: boolean;
  /** The API version of its messages. */
  readonly apiVersion: ApiVersion;
  /** The dialect switch that must be on to serve the method; undefined: none. */
  readonly needs?: MethodSwitch;
  /** The gRPC method or REST path, for display. */
  readonly method: string;
}

/** The hub, as transports use it. No method throws because of a client's behaviour. */
export interface HubPort {
  readonly readiness: ReadinessTracker;
  readonly limits: Limits;
  /** Counts the bytes of requests that are not fully processed. */
  readonly budget: ByteBudget;
  /**
   * Admits a connection and returns its number, or undefined if a limit is exceeded and the connection is to be closed.
   * `listener`: the protocol overrides of its port.
   */
  openConnection(peer: Peer, transport: string, listener?: NamedChoice): number | undefined;
  closeConnection(connection: number, reason: string): void;
  /** Counts a request from `host:port`; returns the milliseconds that it has to wait. */
  delayRequest(account: Account, address: string): number;
  /** Counts a call that is not a discovery stream, or returns the status that rejects it. */
  openCall(peer: Peer): Status | undefined;
  /**
   * What a caller may have at an entry point, as that node where it speaks for one, or the status that refuses it. Counts
   * and tells refusals.
   */
  admit(entryPoint: EntryPoint, peer: Peer, node?: Node): AccessGrant | Status;
  /** Calls the watcher after each change of the access rules, until the returned function is called. */
  watchAccess(watcher: () => void): () => void;
  /** Ends a counted call. */
  closeCall(peer: Peer): void;
  /** Opens a stream and returns its number, or the status that rejects it. The transport ends a rejected stream. */
  openStream(stream: NewStream, handle: StreamHandle | BodyHandle): StreamId | Status;
  /** Passes in one request, decoded from `bytes` bytes. Ignored once the stream has ended. */
  receive(stream: StreamId, request: DiscoveryRequest, bytes: number): void;
  /** The client half-closed: sends pending responses, then ends the stream with OK (S-GRP-05). */
  finish(stream: StreamId): void;
  /** The client disconnected. The hub does not call its handle again. */
  abandon(stream: StreamId, reason: StreamEnd): void;
  /** Ends a stream from the server side, through its handle. */
  endStream(stream: StreamId, status: Status, reason: StreamEnd): void;
  /** Takes in one poll. Returns its number while it waits, or undefined if its handle was already called. */
  poll(asked: NewPoll, handle: PollHandle): PollId | undefined;
  /** The client of a poll disconnected. The hub does not call its handle again. */
  abandonPoll(poll: PollId): void;
  /** Reports a hit of a limit that the transport enforces. */
  reportLimit(limit: LimitName, address: string, message: string, stream?: StreamId): void;
  /** Reports an event to telemetry and listeners. */
  report(report: ServerReport): void;
}

/** Why a stream ended. */
export type StreamEnd =
  /** The client half-closed and got its last responses. */
  | "finished"
  /** The client reset the stream. */
  | "cancelled"
  | "connection-lost"
  | "deadline"
  /** The protocol or the node mapping rejected it; the status says why. */
  | "refused"
  | "malformed"
  | "limit"
  /** The client did not read in time (`maxBlockedMs`). */
  | "blocked"
  | "not-ready"
  | "connection-age"
  /** Another server of the store has fewer connections. */
  | "balance"
  /** The client's certificate expires, or is not trusted any more. */
  | "certificate"
  | "draining"
  | "closed"
  /** Internal error, or a listener of the program failed. */
  | "failed";

/** Events of the server itself, besides those of the protocol. */
export type ShellReport =
  | {
      readonly kind: "connection-opened";
      readonly connection: number;
      readonly peer: Peer;
      /** The transport, such as `grpc`. */
      readonly transport: string;
    }
  | {
      readonly kind: "connection-closed";
      readonly connection: number;
      readonly peer: Peer;
      readonly transport: string;
      readonly reason: string;
    }
  /** A connection closed before a valid handshake: neither gRPC nor HTTP, or TLS failed. */
  | { readonly kind: "connection-refused"; readonly address: string | undefined; readonly reason: string }
  /** A client violated HTTP/2, and its connection was closed. */
  | { readonly kind: "connection-broken"; readonly address: string; readonly reason: string }
  | ({ readonly kind: "stream-opened"; readonly stream: StreamId; readonly peer: Peer } & NewStream)
  | {
      readonly kind: "stream-closed";
      readonly stream: StreamId;
      readonly peer: Peer;
      readonly variant: Variant;
      readonly onlyType: TypeUrl | undefined;
      readonly reason: StreamEnd;
      readonly status: Status;
      readonly ageMs: number;
    }
  /** A request arrived; `request-classified` has its meaning. */
  | {
      readonly kind: "request-received";
      readonly stream: StreamId;
      readonly type: TypeUrl | undefined;
      readonly bytes: number;
    }
  /** A response was queued on a stream; `response-sent` has its content. */
  | {
      readonly kind: "response-queued";
      readonly stream: StreamId;
      readonly type: TypeUrl;
      readonly variant: Variant;
      readonly bytes: number;
    }
  /** The client stopped reading. */
  | { readonly kind: "stream-stalled"; readonly stream: StreamId; readonly pendingBytes: number }
  | { readonly kind: "stream-drained"; readonly stream: StreamId }
  /** A transaction took effect. */
  | { readonly kind: "committed"; readonly revision: number; readonly tookMs: number }
  | ConversionReport
  /** A client called a v2 method while v2 is off; the call ended with UNIMPLEMENTED. */
  | { readonly kind: "v2-refused"; readonly address: string; readonly method: string }
  /** A caller of the admin API has no role for what it asked; it got 403. */
  | {
      readonly kind: "admin-refused";
      readonly address: string;
      readonly method: string;
      readonly path: string;
      /** The names of its verified certificate, by kind. */
      readonly names: readonly string[];
    }
  /** An operator's request to the admin API that is no read was answered. */
  | {
      readonly kind: "admin-change";
      /** Undefined at the local socket. */
      readonly address: string | undefined;
      /** The names of its verified certificate by kind, or where it came from. */
      readonly caller: string;
      readonly role: "viewer" | "operator";
      readonly method: string;
      readonly path: string;
      readonly status: number;
    }
  /** A browser polled for a page that may not; the poll ended with 403. */
  | {
      readonly kind: "page-refused";
      readonly address: string;
      readonly host: string;
      readonly origin: string | undefined;
    }
  /** A slice of flushes ran; `isMore` if further streams still wait. */
  | {
      readonly kind: "slice-flushed";
      readonly responses: number;
      readonly bytes: number;
      readonly tookMs: number;
      readonly isMore: boolean;
    }
  | {
      readonly kind: "limit-hit";
      readonly limit: LimitName;
      /** `host:port` of the client. */
      readonly address: string;
      readonly stream: StreamId | undefined;
      readonly message: string;
    }
  /** State of the previous run was restored. */
  | {
      readonly kind: "history-restored";
      readonly directory: string;
      readonly clusters: number;
      readonly versions: number;
    }
  /** The state directory, or a file in it, is unusable. */
  | { readonly kind: "history-problem"; readonly directory: string; readonly message: string }
  | LedgerReport
  /** Files of an export directory were replaced or removed, in this order. */
  | {
      readonly kind: "files-written";
      readonly directory: string;
      readonly written: readonly string[];
      readonly removed: readonly string[];
      readonly tookMs: number;
    }
  /** Files could not be written; the existing ones stay, and the server retries. */
  | { readonly kind: "files-problem"; readonly directory: string; readonly message: string }
  /** A config source inside an exported resource: it now points at `file`, or, without one, still at a server. */
  | {
      readonly kind: "files-source";
      readonly directory: string;
      readonly type: TypeUrl;
      readonly name: string;
      /** Path of the config source in the resource. */
      readonly path: string;
      /** The type that is fetched from it; undefined if unknown. */
      readonly refersTo: TypeUrl | undefined;
      /** The name that is fetched from it; undefined for all of the type. */
      readonly referred: string | undefined;
      readonly file: string | undefined;
    }
  /** A file's format cannot represent a resource exactly. */
  | {
      readonly kind: "files-unfaithful";
      readonly directory: string;
      readonly type: TypeUrl;
      readonly name: string;
      readonly message: string;
    }
  /** A client that reports load sent its node. */
  | {
      readonly kind: "load-reporter-connected";
      readonly reporter: ReporterId;
      readonly peer: Peer;
      readonly node: Node;
    }
  | {
      readonly kind: "load-reporter-disconnected";
      readonly reporter: ReporterId;
      readonly peer: Peer;
      readonly node: Node | undefined;
      readonly ageMs: number;
    }
  /** A decoded load report, including empty ones. */
  | {
      readonly kind: "load-reported";
      readonly reporter: ReporterId;
      readonly peer: Peer;
      readonly node: Node | undefined;
      readonly report: LoadReport;
    }
  /**
   * A client's certificate expires soon, and the client is asked to connect anew; or it has expired, or a reloaded CA or
   * revocation list takes it away, and the connection is closed.
   */
  | {
      readonly kind: "certificate-ended";
      readonly peer: Peer;
      readonly reason: "expiring" | "expired" | "untrusted" | "revoked";
    }
  | { readonly kind: "tls-reloaded"; readonly files: readonly string[] }
  /** The changed TLS files are invalid; the previous certificates stay in use. */
  | { readonly kind: "tls-refused"; readonly files: readonly string[]; readonly error: Error }
  /** New CAs or revocation lists would cut off too many nodes; those of before stay in force until `id` is approved. */
  | { readonly kind: "tls-held"; readonly id: string; readonly files: readonly string[]; readonly message: string }
  /** There is a configuration, and the server listens. */
  | { readonly kind: "ready" }
  | { readonly kind: "draining"; readonly graceMs: number }
  | WorkerReport
  /**
   * A listener, the log or the traces of the program threw, or its promise rejected; or another function threw, or
   * answered something else than it must: a promise, for one. The node mapping then rejects the node, the access
   * function denies, the client gets no overrides, and the resource is sent without conversion.
   */
  | {
      readonly kind: "listener-failed";
      readonly event:
        | ServerReport["kind"]
        | "access"
        | "client-overrides"
        | "health-discovery"
        | "log"
        | "node-mapping"
        | "struct-conversion"
        | "trace";
      readonly error: unknown;
    }
  /** Internal error: an invariant of the server is broken. Always a bug; an affected stream ends with INTERNAL. */
  | {
      readonly kind: "invariant-broken";
      readonly stream: StreamId | undefined;
      readonly during: string;
      readonly error: unknown;
    };

/** Events of the worker processes of a server. */
export type WorkerReport =
  /** A worker serves clients. */
  | { readonly kind: "worker-ready"; readonly worker: number; readonly pid: number; readonly tookMs: number }
  /** A worker does not answer: it gets no new connections, and ends if it does not answer for long. */
  | { readonly kind: "worker-unresponsive"; readonly worker: number; readonly pid: number }
  /** A worker answers again. */
  | { readonly kind: "worker-responsive"; readonly worker: number; readonly pid: number }
  /** A worker ended although nobody asked it to; another takes its place after a pause. */
  | {
      readonly kind: "worker-ended";
      readonly worker: number;
      readonly pid: number;
      /** Its exit code or signal. */
      readonly how: string;
      readonly restartMs: number;
    };

/** Events of the ledger of published states. */
export type LedgerReport =
  /** The state of the previous run is in force; clients keep what they have of resources that are missing. */
  | { readonly kind: "ledger-resumed"; readonly number: number; readonly resources: number; readonly missing: number }
  | {
      readonly kind: "ledger-recorded";
      readonly number: number;
      /** What was recorded, such as `revision` or `held`. */
      readonly as: string;
      readonly author: string | undefined;
      readonly message: string | undefined;
      /** What it changes: that comes in force by it, or is held. The first of them. */
      readonly changes: readonly RecordedChange[];
      /** How many changes there are. */
      readonly total: number;
      /** Why it is held. */
      readonly reasons: readonly string[];
    }
  /** This server began to publish to the store that it shares, or ceased to. */
  | { readonly kind: "ledger-role"; readonly role: "publisher" | "follower" }
  /** The engine of the store cannot be reached; what was in force stays. */
  | { readonly kind: "store-away"; readonly reason: string; readonly since: Date }
  /** The engine of the store was away at the start: what its copy has is in force, up to `number`. */
  | { readonly kind: "store-copy-in-place"; readonly number: number }
  /** A client that has something already, perhaps from another server, was served without asking the store. */
  | { readonly kind: "client-unchecked"; readonly reason: "away" | "timeout" }
  /** Connections were asked to go to other servers of the store: `moved` of `connections`; another one has `fewest`. */
  | {
      readonly kind: "connections-moved";
      readonly moved: number;
      readonly connections: number;
      readonly fewest: number;
    }
  /** The engine of the store is there again. */
  | { readonly kind: "store-back"; readonly awayMs: number }
  /** The ledger cannot be used, or a record was not written; what was in force stays. */
  | { readonly kind: "ledger-problem"; readonly message: string }
  /** What could not be written beside the ledger is written again. */
  | { readonly kind: "ledger-recovered"; readonly message: string };

/** One changed resource of a record. */
export interface RecordedChange {
  readonly change: "added" | "changed" | "deleted";
  readonly layer: string;
  readonly type: TypeUrl;
  readonly name: string;
}

/** Resources were converted to the other API version. */
export interface ConversionReport {
  readonly kind: "converted";
  readonly resources: number;
  /** Converted resources that the other version cannot fully express. */
  readonly findings: readonly ConversionFindings[];
  readonly tookMs: number;
}

/** The fields of one resource that the other API version cannot express. */
export interface ConversionFindings {
  readonly layer: string;
  /** The type after conversion. */
  readonly type: TypeUrl;
  readonly name: string;
  /** At least one. */
  readonly findings: readonly FieldProblem[];
}

/** State that outlives the server, for the next run. Must not throw. */
export interface Memory {
  /** The state of the previous run. */
  readonly restored: Iterable<Remembered>;
  remember(what: Remembered): void;
  /** Called before responses are sent: writes what must be durable before them, up to a slice of it. */
  flush(): void;
  close(): void;
}

/** Every event of a server, for metrics, logs, the admin API and the embedding program (S-OBS-02, S-OBS-03). */
export type ServerReport = Report | ShellReport;

/** Receives every event. Must not throw. */
export interface Telemetry {
  report(report: ServerReport, at: Date): void;
}
