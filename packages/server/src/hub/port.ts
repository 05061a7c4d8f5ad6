import type { FieldProblem } from "@xdskit/envoy-api";
import type { ApiVersion, LoadReport, Node, Peer, Status, TypeUrl, Variant } from "@xdskit/protocol";
import type {
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
import type { LimitName, Limits } from "../options.ts";
import type { ByteBudget } from "./byte-budget.ts";
import type { NewPoll, PollHandle } from "./poll-registry.ts";
import type { ReadinessTracker } from "./readiness.ts";

/** One stream of a transport, as the hub writes to it. The hub calls `write` again only after `written`. */
export interface StreamHandle {
  /** What stands before a message of so many bytes on this transport. Empty where messages are not framed. */
  readonly prefix: (byteLength: number) => Uint8Array;
  /** Takes the pieces, in order; `written` follows once the client's window and the socket took them. */
  write(pieces: readonly Uint8Array[], written: () => void): void;
  /** Ends the stream after all that was written. */
  end(status: Status): void;
  /** Ends the stream at once: what was written may never arrive, and of the status only what a reset can say. */
  reset(status: Status): void;
}

/** A response as the protocol made it: whoever takes it must not change it. */
export interface TakenResponse {
  readonly body: Body;
  readonly nonce: string;
}

/** A stream of a client in this process, which is handed resources and not bytes. */
export interface BodyHandle {
  /** What became due since the last call; a turn is never cut, so an answer is here whole. */
  take(responses: readonly TakenResponse[]): void;
  /** The stream is over. */
  end(status: Status): void;
}

/** A stream that a client opens. */
export interface NewStream {
  readonly connection: number;
  readonly variant: Variant;
  /** The type of a per-type stream, unless its first request names the twin of it; undefined on an aggregated one. */
  readonly onlyType: TypeUrl | undefined;
  /** The version of the messages that it speaks. */
  readonly apiVersion: ApiVersion;
  /** The switch of the dialect without which it is not served; undefined: there is none. */
  readonly needs?: MethodSwitch;
  /** The gRPC method or REST path, for people. */
  readonly method: string;
}

/** What a transport may ask of the hub. No method throws because of what a client did. */
export interface HubPort {
  readonly readiness: ReadinessTracker;
  readonly limits: Limits;
  /** What requests hold that are not read to their end. */
  readonly budget: ByteBudget;
  /**
   * A number that names the connection for its life; undefined when there are too many, and it is to be closed. `listener`:
   * what was chosen for the port that it came to.
   */
  openConnection(peer: Peer, transport: string, listener?: NamedChoice): number | undefined;
  closeConnection(connection: number, reason: string): void;
  /** Counts a call that is no discovery stream; or the status that refuses it. */
  openCall(peer: Peer): Status | undefined;
  /** A call that was counted is over. */
  closeCall(peer: Peer): void;
  /** A number for the stream, or the status that refuses it; a refused stream is the transport's to end. */
  openStream(stream: NewStream, handle: StreamHandle | BodyHandle): StreamId | Status;
  /** One request, as it was decoded from `bytes` bytes. Ignored once the stream has ended. */
  receive(stream: StreamId, request: DiscoveryRequest, bytes: number): void;
  /** Nothing more comes: what is due is still said, then the stream ends with OK (S-GRP-05). */
  finish(stream: StreamId): void;
  /** The client is gone. Its handle is not called again. */
  abandon(stream: StreamId, reason: StreamEnd): void;
  /** Ends a stream from our side: the handle is told. */
  endStream(stream: StreamId, status: Status, reason: StreamEnd): void;
  /** One poll. A number for it while it waits; undefined when its handle was told already. */
  poll(asked: NewPoll, handle: PollHandle): PollId | undefined;
  /** The client of a poll is gone. Its handle is not called again. */
  abandonPoll(poll: PollId): void;
  /** A limit that the transport watches was passed. */
  reportLimit(limit: LimitName, address: string, message: string, stream?: StreamId): void;
  /** Something that is not of a stream: a limit, a certificate, a broken connection. */
  report(report: ServerReport): void;
}

/** Why a stream ended. */
export type StreamEnd =
  /** The client half-closed, and was answered. */
  | "finished"
  /** The client reset the stream. */
  | "cancelled"
  | "connection-lost"
  | "deadline"
  /** The protocol or the node mapping ended it: see the status. */
  | "refused"
  | "malformed"
  | "limit"
  /** Nothing could be written to it for too long. */
  | "blocked"
  | "not-ready"
  | "connection-age"
  | "draining"
  | "closed"
  /** Our own mistake, or that of a listener. */
  | "failed";

/** What the shell itself has to tell, beside what the protocol reports. */
export type ShellReport =
  | {
      readonly kind: "connection-opened";
      readonly connection: number;
      readonly peer: Peer;
      /** Such as `grpc`. */
      readonly transport: string;
    }
  | {
      readonly kind: "connection-closed";
      readonly connection: number;
      readonly peer: Peer;
      readonly transport: string;
      readonly reason: string;
    }
  /** Bytes that were neither gRPC nor HTTP, a failed TLS handshake: the connection was closed. */
  | { readonly kind: "connection-refused"; readonly address: string | undefined; readonly reason: string }
  /** A client broke the rules of HTTP/2: the connection was closed. */
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
  /** A request arrived; `request-understood` says what it meant. */
  | {
      readonly kind: "request-received";
      readonly stream: StreamId;
      readonly type: TypeUrl | undefined;
      readonly bytes: number;
    }
  /** A response was handed to the stream; `response-sent` says what it holds. */
  | {
      readonly kind: "response-queued";
      readonly stream: StreamId;
      readonly type: TypeUrl;
      readonly variant: Variant;
      readonly bytes: number;
    }
  /** The client does not read. */
  | { readonly kind: "stream-stalled"; readonly stream: StreamId; readonly pendingBytes: number }
  | { readonly kind: "stream-drained"; readonly stream: StreamId }
  /** A transaction took effect. */
  | { readonly kind: "committed"; readonly revision: number; readonly tookMs: number }
  | ConversionReport
  /** A method of v2 was called, which is switched off: the call ended with UNIMPLEMENTED. */
  | { readonly kind: "v2-refused"; readonly address: string; readonly method: string }
  /** Streams had their turns; `isMore` when others still wait for theirs. */
  | {
      readonly kind: "turns-taken";
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
  /** What the server before this one left was taken up. */
  | {
      readonly kind: "history-restored";
      readonly directory: string;
      readonly clusters: number;
      readonly versions: number;
    }
  /** The state directory, or something in it, cannot be used. */
  | { readonly kind: "history-problem"; readonly directory: string; readonly message: string }
  /** Files of a directory that clients follow were replaced or taken away, in this order. */
  | {
      readonly kind: "files-written";
      readonly directory: string;
      readonly written: readonly string[];
      readonly removed: readonly string[];
      readonly tookMs: number;
    }
  /** Files could not be written: those that are there stay, and it is tried again. */
  | { readonly kind: "files-problem"; readonly directory: string; readonly message: string }
  /** A config source inside a resource that goes into a file: now it names that file, or it still asks a server. */
  | {
      readonly kind: "files-source";
      readonly directory: string;
      readonly type: TypeUrl;
      readonly name: string;
      /** Where in the resource it stands. */
      readonly path: string;
      /** What is fetched from it; undefined if that is not known. */
      readonly refersTo: TypeUrl | undefined;
      /** Undefined if all of the type are. */
      readonly referred: string | undefined;
      readonly file: string | undefined;
    }
  /** The format of a file cannot hold a resource as it is. */
  | {
      readonly kind: "files-unfaithful";
      readonly directory: string;
      readonly type: TypeUrl;
      readonly name: string;
      readonly message: string;
    }
  /** A client said who it is that reports its load. */
  | { readonly kind: "load-reporter-opened"; readonly reporter: ReporterId; readonly peer: Peer; readonly node: Node }
  | {
      readonly kind: "load-reporter-closed";
      readonly reporter: ReporterId;
      readonly peer: Peer;
      readonly node: Node | undefined;
      readonly ageMs: number;
    }
  /** A load report as it was decoded, empty ones too. */
  | {
      readonly kind: "load-reported";
      readonly reporter: ReporterId;
      readonly peer: Peer;
      readonly node: Node | undefined;
      readonly report: LoadReport;
    }
  | { readonly kind: "tls-reloaded"; readonly files: readonly string[] }
  /** The files changed and are no good: what was in force stays. */
  | { readonly kind: "tls-refused"; readonly files: readonly string[]; readonly error: Error }
  | { readonly kind: "ready" }
  | { readonly kind: "draining"; readonly graceMs: number }
  /** A listener, or the log, of the embedding program threw, or was rejected. */
  | {
      readonly kind: "listener-failed";
      readonly event: ServerReport["kind"] | "health-discovery" | "log";
      readonly error: unknown;
    }
  /** We are wrong: a stream was ended with INTERNAL. A bug by definition. */
  | {
      readonly kind: "invariant-broken";
      readonly stream: StreamId | undefined;
      readonly during: string;
      readonly error: unknown;
    };

/** Resources were made in the version of the API that they were not given in. */
export interface ConversionReport {
  readonly kind: "converted";
  readonly resources: number;
  /** Those of them that the other version cannot wholly express. */
  readonly findings: readonly ConversionFindings[];
  readonly tookMs: number;
}

/** What could not be expressed of one resource. */
export interface ConversionFindings {
  readonly layer: string;
  /** The type that it was converted to. */
  readonly type: TypeUrl;
  readonly name: string;
  /** At least one. */
  readonly findings: readonly FieldProblem[];
}

/** Keeps what the server that comes after this one has to know. Must not throw. */
export interface Memory {
  /** What the server before this one left. */
  readonly restored: Iterable<Remembered>;
  remember(what: Remembered): void;
  /** Responses are about to leave: what they were preceded by is written, up to a slice of it. */
  flush(): void;
  close(): void;
}

/** All that happens in a server, for metrics, logs, the admin API and whoever embeds it (S-OBS-02, S-OBS-03). */
export type ServerReport = Report | ShellReport;

/** Who is told everything. Must not throw. */
export interface Telemetry {
  report(report: ServerReport, at: Date): void;
}
