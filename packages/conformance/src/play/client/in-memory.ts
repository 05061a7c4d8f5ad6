import { anonymousNode, type Node } from "@xdskit/protocol";
import {
  type ClientEffect,
  type ClientEvent,
  ClientMachine,
  type ClientMachineOptions,
  type ClientStreamId,
  clientDialect,
  type Moment,
  opaqueTraits,
  type SourceSpec,
  statusCode,
} from "@xdskit/protocol/internal";
import type { ClientSetup, Garbage, Meeting } from "../../client-case.ts";
import { type TypeName, traitsOf, urlOf } from "../../content/catalog.ts";
import type { Verdict } from "../play.ts";
import { playClient } from "./client-play.ts";
import type {
  ClientDriver,
  ClientObservation,
  PlainScripted,
  PlainSource,
  PlainWatch,
  StreamPurpose,
} from "./driver.ts";
import { mainSource } from "./driver.ts";
import type { ClientPlay } from "./plays.ts";
import { partsOf, receivedOf } from "./received.ts";
import { Labels } from "./rendered.ts";
import { streamName } from "./stream-name.ts";
import { termOf } from "./term.ts";

/** What is played against: the client machine, or a deliberately faulty one. */
export interface PlayedClient {
  /** Processes events that happened together. */
  onAll(events: Iterable<ClientEvent>, moment: Moment): readonly ClientEffect[];
}

/** Plays a client case against the client machine; the case controls time and randomness. */
export function playClientInMemory(
  scene: ClientPlay,
  createMachine: (options: ClientMachineOptions) => PlayedClient = (options) => new ClientMachine(options),
): Promise<Verdict> {
  const labels = new Labels();
  return playClient(scene, new InMemoryClient(scene, createMachine, labels), labels);
}

interface OpenServerStream {
  readonly id: ClientStreamId;
  readonly purpose: StreamPurpose;
  readonly source: PlainSource;
  /** No server has accepted or refused it yet. */
  isWaiting: boolean;
}

const HALF = 0.5;
const ABSENCE_MS = 15_000;
const BACK_OFF = { baseMs: 500, maxMs: 30_000 };
const OPERATORS_NODE = nodeCalled("n1");

class InMemoryClient implements ClientDriver {
  readonly tellsReports = true;
  readonly #machine: PlayedClient;
  readonly #labels: Labels;
  readonly #type: TypeName;
  readonly #sources = new Map<string, PlainSource>();
  readonly #meets = new Map<string, Meeting>();
  readonly #streams = new Map<string, OpenServerStream>();
  readonly #watches = new Map<string, number>();
  readonly #timers = new Map<number, number>();
  readonly #pending = new Map<string, PlainScripted>();
  readonly #queue: ClientEvent[] = [];
  #seen: ClientObservation[] = [];
  #nowMs = 0;
  #chance = HALF;
  #nextWatch = 1;

  constructor(
    { case: { type } }: ClientPlay,
    createMachine: (options: ClientMachineOptions) => PlayedClient,
    labels: Labels,
  ) {
    this.#type = type;
    this.#labels = labels;
    this.#machine = createMachine({ traits: (url) => traitsOf(url) ?? opaqueTraits(url), node: OPERATORS_NODE });
  }

  async start(sources: readonly PlainSource[], { chance = HALF }: ClientSetup): Promise<void> {
    this.#chance = chance;
    for (const source of sources) {
      this.#sources.set(source.id, source);
      for (const [server, meeting] of Object.entries(source.meets ?? {})) {
        this.#meets.set(`${source.id} ${server}`, meeting);
      }
      this.#on({ kind: "source-added", source: specOf(source) });
    }
  }

  async watch(watches: readonly PlainWatch[]): Promise<void> {
    const events = watches.map(({ watch, source, type, term }): ClientEvent => {
      const id = this.#nextWatch++;
      this.#watches.set(watch, id);
      return { kind: "watch-started", watch: id, source, type: urlOf(type), term: termOf(term) };
    });
    this.#onAll(events);
  }

  async stopWatches(watches: readonly string[]): Promise<void> {
    const events = watches.map((name): ClientEvent => {
      const watch = this.#watches.get(name);
      if (watch === undefined) throw new Error(`the case stops ${name}, which is not watched`);
      return { kind: "watch-stopped", watch };
    });
    this.#onAll(events);
  }

