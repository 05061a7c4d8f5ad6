import type { Socket } from "node:net";
import type { NodePastLine, Remembered } from "@xdskit/protocol/internal";
import { XdsError } from "../error.ts";
import type { ArrivingClient } from "../hub/catch-up-gate.ts";
import type { WorkerReport } from "../hub/port.ts";
import type { MetricReading } from "../observe/metric-readings.ts";
import { type BoundAddress, formatAddress } from "../transport/transport.ts";
import { ConnectionSource } from "./connection-source.ts";
import type { PrimaryQuestions, ReportedStream, ToPrimary, WorkerQuestions } from "./messages.ts";
import {
  type Answerers,
  type AnswerOf,
  type AskedOf,
  answerQuestion,
  GoneError,
  UnresponsiveError,
  type WorkerAnswersOf,
} from "./questions.ts";
import { Restarts } from "./restarts.ts";
import type { StateFeed } from "./state-feed.ts";
import { PING_EVERY_MS } from "./unanswered-pings.ts";
import { type ClientConnection, Worker, type WorkerState } from "./worker.ts";
import { WorkerReadings } from "./worker-readings.ts";

/** Connections that wait for a worker while none is ready; the client of one more has to come again. */
const MAX_WAITING = 4_096;
/** Ids of streams that a worker may use, so that no two workers use the same. */
const STREAMS_PER_WORKER = 10_000_000;
/** How long a worker may take to start, in milliseconds; a large state takes seconds. */
const START_WITHIN_MS = 120_000;
/** How much longer than its grace a worker may drain, in milliseconds. */
const DRAIN_MARGIN_MS = 5_000;

/** How a server is divided among processes. */
export interface WorkersOptions {
  readonly count: number;
  /** The module that a worker process runs; it calls `runWorker`. */
  readonly entry: string;
  /** What the workers are set up with; plain data. */
  readonly setup: unknown;
}

export interface WorkerPoolOptions extends WorkersOptions {
  readonly listen: readonly BoundAddress[];
  readonly feed: StateFeed;
  readonly report: (report: WorkerReport) => void;
  /** A connection was not accepted at an address. */
  readonly onFailedAccept: (where: string, cause: Error) => void;
  readonly onStreams: () => void;
  /** A stream of a single type came, of a node that has others in another process. */
  readonly onDivided: (stream: ReportedStream) => void;
  readonly onRemembered: (what: Remembered) => void;
  readonly onPast: (lines: readonly NodePastLine[]) => void;
  /** Resolves when everything that a client must not be set back behind was passed to the feed. */
  readonly whenFresh: (client: ArrivingClient) => Promise<void>;
}

/** What the admin API shows of a worker. */
export interface WorkerDescription {
  readonly worker: number;
  readonly pid: number | undefined;
  /** `unresponsive`: it does not answer. `ended`: another is about to take its place. */
  readonly state: WorkerState | "unresponsive";
  readonly startedAt: Date | undefined;
  readonly connections: number;
}

