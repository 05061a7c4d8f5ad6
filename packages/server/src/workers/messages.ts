import type { ApiVersion, LayerChange, Node, Peer, Status, TypeUrl } from "@xdskit/protocol";
import type { NodePastLine, Placement, Remembered } from "@xdskit/protocol/internal";
import type { LiveEvents } from "../admin/answers/live.ts";
import type { ProgressAnswer } from "../admin/answers/progress.ts";
import type { MissingChange, MissingContent } from "../hub/missing-resources.ts";
import type { NumbersReached, StateChange } from "../ledger/in-force.ts";
import type { SessionCounts } from "../ledger/sessions.ts";
import type { EncoderCounters, LimitState, WriteState } from "../observe/gauges.ts";
import type { MetricReading } from "../observe/metric-readings.ts";
import type { ClientParts } from "../status/client-status.ts";
import type { BoundAddress } from "../transport/transport.ts";
import type { Answered, Question } from "./questions.ts";

/** What is known when a worker starts; the resources follow. */
export interface WorkerStart {
  /** From 1. */
  readonly worker: number;
  /** Stream ids of this worker are above it. */
  readonly streamsAfter: number;
  readonly addresses: readonly BoundAddress[];
  /** Whether clients may be served: there is a configuration. */
  readonly isReady: boolean;
  /** The revision of the primary. */
  readonly revision: number;
  readonly placement: Placement | undefined;
  readonly missing: readonly MissingContent[];
  readonly numbers: Extract<NumbersReached, { readonly kind: "resumed" }> | undefined;
  /** Clusters of the past, for clients that come with them. */
  readonly remembered: readonly Remembered[];
}

/** A question of one process to the other, and its answer. */
export interface WorkerQuestions {
  /** GET of a path of the admin API. */
  readonly admin: { readonly asked: { readonly target: string }; readonly answer: AdminReply };
  readonly progress: { readonly asked: AskedProgress; readonly answer: ProgressAnswer };
  readonly metrics: { readonly asked: Record<never, never>; readonly answer: readonly MetricReading[] };
  readonly usage: { readonly asked: Record<never, never>; readonly answer: WorkerUsage };
  readonly "count-sessions": { readonly asked: Record<never, never>; readonly answer: SessionCounts };
  /** Asks so many connections to leave. */
  readonly "move-sessions": {
    readonly asked: { readonly connections: number };
    readonly answer: { readonly moved: number };
  };
  readonly live: { readonly asked: Record<never, never>; readonly answer: LiveReading };
  /** Tells what nodes reached until now (`past`) before it answers. */
  readonly past: { readonly asked: Record<never, never>; readonly answer: undefined };
  /** Ends its clients, and answers when they are gone. */
  readonly drain: { readonly asked: { readonly graceMs: number }; readonly answer: undefined };
  readonly "client-status": {
    readonly asked: AskedClientStatus;
    readonly answer: readonly ClientParts[] | { readonly refused: Status };
  };
}

/** A question of a worker to its primary. */
export interface PrimaryQuestions {
  /**
   * Answers once the worker was sent what every client that comes now must not be set back behind. If the store cannot be
   * asked, that takes longer for one that `mayBeAhead`.
   */
  readonly fresh: {
    readonly asked: { readonly mayBeAhead: boolean };
    readonly answer: { readonly isChecked: boolean };
  };
  /** The clients of the other workers. */
  readonly "client-status": WorkerQuestions["client-status"];
}

export interface AdminReply {
  readonly status: number;
  readonly value: unknown;
}

export interface AskedProgress {
  readonly number: number;
  /** A glob of node ids. */
  readonly nodes: string | undefined;
  /** How many nodes a list names at most. */
  readonly named: number;
  readonly waitMs: number;
}

export interface WorkerUsage {
  readonly connections: number;
  readonly streams: number;
  readonly residentBytes: number;
  readonly limits: readonly LimitState[];
  readonly writes: WriteState;
  readonly encoder: EncoderCounters;
}

/** What the live view shows of clients. */
export type LiveReading = Pick<LiveEvents, "progress" | "nodes">;

export interface AskedClientStatus {
  readonly version: ApiVersion;
  readonly request: Uint8Array;
  readonly peer: Peer;
  readonly resourcesInPart: number;
}

/** A stream of a connected node. */
export interface ReportedStream {
  readonly stream: number;
  readonly node: Node;
  readonly peer: Peer;
  readonly onlyType: TypeUrl | undefined;
  readonly isPoller?: true;
  readonly isUnconfirmed?: true;
  /** To which it subscribes; `any`: they are not told apart. */
  readonly types: readonly TypeUrl[] | "any";
}

export type ToWorker =
  | { readonly kind: "setup"; readonly setup: unknown; readonly start: WorkerStart }
  /** Resources of the state at the start. */
  | { readonly kind: "resources"; readonly changes: readonly LayerChange[] }
  /** The state at the start is complete. */
  | { readonly kind: "begin" }
  | ({ readonly kind: "change"; readonly revision: number } & StateChange)
  /** What clients of any worker were served, by the revisions of the primary. */
  | { readonly kind: "remembered"; readonly what: Remembered }
  | { readonly kind: "missing"; readonly change: MissingChange }
  | { readonly kind: "numbers"; readonly numbers: NumbersReached }
  /** With the connection of a client that came in at a listener. */
  | { readonly kind: "connection"; readonly listener: number }
  /** Answered by `pong` at once, whatever else waits. */
  | { readonly kind: "ping" }
  | Question<WorkerQuestions>
  | Answered;

export type ToPrimary =
  /** The state is in force, and connections may come. */
  | { readonly kind: "ready" }
  /** There is a configuration: clients are served, and not sent away. */
  | { readonly kind: "serving" }
  /** It cannot start. */
  | { readonly kind: "failed"; readonly reason: string }
  /** So many connections that were handed to it are closed. */
  | { readonly kind: "closed"; readonly connections: number }
  | { readonly kind: "streams"; readonly placed: readonly ReportedStream[]; readonly gone: readonly number[] }
  | { readonly kind: "remembered"; readonly what: Remembered }
  | { readonly kind: "past"; readonly lines: readonly NodePastLine[] }
  | { readonly kind: "pong" }
  | Question<PrimaryQuestions>
  | Answered;