  async respond(stream: string, responses: readonly PlainScripted[]): Promise<void> {
    for (const response of responses) this.#receive(this.#streamNamed(stream), response);
  }

  async arrive(stream: string, response: PlainScripted): Promise<void> {
    this.#pending.set(stream, response);
    const { id } = this.#streamNamed(stream);
    this.#on({ kind: "response-arrived", stream: id, type: urlOf(response.type), nonce: response.nonce ?? "" });
  }

  async judged(stream: string): Promise<void> {
    const response = this.#pending.get(stream);
    if (response === undefined) throw new Error(`nothing arrived on ${stream} that could be judged`);
    this.#pending.delete(stream);
    this.#receive(this.#streamNamed(stream), response);
  }

  async garble(stream: string, as: Garbage): Promise<void> {
    const { id, purpose } = this.#streamNamed(stream);
    const problem = "it cannot be read";
    if (purpose.onlyType !== undefined && this.#isUnanswered(purpose)) {
      this.#on({ kind: "unreadable-received", stream: id, type: purpose.onlyType, problem });
      return;
    }
    await this.end(stream, as === "too large" ? statusCode.RESOURCE_EXHAUSTED : statusCode.INTERNAL);
  }

  async end(stream: string, code: number): Promise<void> {
    const { id } = this.#streamNamed(stream);
    this.#streams.delete(stream);
    this.#on({ kind: "stream-closed", stream: id, status: { code, message: "ended by the case" } });
  }

  async unchanged(stream: string): Promise<void> {
    const { id, purpose } = this.#streamNamed(stream);
    this.#on({ kind: "poll-unchanged", stream: id, type: purpose.onlyType ?? urlOf(this.#type) });
  }

  async due(stream: string): Promise<void> {
    const { id, purpose } = this.#streamNamed(stream);
    this.#on({ kind: "poll-due", stream: id, type: purpose.onlyType ?? urlOf(this.#type) });
  }

  async meet(source: string, meets: Readonly<Record<number, Meeting>>): Promise<void> {
    for (const [server, meeting] of Object.entries(meets)) this.#meets.set(`${source} ${server}`, meeting);
    for (const open of [...this.#streams.values()]) if (open.isWaiting) this.#meet(open);
    this.#drain();
  }

  async pass(ms: number): Promise<void> {
    const until = this.#nowMs + ms;
    for (;;) {
      const due = this.#earliestTimer();
      if (due === undefined || due.at > until) break;
      this.#nowMs = due.at;
      this.#timers.delete(due.timer);
      this.#on({ kind: "timer-fired", timer: due.timer });
    }
    this.#nowMs = until;
  }

  async describe(nodeId: string): Promise<void> {
    this.#on({ kind: "node-changed", node: nodeCalled(nodeId) });
  }

  async restore(type: TypeName, resources: readonly string[]): Promise<void> {
    const kept = resources.map((is) => {
      const { name, label = "" } = partsOf(is);
      return {
        type: urlOf(type),
        name,
        aliases: [],
        version: label,
        bytes: this.#labels.encode(type, is),
      };
    });
    this.#on({ kind: "resources-restored", source: mainSource, resources: kept });
  }

  async warmed(source: string): Promise<void> {
    this.#on({ kind: "warming-ended", source });
  }

  async settle(): Promise<readonly ClientObservation[]> {
    const seen = this.#seen;
    this.#seen = [];
    return seen;
  }

  async stop(): Promise<void> {}

  #receive({ id, source }: OpenServerStream, response: PlainScripted): void {
    this.#on({
      kind: "response-received",
      stream: id,
      response: receivedOf(response, source.variant, this.#labels),
    });
  }