/** The processes that serve the clients of a server. */
export class WorkerPool {
  readonly #options: WorkerPoolOptions;
  readonly #workers = new Set<Worker>();
  readonly #sources: ConnectionSource[] = [];
  readonly #waiting: ClientConnection[] = [];
  readonly #restarts = new Restarts();
  readonly #readings = new WorkerReadings();
  readonly #timers = new Set<NodeJS.Timeout>();
  #setup: unknown;
  #addresses: readonly BoundAddress[] = [];
  #generation = 0;
  #pinging: NodeJS.Timeout | undefined;
  #rolling: Promise<void> = Promise.resolve();
  #isClosing = false;

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
    this.#setup = options.setup;
  }

  get #numbers(): readonly number[] {
    return Array.from({ length: this.#options.count }, (_, index) => index + 1);
  }

  get isReady(): boolean {
    return this.#ready().some(({ isServing }) => isServing);
  }

  /** Listens and starts the workers; resolves when all of them are ready. Throws an `XdsError` (LISTEN_FAILED). */
  async start(): Promise<readonly BoundAddress[]> {
    const addresses: BoundAddress[] = [];
    for (const [listener, wanted] of this.#options.listen.entries()) {
      const onConnection = (socket: Socket): void => {
        // Whatever happens to it before it is handed on, its client comes again.
        socket.on("error", () => undefined);
        this.#handOn({ listener, socket });
      };
      const { source, address } = await ConnectionSource.open(wanted, onConnection, (cause) =>
        this.#options.onFailedAccept(formatAddress(wanted), cause),
      );
      this.#sources.push(source);
      if (this.#isClosing) {
        source.close();
        throw new XdsError("WORKER_FAILED", "the workers were stopped before they started");
      }
      addresses.push(address);
    }
    this.#addresses = addresses;
    this.#pinging = setInterval(() => this.#pingAll(), PING_EVERY_MS).unref();
    await Promise.all(this.#numbers.map((number) => this.#startWorker(number)));
    return addresses;
  }

  /** Replaces all workers one by one; each new one serves before the old one is asked to end its clients. */
  async roll(setup: unknown, graceMs: number): Promise<void> {
    const rolled = this.#rolling.then(async () => {
      const before = this.#setup;
      this.#setup = setup;
      for (const old of [...this.#workers]) {
        if (this.#isClosing) return;
        if (old.state === "ended") continue;
        old.isBeingReplaced = true;
        try {
          await this.#startWorker(old.number);
        } catch (cause) {
          // What cannot start does not replace what serves.
          this.#setup = before;
          old.isBeingReplaced = false;
          if (!this.#workers.has(old)) this.#startLater(old.number, 0);
          throw cause;
        }
        await this.#drainWorker(old, graceMs);
      }
    });
    this.#rolling = rolled.catch(() => undefined);
    await rolled;
  }

  /** The answers that `ask` got, without the numbers of the workers. */
  async askAll<K extends keyof WorkerQuestions>(
    what: K,
    asked: AskedOf<WorkerQuestions, K>,
    except?: Worker,
  ): Promise<readonly AnswerOf<WorkerQuestions, K>[]> {
    const answers = await this.askEach(what, asked, except);
    return answers.map(({ answer }) => answer);
  }

  /** The answers that `ask` got. */
  async askEach<K extends keyof WorkerQuestions>(
    what: K,
    asked: AskedOf<WorkerQuestions, K>,
    except?: Worker,
  ): Promise<WorkerAnswersOf<AnswerOf<WorkerQuestions, K>>["answers"]> {
    return (await this.ask(what, asked, except)).answers;
  }

  /** Asks all workers that serve; one that ends meanwhile is left out. */
  async ask<K extends keyof WorkerQuestions>(
    what: K,
    asked: AskedOf<WorkerQuestions, K>,
    except?: Worker,
  ): Promise<WorkerAnswersOf<AnswerOf<WorkerQuestions, K>>> {
    const answers: { readonly worker: number; readonly answer: AnswerOf<WorkerQuestions, K> }[] = [];
    const unresponsive: number[] = [];
    const serving = this.#serving().filter((worker) => worker !== except);
    const asking = serving.map(async (worker) => ({ worker: worker.number, answer: await worker.ask(what, asked) }));
    for (const [index, one] of (await Promise.allSettled(asking)).entries()) {
      if (one.status === "fulfilled") answers.push(one.value);
      else if (one.reason instanceof UnresponsiveError) unresponsive.push(serving[index]?.number ?? 0);
      else if (!(one.reason instanceof GoneError)) throw one.reason;
    }
    return { answers, unresponsive };
  }

  /** The metrics of each worker that serves, and the counters of those that ended. */
  async readMetrics(): Promise<readonly (readonly MetricReading[])[]> {
    await Promise.all(this.#serving().map((worker) => this.#readings.read(worker)));
    return this.#readings.all;
  }

  /** Asks so many connections in all to leave. Resolves with how many were asked. */
  async moveConnections(count: number): Promise<number> {
    const serving = this.#serving();
    // Each has about as many as the others: every connection goes to the worker with the fewest.
    const shareOf = (index: number): number => Math.floor((count + index) / serving.length);
    const answers = await Promise.allSettled(
      serving.map((worker, index) => worker.ask("move-sessions", { connections: shareOf(index) })),
    );
    return answers.reduce((sum, one) => sum + (one.status === "fulfilled" ? one.value.moved : 0), 0);
  }

  /** The streams of connected nodes. */
  *streams(): Iterable<ReportedStream> {
    for (const worker of this.#workers) yield* worker.streams.values();
  }

  describe(): readonly WorkerDescription[] {
    const running = [...this.#workers].map((worker) => {
      const { number, process, isResponsive, startedAt, connections } = worker;
      const state = isResponsive ? worker.state : ("unresponsive" as const);
      return { worker: number, pid: process.pid, state, startedAt, connections };
    });
    const known = new Set(running.map(({ worker }) => worker));
    const missing = this.#numbers
      .filter((worker) => !known.has(worker))
      .map((worker) => ({ worker, pid: undefined, state: "ended" as const, startedAt: undefined, connections: 0 }));
    return [...running, ...missing].sort((a, b) => a.worker - b.worker);
  }

  /** Accepts no more connections and ends those of the workers. */
  async drain(graceMs: number): Promise<void> {
    this.#stopListening();
    await Promise.all([...this.#workers].map((worker) => this.#drainWorker(worker, graceMs)));
  }

  close(): void {
    this.#stopListening();
    for (const worker of this.#workers) worker.process.kill();
  }

  #stopListening(): void {
    this.#isClosing = true;
    clearInterval(this.#pinging);
    for (const source of this.#sources) source.close();
    for (const { socket } of this.#waiting.splice(0)) socket.destroy();
    for (const timer of this.#timers) clearTimeout(timer);
  }

  /** The workers that take new connections. */
  #ready(): readonly Worker[] {
    return [...this.#workers].filter(({ state, isResponsive }) => state === "ready" && isResponsive);
  }

  #serving(): readonly Worker[] {
    const serving = [...this.#workers].filter(({ state }) => state === "ready" || state === "draining");
    return serving.sort((a, b) => a.number - b.number);
  }

  /** Resolves when the worker serves clients. Rejects if it ends before. */
  async #startWorker(number: number, { isReplacement = false } = {}): Promise<void> {
    const worker = new Worker(number, { entry: this.#options.entry, isReplacement });
    this.#workers.add(worker);
    const { process } = worker;
    const { feed, report } = this.#options;
    const beganAt = performance.now();
    let unfollow = (): void => undefined;
    await new Promise<void>((resolve, reject) => {
      const timeout = setTimeout(() => {
        reject(new XdsError("WORKER_FAILED", `worker ${number} did not start within ${START_WITHIN_MS / 1000} s`));
        process.kill();
      }, START_WITHIN_MS);
      process.channel.onMessage((message) => {
        if (message.kind === "ready") {
          clearTimeout(timeout);
          worker.state = "ready";
          report({
            kind: "worker-ready",
            worker: number,
            pid: process.pid ?? 0,
            tookMs: Math.round(performance.now() - beganAt),
          });
          this.#handWaiting();
          resolve();
        } else if (message.kind === "failed") reject(new XdsError("WORKER_FAILED", message.reason));
        else this.#take(worker, message);
      });
      process.onEnded((how) => {
        clearTimeout(timeout);
        unfollow();
        this.#ended(worker, how);
        reject(new XdsError("WORKER_FAILED", `worker ${number} ended before it was ready: ${how}`));
      });
      const streamsAfter = STREAMS_PER_WORKER * this.#generation++;
      unfollow = feed.follow(
        (message, onLeft) => process.channel.send(message, onLeft === undefined ? {} : { onLeft }),
        (start) => {
          const known = { worker: number, streamsAfter, addresses: this.#addresses };
          process.channel.send({ kind: "setup", setup: this.#setup, start: { ...known, ...start } });
        },
      );
    });
  }

  #take(worker: Worker, message: ToPrimary): void {
    switch (message.kind) {
      case "closed":
        worker.connections = Math.max(0, worker.connections - message.connections);
        return;
      case "streams":
        for (const stream of worker.noteStreams(message)) this.#warnIfDivided(worker, stream);
        this.#options.onStreams();
        return;
      case "serving":
        worker.isServing = true;
        return;
      case "pong":
        this.#answeredPing(worker);
        return;
      case "remembered":
        this.#options.onRemembered(message.what);
        return;
      case "past":
        this.#options.onPast(message.lines);
        return;
      case "answer":
        worker.settle(message);
        return;
      case "question":
        void answerQuestion(this.#answerersOf(worker), message).then((answer) => worker.process.channel.send(answer));
        return;
      case "ready":
      case "failed":
        return;
    }
  }

  /** The streams of one node in several processes are in no common order. */
  #warnIfDivided(worker: Worker, stream: ReportedStream): void {
    const others = this.#ready().filter((other) => other !== worker);
    if (others.some((other) => other.serves(stream.node.id))) this.#options.onDivided(stream);
  }

  #answerersOf(worker: Worker): Answerers<PrimaryQuestions> {
    return {
      fresh: async ({ mayBeAhead }) => {
        let isChecked = true;
        const isKnown = (): boolean => {
          isChecked = false;
          return !mayBeAhead;
        };
        await this.#options.whenFresh({ bringsVersions: true, isKnown });
        return { isChecked };
      },
      "client-status": async (asked) => {
        const answers = await this.askAll("client-status", asked, worker);
        const parts = answers.flatMap((answer) => ("refused" in answer ? [] : [answer]));
        const refused = answers.find((answer) => "refused" in answer);
        return refused ?? parts.flat();
      },
    };
  }

  /** Workers that start or drain have time limits of their own. */
  #pingAll(): void {
    for (const worker of this.#workers) if (worker.state === "ready") this.#ping(worker);
  }

  #ping(worker: Worker): void {
    const wasResponsive = worker.isResponsive;
    const state = worker.ping();
    if (state === "lost") worker.process.kill();
    if (!wasResponsive || state === "responsive") return;
    const { number, process } = worker;
    this.#options.report({ kind: "worker-unresponsive", worker: number, pid: process.pid ?? 0 });
  }

  #answeredPing(worker: Worker): void {
    const wasResponsive = worker.isResponsive;
    worker.notePong();
    if (wasResponsive) return;
    const { number, process } = worker;
    this.#options.report({ kind: "worker-responsive", worker: number, pid: process.pid ?? 0 });
    this.#handWaiting();
  }

  #ended(worker: Worker, how: string): void {
    const { state, number, process } = worker;
    worker.ended();
    this.#readings.end(worker);
    this.#workers.delete(worker);
    for (const connection of worker.leaving) this.#handOn(connection);
    this.#options.onStreams();
    // Of one that cannot start, whoever started it is told.
    if (this.#isClosing || state === "draining" || (state === "starting" && !worker.isReplacement)) return;
    const ranMs = Date.now() - worker.startedAt.getTime();
    const restartMs = worker.isBeingReplaced ? 0 : this.#restarts.next(number, ranMs);
    this.#options.report({ kind: "worker-ended", worker: number, pid: process.pid ?? 0, how, restartMs });
    if (!worker.isBeingReplaced) this.#startLater(number, restartMs);
  }

  #startLater(number: number, pauseMs: number): void {
    if (this.#isClosing) return;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      void this.#startWorker(number, { isReplacement: true }).catch(() => undefined);
    }, pauseMs);
    this.#timers.add(timer);
  }

  async #drainWorker(worker: Worker, graceMs: number): Promise<void> {
    if (worker.state === "ended") return;
    worker.state = "draining";
    const ended = new Promise<void>((resolve) => worker.process.onEnded(() => resolve()));
    const killing = setTimeout(() => worker.process.kill(), graceMs + DRAIN_MARGIN_MS);
    await worker.ask("drain", { graceMs }).catch(() => undefined);
    await this.#readings.read(worker).catch(() => undefined);
    worker.process.release();
    await ended;
    clearTimeout(killing);
  }

  #handOn(connection: ClientConnection): void {
    const worker = this.#leastBusy();
    if (worker !== undefined) worker.hand(connection);
    else if (this.#waiting.length < MAX_WAITING && !this.#isClosing) this.#waiting.push(connection);
    else connection.socket.destroy();
  }

  #handWaiting(): void {
    for (const connection of this.#waiting.splice(0)) this.#handOn(connection);
  }

  /** Connections last long, so that taking turns would leave a new worker with few for long. */
  #leastBusy(): Worker | undefined {
    const ready = this.#ready();
    const serving = ready.filter(({ isServing }) => isServing);
    return (serving.length > 0 ? serving : ready).reduce<Worker | undefined>(
      (least, worker) => (least === undefined || worker.connections < least.connections ? worker : least),
      undefined,
    );
  }
}
