import type { Status } from "../message/status.ts";
import { pauseMs } from "./back-off.ts";
import type { SourceSpec } from "./source.ts";
import type { ClientStream } from "./stream.ts";
import type { Turn } from "./turn.ts";

/** What is tried with one server. */
interface Attempt {
  server: number;
  stream: ClientStream | undefined;
  timer: number | undefined;
  /** How often in a row it ended without an answer. */
  failures: number;
}

/** What the owner of attempts does for them. */
interface AttemptsOptions {
  connect(server: number): ClientStream;
  disconnect(stream: ClientStream): void;
  /** Of something that is wanted nothing is known (C-FBK-02). */
  isMissingSomething(): boolean;
}

/**
 * Which servers of a source are talked to, and when they are tried again. With `cycle` there is one attempt, which goes from server to server; else one for each
 * server up to the first that can be reached, and what a better one answers ends those with the worse ones (C-FBK-02, C-FBK-03).
 */
export class Attempts {
  readonly #turn: Turn;
  readonly #spec: SourceSpec;
  readonly #options: AttemptsOptions;
  /** The best server first. */
  readonly #attempts: Attempt[] = [];
  #chosen: number | undefined;

  constructor(turn: Turn, spec: SourceSpec, options: AttemptsOptions) {
    this.#turn = turn;
    this.#spec = spec;
    this.#options = options;
  }

  *streams(): Iterable<ClientStream> {
    for (const { stream } of this.#attempts) if (stream !== undefined) yield stream;
  }

  /** Another server is talked to, and answered: what it gave is in force until this one answers (C-FBK-04). */
  isOutdone(stream: ClientStream): boolean {
    for (const other of this.streams()) if (other !== stream && other.wasAnswered) return true;
    return false;
  }

  /** Tries the best server, and the next one if that is to be used and the best cannot be reached. */
  start(): void {
    if (this.#attempts.length === 0) this.#add();
    while (this.#needsNext()) this.#add();
  }

  /** Nothing is needed any more. */
  stop(): void {
    this.#endFrom(0);
  }

  /** A server answered: nothing less good is needed. */
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

  /** A stream ended. Says whether no server can be reached. */
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

  /** Each poll is a request of its own, and one that failed did so whatever those before were answered (C-RST-17). */
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