  #on(event: ClientEvent): void {
    this.#onAll([event]);
  }

  #onAll(events: readonly ClientEvent[]): void {
    const effects = this.#machine.onAll(events, { nowMs: this.#nowMs, chance: this.#chance });
    for (const effect of effects) this.#perform(effect);
    this.#drain();
  }

  /** Processes the events that performed effects caused. */
  #drain(): void {
    for (let event = this.#queue.shift(); event !== undefined; event = this.#queue.shift()) this.#on(event);
  }

  #perform(effect: ClientEffect): void {
    switch (effect.kind) {
      case "open-stream":
        this.#open(effect);
        break;
      case "send-request": {
        const { stream, request, isUrgent = false } = effect;
        this.#see({ kind: "request", stream: this.#nameOf(stream), request, isUrgent });
        break;
      }
      case "close-stream":
        this.#close(this.#nameOf(effect.stream));
        break;
      case "start-timer":
        this.#timers.set(effect.timer, this.#nowMs + effect.ms);
        break;
      case "cancel-timer":
        this.#timers.delete(effect.timer);
        break;
      case "source-forgotten":
        break;
      case "notify":
        this.#see({ kind: "news", watch: this.#watchNameOf(effect.watch), news: effect.news });
        break;
      case "report":
        this.#see({ kind: "report", report: effect.report });
        break;
      default:
        throw new Error(`there is no such effect: ${JSON.stringify(effect satisfies never)}`);
    }
  }

  #close(stream: string): void {
    this.#streams.delete(stream);
    this.#see({ kind: "closed", stream });
  }

  #see(observation: ClientObservation): void {
    this.#seen.push(observation);
  }

  #open({ stream: id, ...purpose }: Extract<ClientEffect, { readonly kind: "open-stream" }>): void {
    const source = this.#sources.get(purpose.source);
    if (source === undefined) throw new Error(`no source ${purpose.source} was added`);
    const stream = streamName(purpose, this.#type);
    if (this.#streams.has(stream)) throw new Error(`a second stream ${stream} is opened beside the first`);
    const open = { id, purpose, source, isWaiting: true };
    this.#streams.set(stream, open);
    this.#see({ kind: "opened", stream });
    this.#meet(open);
  }

  #meet(open: OpenServerStream): void {
    const { id, purpose } = open;
    const meeting = this.#meets.get(`${purpose.source} ${purpose.server}`) ?? "accepts";
    if (meeting === "hangs") return;
    open.isWaiting = false;
    if (meeting === "accepts") {
      this.#queue.push({ kind: "stream-opened", stream: id });
      return;
    }
    this.#streams.delete(streamName(purpose, this.#type));
    const status = { code: statusCode.UNAVAILABLE, message: "refused by the case" };
    this.#queue.push({ kind: "stream-closed", stream: id, status });
  }

  #isUnanswered({ source }: StreamPurpose): boolean {
    const kind = this.#sources.get(source)?.kind;
    return kind === "poll" || kind === "file";
  }

  #streamNamed(name: string): OpenServerStream {
    const stream = this.#streams.get(name);
    if (stream === undefined) throw new Error(`the case uses stream ${name}, which is not open`);
    return stream;
  }

  #nameOf(id: ClientStreamId): string {
    for (const [name, stream] of this.#streams) if (stream.id === id) return name;
    return `stream ${id}, which is not open`;
  }

  #watchNameOf(id: number): string {
    for (const [name, watch] of this.#watches) if (watch === id) return name;
    return `watch ${id}, which nobody started`;
  }

  #earliestTimer(): { readonly timer: number; readonly at: number } | undefined {
    let earliest: { readonly timer: number; readonly at: number } | undefined;
    for (const [timer, at] of this.#timers) if (earliest === undefined || at < earliest.at) earliest = { timer, at };
    return earliest;
  }
}

function nodeCalled(id: string): Node {
  return { ...anonymousNode, id, cluster: "conformance" };
}

/** Converts a source to the machine's form. */
function specOf(source: PlainSource): SourceSpec {
  const { id, kind, variant, dialect, edition } = source;
  return {
    id,
    access: kind === "poll" || kind === "file" ? kind : "stream",
    variant,
    isAggregated: kind === "ads",
    servers: source.servers ?? 1,
    failover: source.failover ?? "cycle",
    nodeIn: source.nodeIn ?? "first-request",
    absenceMs: source.absenceMs ?? ABSENCE_MS,
    backOff: BACK_OFF,
    rateLimit: source.rateLimit,
    dialect: clientDialect(dialect, edition),
  };
}
