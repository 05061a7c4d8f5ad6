import { pauseMs } from "../client/back-off.ts";
import type { ClientStreamId, Moment } from "../client/event.ts";
import type { BackOff } from "../client/source.ts";
import type { Status } from "../message/status.ts";
import type { Node } from "../node/node.ts";
import { LoadDemand } from "./load-demand.ts";
import type { LoadReport, LoadRequest } from "./load-report.ts";
import { LoadTally } from "./load-tally.ts";

/** The shortest report interval: a server that sends none would get reports without a pause (client-behaviours H8). */
const SHORTEST_INTERVAL_MS = 1_000;

/** Everything that can happen to a load reporter. */
export type LoadReporterEvent =
  /** Start to report (C-LRS-01). */
  | { readonly kind: "reporting-started" }
  | { readonly kind: "stream-opened"; readonly stream: ClientStreamId }
  /** The server sent its first or a changed request for reports. */
  | { readonly kind: "request-received"; readonly stream: ClientStreamId; readonly request: LoadRequest }
  /** The last report left this process, so the next one may follow. */
  | { readonly kind: "report-sent"; readonly stream: ClientStreamId }
  | { readonly kind: "stream-closed"; readonly stream: ClientStreamId; readonly status: Status }
  | { readonly kind: "timer-fired"; readonly timer: number }
  /** Stop to report. */
  | { readonly kind: "reporting-stopped" };

/** Everything that a load reporter can ask for, to be performed in order. */
export type LoadReporterEffect =
  /** Connect to the server, on a stream of its own (C-LRS-07); `stream-opened` or `stream-closed` follows. */
  | { readonly kind: "open-stream"; readonly stream: ClientStreamId }
  /** `report-sent` or `stream-closed` follows. If the report has a node, the shell sends its own encoded one. */
  | { readonly kind: "send-report"; readonly stream: ClientStreamId; readonly report: LoadReport }
  /** No `stream-closed` needs to follow. */
  | { readonly kind: "close-stream"; readonly stream: ClientStreamId }
  /** Raise `timer-fired` after `ms` milliseconds. */
  | { readonly kind: "start-timer"; readonly timer: number; readonly ms: number }
  | { readonly kind: "cancel-timer"; readonly timer: number }
  | { readonly kind: "report"; readonly report: LoadReporterReport };

/** What happened, for logs. */
export type LoadReporterReport =
  | { readonly kind: "load-stream-opened" }
  | { readonly kind: "load-asked"; readonly request: LoadRequest }
  /** `wasAnswered`: the server sent a request, so this end is no failure. */
  | {
      readonly kind: "load-stream-ended";
      readonly status: Status;
      readonly wasAnswered: boolean;
      /** Until the next attempt, in milliseconds. */
      readonly retryMs: number;
    };

/** Options of a load reporter. */
export interface LoadReporterOptions {
  /** Sent in the first message of each stream; has the client feature `envoy.lrs.supports_send_all_clusters`. */
  readonly node: Node;
  readonly backOff: BackOff;
}

interface LoadStream {
  readonly id: ClientStreamId;
  wasAnswered: boolean;
  /** A report is being sent. */
  isSending: boolean;
  /** The next report is due and waits for the one being sent. */
  isDue: boolean;
}

/**
 * The client's half of load reporting as a state machine (5.6): events in, effects out. `tally` counts requests whether
 * a server is connected or not; events bring time and randomness.
 */
