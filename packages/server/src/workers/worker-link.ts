import type { Socket } from "node:net";
import type { LayerChange, Resource, TypeUrl } from "@xdskit/protocol";
import type { StreamId } from "@xdskit/protocol/internal";
import type { ArrivingClient, Freshness } from "../hub/catch-up-gate.ts";
import type { Hub } from "../hub/hub.ts";
import type { HubTarget } from "../hub-target.ts";
import type { NumbersReached } from "../ledger/in-force.ts";
import type { NodePastStore } from "../ledger/node-past-files.ts";
import type { NumbersInForce } from "../ledger/numbers-in-force.ts";
import { SharedQuestion } from "../shared-question.ts";
import type { Channel } from "./channel.ts";
import type {
  AskedClientStatus,
  PrimaryQuestions,
  ReportedStream,
  ToPrimary,
  ToWorker,
  WorkerQuestions,
  WorkerStart,
} from "./messages.ts";
import { type Answerers, type AnswerOf, answerQuestion, Questions } from "./questions.ts";
import type { WorkerHistory } from "./worker-history.ts";

/** How long the streams that changed are gathered before the primary is told, in milliseconds. */
const GATHER_MS = 20;

/** The channel of a worker, as its process has it. */
export type WorkerChannel = Channel<ToPrimary, ToWorker>;

export interface WorkerLinkParts {
  readonly start: WorkerStart;
  readonly channel: WorkerChannel;
  readonly hub: Hub;
  readonly target: HubTarget;
  readonly numbers: NumbersInForce;
  readonly history: WorkerHistory;
  /** Takes in a connection at a listener. */
  readonly accept: (listener: number, socket: Socket) => void;
  readonly answerers: Answerers<WorkerQuestions>;
}

/** A worker's side of its connection to the primary: applies what comes, in order, and tells which nodes are connected. */
export class WorkerLink implements Freshness {
  readonly #parts: WorkerLinkParts;
  readonly #questions: Questions<PrimaryQuestions>;
  readonly #intern = new Interned();
  readonly #changedStreams = new Set<StreamId>();
  readonly #unconfirmed = new Set<StreamId>();
  #atStart: LayerChange[] | undefined = [];
  /** What came is applied one after the other. */
  #applied: Promise<void> = Promise.resolve();
  #closed = 0;
  #gathering: NodeJS.Timeout | undefined;
  readonly #fresh = new SharedQuestion(() => this.#askPrimary({ mayBeAhead: false }));

  constructor(parts: WorkerLinkParts) {
    this.#parts = parts;
    this.#questions = new Questions<PrimaryQuestions>((question) => parts.channel.send(question));
    parts.hub.setFreshness(this);
    const { readiness } = parts.hub;
    readiness.watch(() => readiness.state === "ready" && parts.channel.send({ kind: "serving" }));
    this.#followStreams();
  }

  /** The clients of the other workers. */
  async askOthers(asked: AskedClientStatus): Promise<AnswerOf<PrimaryQuestions, "client-status">> {
    return await this.#questions.ask("client-status", asked);
  }

  /** Begins to take in what the primary sends; the server must be able to take connections. */
  run(): void {
    this.#parts.channel.onMessage((message, socket) => this.#take(message, socket));
  }

  /** The past of the nodes is kept by the primary. */
  get pastStore(): NodePastStore {
    return {
      append: (lines) => {
        this.#parts.channel.send({ kind: "past", lines });
        return Promise.resolve();
      },
      async *read() {
        yield* [];
      },
    };
  }

  /** What the primary had in force when it was asked must be in force here: other workers may be ahead. */
  check(client: ArrivingClient): Promise<void> | undefined {
    return client.bringsVersions ? this.#check(client) : undefined;
  }

  async #check(client: ArrivingClient): Promise<void> {
    if ((await this.#fresh.ask()) || client.isKnown()) return;
    await this.#askPrimary({ mayBeAhead: true });
  }

  /** Whether the primary could ask its store, if it has one. */
  async #askPrimary(asked: { readonly mayBeAhead: boolean }): Promise<boolean> {
    try {
      const { isChecked } = await this.#questions.ask("fresh", asked);
      // What the primary sent before its answer is here.
      await this.#applied;
      return isChecked;
    } catch {
      return true;
    }
  }

