import type { Socket } from "node:net";
import { forkWorker, type WorkerProcess } from "./fork.ts";
import type { ReportedStream, ToPrimary, WorkerQuestions } from "./messages.ts";
import { type AnswerOf, type AskedOf, Questions, UnresponsiveError } from "./questions.ts";
import { type Responsiveness, UnansweredPings } from "./unanswered-pings.ts";

/** A connection of a client, and the listener at which it came in. */
export interface ClientConnection {
  readonly listener: number;
  readonly socket: Socket;
}

export type WorkerState = "starting" | "ready" | "draining" | "ended";

/** The primary's side of its connection to one worker. */
export class Worker {
  readonly process: WorkerProcess;
  /** From 1; a worker that takes the place of another has its number. */
  readonly number: number;
  /** It takes the place of one that ended unasked, and so does the next one if it cannot start. */
  readonly isReplacement: boolean;
  readonly startedAt: Date = new Date();
  /** The streams of connected nodes. */
  readonly streams: Map<number, ReportedStream> = new Map();
  readonly #questions: Questions<WorkerQuestions>;
  /** How many streams of a single type each node has. */
  readonly #ofOneType = new Map<string, number>();
  readonly #pings = new UnansweredPings();
  state: WorkerState = "starting";
  /** It has a configuration. */
  isServing = false;
  /** Another one that takes its place is starting. */
  isBeingReplaced = false;
  /** It answered one of the last pings. */
  isResponsive = true;
  /** Connections that it has, or that are on their way to it. */
  connections = 0;
  /** Connections that have not left this process yet: one follows when the worker has taken the one before. */
  readonly leaving: Set<ClientConnection> = new Set();

  constructor(number: number, { entry, isReplacement }: { readonly entry: string; readonly isReplacement: boolean }) {
    this.number = number;
    this.isReplacement = isReplacement;
    this.process = forkWorker(entry);
    this.#questions = new Questions<WorkerQuestions>((question) => this.process.channel.send(question));
  }

  /** Sends a ping. Returns how the worker answered those before. */
  ping(): Responsiveness {
    const { state } = this.#pings;
    if (state !== "responsive") {
      this.isResponsive = false;
      this.#questions.giveUp();
    }
    this.#pings.sent();
    this.process.channel.send({ kind: "ping" });
    return state;
  }

  /** The worker answered a ping. */
  notePong(): void {
    this.#pings.answered();
    this.isResponsive = true;
  }

  /** Rejects with a `GoneError` if the worker ends first, and with an `UnresponsiveError` if it stops answering. */
  ask<K extends keyof WorkerQuestions>(
    what: K,
    asked: AskedOf<WorkerQuestions, K>,
  ): Promise<AnswerOf<WorkerQuestions, K>> {
    if (!this.isResponsive) return Promise.reject(new UnresponsiveError());
    return this.#questions.ask(what, asked);
  }

  /** Hands a connection to the worker. */
  hand(connection: ClientConnection): void {
    const { listener, socket } = connection;
    this.connections++;
    this.leaving.add(connection);
    const onLeft = (): void => void this.leaving.delete(connection);
    this.process.channel.send({ kind: "connection", listener }, { socket, onLeft });
  }

  settle(answer: Extract<ToPrimary, { readonly kind: "answer" }>): void {
    this.#questions.settle(answer);
  }

  /** Takes in which streams there are; returns those of a single type that it did not know. */
  noteStreams({ placed, gone }: Extract<ToPrimary, { readonly kind: "streams" }>): readonly ReportedStream[] {
    const fresh: ReportedStream[] = [];
    for (const stream of gone) this.#forget(stream);
    for (const one of placed) {
      const isKnown = this.streams.has(one.stream);
      this.streams.set(one.stream, one);
      if (isKnown || one.onlyType === undefined || one.node.id === "") continue;
      this.#ofOneType.set(one.node.id, (this.#ofOneType.get(one.node.id) ?? 0) + 1);
      fresh.push(one);
    }
    return fresh;
  }

  /** Whether it has a stream of a single type of that node. */
  serves(node: string): boolean {
    return this.#ofOneType.has(node);
  }

  #forget(stream: number): void {
    const known = this.streams.get(stream);
    this.streams.delete(stream);
    if (known?.onlyType === undefined || known.node.id === "") return;
    const left = (this.#ofOneType.get(known.node.id) ?? 0) - 1;
    if (left > 0) this.#ofOneType.set(known.node.id, left);
    else this.#ofOneType.delete(known.node.id);
  }

  ended(): void {
    this.state = "ended";
    this.streams.clear();
    this.#ofOneType.clear();
    this.connections = 0;
    this.#questions.end();
  }
}