export class LoadReporter {
  readonly tally: LoadTally = new LoadTally({ isCounted: (cluster) => this.#demand.sinceMs(cluster) !== undefined });
  readonly #options: LoadReporterOptions;
  #demand: LoadDemand = LoadDemand.nothing;
  #request: LoadRequest | undefined;
  #stream: LoadStream | undefined;
  /** The time of the last report, or of the first request for reports on the stream. */
  #reportedAtMs = 0;
  #timer: number | undefined;
  #failures = 0;
  #lastStream = 0;
  #lastTimer = 0;
  #moment: Moment = { nowMs: 0, chance: 0 };
  #effects: LoadReporterEffect[] = [];

  constructor(options: LoadReporterOptions) {
    this.#options = options;
  }

  on(event: LoadReporterEvent, moment: Moment): readonly LoadReporterEffect[] {
    this.#moment = moment;
    this.#hear(event);
    const effects = this.#effects;
    this.#effects = [];
    return effects;
  }

  #hear(event: LoadReporterEvent): void {
    switch (event.kind) {
      case "reporting-started":
        if (this.#stream === undefined && this.#timer === undefined) this.#open();
        break;
      case "reporting-stopped":
        this.#stop();
        break;
      case "timer-fired":
        if (event.timer === this.#timer) this.#fire();
        break;
      default:
        // Events of a stream that the client closed may still arrive.
        if (event.stream === this.#stream?.id) this.#hearStream(event, this.#stream);
    }
  }

  #hearStream(event: Extract<LoadReporterEvent, { readonly stream: ClientStreamId }>, stream: LoadStream): void {
    switch (event.kind) {
      case "stream-opened":
        this.#report({ kind: "load-stream-opened" });
        this.#send(stream, { node: this.#options.node, clusters: [] });
        break;
      case "request-received":
        this.#ask(stream, event.request);
        break;
      case "report-sent":
        stream.isSending = false;
        if (stream.isDue) this.#tell(stream);
        break;
      case "stream-closed":
        this.#close(stream, event.status);
        break;
      default:
        event satisfies never;
    }
  }

  #open(): void {
    const id = ++this.#lastStream;
    this.#stream = { id, wasAnswered: false, isSending: false, isDue: false };
    this.#effects.push({ kind: "open-stream", stream: id });
  }

  #stop(): void {
    if (this.#stream !== undefined) this.#effects.push({ kind: "close-stream", stream: this.#stream.id });
    this.#stream = undefined;
    this.#cancelTimer();
    this.#demand = LoadDemand.nothing;
    this.tally.forget(() => true);
  }

  /** Clusters requested before keep their counts; others start at zero (C-LRS-05). */
  #ask(stream: LoadStream, request: LoadRequest): void {
    this.#report({ kind: "load-asked", request });
    this.#demand = this.#demand.next(request, this.#moment.nowMs);
    // Clusters that are no longer requested lose their counts; new ones have none yet.
    this.tally.forget((cluster) => this.#demand.sinceMs(cluster) === undefined);
    if (!stream.wasAnswered) this.#reportedAtMs = this.#moment.nowMs;
    const isSameInterval = stream.wasAnswered && this.#request?.intervalMs === request.intervalMs;
    stream.wasAnswered = true;
    this.#failures = 0;
    this.#request = request;
    if (!isSameInterval) this.#startInterval();
  }

  #close({ wasAnswered }: LoadStream, status: Status): void {
    this.#stream = undefined;
    this.#cancelTimer();
    if (!wasAnswered) this.#failures++;
    const retryMs = pauseMs(this.#options.backOff, this.#failures, this.#moment.chance);
    this.#report({ kind: "load-stream-ended", status, wasAnswered, retryMs });
    this.#startTimer(retryMs);
  }

  #fire(): void {
    this.#timer = undefined;
    if (this.#stream === undefined) this.#open();
    else if (this.#stream.isSending) this.#stream.isDue = true;
    else this.#tell(this.#stream);
  }

  /** @spec C-LRS-04 */
  #tell(stream: LoadStream): void {
    const { nowMs } = this.#moment;
    stream.isDue = false;
    const clusters = this.tally.take({
      intervalMsOf: (cluster) => nowMs - (this.#demand.sinceMs(cluster) ?? nowMs),
      endpoints: this.#request?.endpoints === true ? "with-endpoints" : "without-endpoints",
    });
    this.#demand = this.#demand.reportedAt(nowMs);
    this.#reportedAtMs = nowMs;
    this.#send(stream, { node: undefined, clusters });
    this.#startInterval();
  }

  #send(stream: LoadStream, report: LoadReport): void {
    stream.isSending = true;
    this.#effects.push({ kind: "send-report", stream: stream.id, report });
  }

  #startInterval(): void {
    const intervalMs = Math.max(SHORTEST_INTERVAL_MS, this.#request?.intervalMs ?? 0);
    this.#cancelTimer();
    this.#startTimer(Math.max(0, this.#reportedAtMs + intervalMs - this.#moment.nowMs));
  }

  #startTimer(ms: number): void {
    this.#timer = ++this.#lastTimer;
    this.#effects.push({ kind: "start-timer", timer: this.#timer, ms });
  }

  #cancelTimer(): void {
    if (this.#timer !== undefined) this.#effects.push({ kind: "cancel-timer", timer: this.#timer });
    this.#timer = undefined;
  }

  #report(report: LoadReporterReport): void {
    this.#effects.push({ kind: "report", report });
  }
}
