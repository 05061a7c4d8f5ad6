import type { PollId, StreamId } from "@xdskit/protocol/internal";
import type { LimitName } from "../limits.ts";
import { Listeners } from "./listeners.ts";
import type { ServerReport, Telemetry } from "./port.ts";

/** A stream or poll that is to be refused. */
export type Refused = { readonly stream: StreamId } | { readonly poll: PollId };

export interface ReportsOptions {
  readonly telemetry: Telemetry;
  readonly countHit: (limit: LimitName) => void;
  /** Refuses the stream or poll of an event for which a listener failed. */
  readonly refuse: (refused: Refused) => void;
}

/** Reports what happens to telemetry and to the listeners of the embedding program. */
export class Reports {
  readonly listeners: Listeners = new Listeners();
  readonly #options: ReportsOptions;
  /** When the last report was made. */
  #reportedAt = new Date();
  /** The poll that is being processed. */
  #arriving: PollId | undefined;

  constructor(options: ReportsOptions) {
    this.#options = options;
  }

  /** If a listener throws or rejects, only the stream or poll of that event is rejected (S-OBS-03). */
  report(report: ServerReport): void {
    const now = Date.now();
    // A change makes thousands of reports within milliseconds; listeners, which may change it, get a date of their own.
    if (this.#reportedAt.getTime() !== now) this.#reportedAt = new Date(now);
    this.#options.telemetry.report(report, this.#reportedAt);
    if (!this.listeners.hasAny(report.kind)) return;
    const arriving = this.#arriving;
    const failed = (reason: unknown): void => this.#listenerFailed(report, reason, arriving);
    const failure = this.listeners.tell(report, new Date(now), failed);
    if (failure !== undefined) failed(failure.thrown);
  }

  /** Counts and reports a hit of a limit. */
  limitHit(limit: LimitName, address: string, message: string, stream?: StreamId): void {
    this.#options.countHit(limit);
    this.report({ kind: "limit-hit", limit, address, stream, message });
  }

  /** Processes a poll: what is reported meanwhile are events of this poll. */
  processPoll(poll: PollId, process: () => void): void {
    this.#arriving = poll;
    process();
    this.#arriving = undefined;
  }

  #listenerFailed(report: ServerReport, error: unknown, arriving: PollId | undefined): void {
    // A failing `listener-failed` listener is ignored, or this would recurse.
    if (report.kind === "listener-failed") return;
    this.report({ kind: "listener-failed", event: report.kind, error });
    if (report.kind !== "stream-opened" && report.kind !== "request-classified") return;
    this.#options.refuse(arriving === undefined ? { stream: report.stream } : { poll: arriving });
  }
}