  #take(message: ToWorker, socket: Socket | undefined): void {
    switch (message.kind) {
      case "connection":
        this.#connect(message.listener, socket);
        return;
      case "ping":
        this.#parts.channel.send({ kind: "pong" });
        return;
      case "question":
        void this.#answer(message);
        return;
      case "answer":
        this.#questions.settle(message);
        return;
      default:
        this.#applied = this.#applied.then(async () => {
          await this.#apply(message).catch((error: unknown) => this.#broken(message.kind, error));
        });
    }
  }

  /** Answers from a state with everything that came before the question. */
  async #answer(question: Extract<ToWorker, { readonly kind: "question" }>): Promise<void> {
    await this.#applied;
    this.#parts.channel.send(await answerQuestion(this.#parts.answerers, question));
  }

  #connect(listener: number, socket: Socket | undefined): void {
    // The client left on the way.
    if (socket === undefined) {
      this.#noteClosed();
      return;
    }
    socket.once("close", () => this.#noteClosed());
    this.#parts.accept(listener, socket);
  }

  #noteClosed(): void {
    if (++this.#closed > 1) return;
    setImmediate(() => {
      this.#parts.channel.send({ kind: "closed", connections: this.#closed });
      this.#closed = 0;
    });
  }

  async #apply(
    message: Exclude<ToWorker, { readonly kind: "connection" | "ping" | "question" | "answer" }>,
  ): Promise<void> {
    const { target, numbers, hub, channel, history } = this.#parts;
    switch (message.kind) {
      case "setup":
        return;
      case "resources":
        this.#atStart?.push(...message.changes.map((change) => this.#intern.change(change)));
        return;
      case "begin":
        await this.#begin();
        channel.send({ kind: "ready" });
        return;
      case "change":
        history.reached({
          own: await target.apply({
            changes: message.changes.map((change) => this.#intern.change(change)),
            placement: message.placement,
          }),
          primary: message.revision,
        });
        return;
      case "remembered":
        hub.noteElsewhere([history.ofPrimary(message.what)]);
        return;
      case "missing":
        target.changeMissing(message.change);
        return;
      case "numbers":
        reach(numbers, message.numbers, hub.revision);
        return;
    }
  }

  async #begin(): Promise<void> {
    const { target, numbers, hub, history, start } = this.#parts;
    const { missing, placement, isReady, revision: primary } = start;
    const layers = new Map<string, Resource[]>();
    for (const { layer, puts = [] } of this.#atStart ?? []) {
      const all = layers.get(layer);
      if (all === undefined) layers.set(layer, [...puts]);
      else for (const put of puts) all.push(put);
    }
    this.#atStart = undefined;
    if (missing.length > 0) target.changeMissing({ added: missing, removed: [] });
    if (isReady) {
      const changes = [...layers].map(([layer, puts]) => ({ layer, puts }));
      history.reached({ own: await target.apply({ changes, placement }), primary });
    }
    if (start.numbers !== undefined) reach(numbers, start.numbers, hub.revision);
  }

  #broken(what: string, error: unknown): void {
    this.#parts.hub.report({ kind: "invariant-broken", stream: undefined, during: `worker ${what}`, error });
  }

  #followStreams(): void {
    const { listeners } = this.#parts.hub;
    const changed = ({ stream }: { readonly stream: StreamId }): void => this.#streamChanged(stream);
    const confirmed = ({ stream }: { readonly stream: StreamId }): void => {
      if (this.#unconfirmed.has(stream)) this.#streamChanged(stream);
    };
    listeners.on("node-connected", changed);
    listeners.on("stream-closed", changed);
    // A type that it did not ask for before.
    listeners.on("request-classified", ({ stream, as }) => as === "initial" && this.#streamChanged(stream));
    listeners.on("poller-met", changed);
    listeners.on("poller-forgotten", changed);
    listeners.on("response-acked", confirmed);
    listeners.on("response-nacked", confirmed);
  }

  #streamChanged(stream: StreamId): void {
    this.#changedStreams.add(stream);
    this.#gathering ??= setTimeout(() => this.#tellStreams(), GATHER_MS).unref();
  }

  #tellStreams(): void {
    this.#gathering = undefined;
    const placed: ReportedStream[] = [];
    const gone: StreamId[] = [];
    for (const stream of this.#changedStreams) {
      const state = this.#parts.hub.view.streamState(stream);
      this.#unconfirmed.delete(stream);
      if (state?.node === undefined) {
        gone.push(stream);
        continue;
      }
      const { node, peer, onlyType, isPoller, isUnconfirmed, apiVersion } = state;
      if (isUnconfirmed === true) this.#unconfirmed.add(stream);
      // The metadata is decoded when it is read.
      const plain = { ...node, metadata: node.metadata };
      placed.push({
        ...{ stream, node: plain, peer, onlyType },
        ...(isPoller && { isPoller }),
        ...(isUnconfirmed && { isUnconfirmed }),
        types: apiVersion === "v3" ? state.types.map(({ type }) => type) : "any",
      });
    }
    this.#changedStreams.clear();
    this.#parts.channel.send({ kind: "streams", placed, gone });
  }
}

function reach(numbers: NumbersInForce, told: NumbersReached, revision: number): void {
  switch (told.kind) {
    case "resumed":
      numbers.resume(told.number, told.newest, revision);
      return;
    case "reached":
      numbers.reached(told.before, told.number, revision);
      return;
    case "changed":
      numbers.changed(told.number, revision, told.stable);
      return;
  }
}

/** Texts that many resources share are one object again, as they were in the primary. */
class Interned {
  readonly #types = new Map<string, TypeUrl>();
  readonly #layers = new Map<string, string>();

  change({ layer, puts, deletes, ...change }: LayerChange): LayerChange {
    return {
      ...change,
      layer: this.#layer(layer),
      ...(puts !== undefined && { puts: puts.map((resource) => this.#resource(resource)) }),
      ...(deletes !== undefined && {
        deletes: deletes.map((deletion) => ({ ...deletion, type: this.#type(deletion.type) })),
      }),
    };
  }

  #resource(resource: Resource): Resource {
    const { type, aliases, references } = resource;
    return {
      ...resource,
      type: this.#type(type),
      aliases: aliases.length === 0 ? NONE : aliases,
      references: references.length === 0 ? NONE : references.map((one) => ({ ...one, type: this.#type(one.type) })),
    };
  }

  #type(type: TypeUrl): TypeUrl {
    const known = this.#types.get(type);
    if (known !== undefined) return known;
    this.#types.set(type, type);
    return type;
  }

  #layer(layer: string): string {
    const known = this.#layers.get(layer);
    if (known !== undefined) return known;
    this.#layers.set(layer, layer);
    return layer;
  }
}

const NONE: readonly never[] = [];
