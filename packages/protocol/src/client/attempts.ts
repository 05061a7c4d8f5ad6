import type { Status } from "../message/status.ts";
import { pauseMs } from "./back-off.ts";
import type { ClientTurn } from "./client-turn.ts";
import type { SourceSpec } from "./source.ts";
import type { ClientStream } from "./stream.ts";

/** The attempts to reach one server. */
interface Attempt {
  server: number;
  stream: ClientStream | undefined;
  timer: number | undefined;
  /** How many attempts in a row ended without a response. */
  failures: number;
}

/** Callbacks to the owner of the attempts. */
interface AttemptsOptions {
  connect(server: number): ClientStream;
  disconnect(stream: ClientStream): void;
  /** Whether a watched term has neither a resource nor a definite absence (C-FBK-02). */
  isMissingSomething(): boolean;
}

/**
 * Decides which servers of a source to connect to and when to retry. With `cycle` there is one attempt, which moves
 * from server to server. Otherwise there is one attempt for each server up to the first that can be reached; once a
 * better server answers, the attempts with worse ones end (C-FBK-02, C-FBK-03).
 */
export class Attempts {
  readonly #turn: ClientTurn;
  readonly #spec: SourceSpec;
  readonly #options: AttemptsOptions;
  /** Best server first. */
  readonly #attempts: Attempt[] = [];
  #chosen: number | undefined;

  constructor(turn: ClientTurn, spec: SourceSpec, options: AttemptsOptions) {
    this.#turn = turn;
    this.#spec = spec;
    this.#options = options;
  }

  *streams(): Iterable<ClientStream> {
    for (const { stream } of this.#attempts) if (stream !== undefined) yield stream;
  }

  /** Whether another server answers meanwhile, so that its resources stay in use until this one answers (C-FBK-04). */
  isOutdone(stream: ClientStream): boolean {
    for (const other of this.streams()) if (other !== stream && other.wasAnswered) return true;
    return false;
  }

  /** Starts with the best server, and adds the next one if the failover policy calls for it. */
  start(): void {
    if (this.#attempts.length === 0) this.#add();
    while (this.#needsNext()) this.#add();
  }

  /** Ends all attempts. */
  stop(): void {
    this.#endFrom(0);
  }

  /** Records an answer of a server and ends the attempts with worse ones. */
  answered(stream: ClientStream): void {
    stream.wasAnswered = true;
    const place = this.#attempts.findIndex((one) => one.stream === stream);
    const attempt = this.#attempts[place];
    if (attempt === undefined) return;
    attempt.failures = 0;
    this.#endFrom(place + 1);
    if (this.#chosen === stream.server) return;
    this.#chosen = stream.server;
    this.#turn.report({ kind: "server-chosen", source: this.#spec.id, server: stream.server });
  }

  /** Records the end of a stream, schedules the retry, and says whether every server is failing. */
  ended(stream: ClientStream, status: Status): "none-is-left" | "others-are-left" {
    const attempt = this.#attempts.find((one) => one.stream === stream);
    if (attempt === undefined) return "others-are-left";
    const { server, isConnected: wasOpened } = stream;
    attempt.stream = undefined;
    const isFailure = !stream.wasAnswered || this.#isPolled;
    attempt.failures = isFailure ? attempt.failures + 1 : 0;
    const retryMs = pauseMs(this.#spec.backOff, attempt.failures, this.#turn.chance);
    const about = { source: this.#spec.id, server, status, types: stream.wantedTypes(), wasOpened };
    this.#turn.report({ kind: "stream-ended", ...about, isFailure, retryMs });
    if (isFailure && this.#isCycle) attempt.server = (server + 1) % this.#spec.servers;
    attempt.timer = this.#turn.startTimer(retryMs, () => this.#open(attempt));
    this.start();
    return this.#areAllFailing() ? "none-is-left" : "others-are-left";
  }

  /** Each poll is a request of its own, so a failed poll is a failure whatever earlier polls returned (C-RST-17). */
  get #isPolled(): boolean {
    return this.#spec.access === "poll";
  }

  get #isCycle(): boolean {
    return this.#spec.failover === "cycle";
  }

  #areAllFailing(): boolean {
    const least = this.#isCycle ? this.#spec.servers : 1;
    return this.#attempts.every(({ failures }) => failures >= least);
  }

  #needsNext(): boolean {
    const { failover, servers } = this.#spec;
    if (failover === "cycle" || this.#attempts.length >= servers) return false;
    if (this.#attempts.some(({ failures }) => failures === 0)) return false;
    return failover === "fallback" || this.#options.isMissingSomething();
  }

  #add(): void {
    const attempt: Attempt = { server: this.#attempts.length, stream: undefined, timer: undefined, failures: 0 };
    this.#attempts.push(attempt);
    this.#open(attempt);
  }

  #open(attempt: Attempt): void {
    attempt.timer = undefined;
    attempt.stream = this.#options.connect(attempt.server);
  }

  #endFrom(place: number): void {
    for (const { stream, timer } of this.#attempts.splice(place)) {
      this.#turn.cancelTimer(timer);
      if (stream === undefined) continue;
      this.#turn.ask({ kind: "close-stream", stream: stream.id });
      if (stream.isConnected)
        this.#turn.report({ kind: "stream-closed", source: this.#spec.id, server: stream.server });
      this.#options.disconnect(stream);
    }
  }
}
