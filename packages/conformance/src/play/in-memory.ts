import { contentDigest } from "@xdskit/envoy-api";
import { type Peer, parseTypeUrl, type Resource } from "@xdskit/protocol";
import {
  type Body,
  canonicalName,
  constraintsOf,
  type DiscoveryRequest,
  describeConstraints,
  type InitialVersions,
  locatedTerm,
  noInitialVersions,
  type PollEffect,
  parseLocated,
  parseVariantKey,
  type Report,
  type ServerEffect,
  type ServerEvent,
  ServerMachine,
  type ServerMachineOptions,
  type StreamId,
  shownName,
} from "@xdskit/protocol/internal";
import type { NodeLayers, Setup } from "../case.ts";
import { methodType, traitsOf, urlOf } from "../content/catalog.ts";
import type {
  Awaited,
  Commit,
  Driver,
  Observation,
  Opening,
  PlainLocator,
  PlainRequest,
  PlainResource,
  PlainResponse,
} from "./driver.ts";
import { play, type Verdict } from "./play.ts";
import type { Play } from "./plays.ts";
import { nodeMappingOf, transactionOf } from "./transaction.ts";

/** What is played against: the server machine, or a deliberately faulty one. */
export interface Machine {
  on(event: ServerEvent): readonly ServerEffect[];
  next(budget: number): readonly ServerEffect[];
  readonly isDue: boolean;
}

/** Plays a case against the server machine; the case controls time. */
export function playInMemory(
  scene: Play,
  createMachine: (options: ServerMachineOptions) => Machine = (options) => new ServerMachine(options),
): Promise<Verdict> {
  return play(scene, new InMemoryDriver(createMachine));
}

interface Server {
  machine: Machine;
  readonly setup: Setup;
  readonly timers: Map<number, number>;
  readonly streams: Map<StreamId, string>;
}

interface OpenStream {
  readonly id: StreamId;
  readonly opening: Opening;
  /** Objects decoded before, as a real decoder reuses them for equal bytes. */
  readonly memory: Map<string, unknown>;
}

const LOOPBACK: Peer = { address: "127.0.0.1:1", isLoopback: true, isTls: false, names: [] };
const ONE_BY_ONE = 1;
/** How long polls are held, in milliseconds: the server's default for clients without a timeout. */
const HOLD_MS = 800;

class InMemoryDriver implements Driver {
  readonly tellsBookings = true;
  readonly isExact = true;
  readonly #createMachine: (options: ServerMachineOptions) => Machine;
  readonly #servers = new Map<string, Server>();
  readonly #streams = new Map<string, OpenStream>();
  readonly #connections = new Map<string, number>();
  #nodeMapping: NodeLayers = {};
  #seen: Observation[] = [];
  #nextStream = 1;
  #nowMs = 0;

  constructor(createMachine: (options: ServerMachineOptions) => Machine) {
    this.#createMachine = createMachine;
  }

  async start(server: string, setup: Setup): Promise<void> {
    this.#nodeMapping = setup.nodeMapping ?? {};
    this.#servers.set(server, {
      machine: this.#machineFor(setup),
      setup,
      timers: new Map(),
      streams: new Map(),
    });
  }

  async commit(server: string, commit: Commit): Promise<void> {
    this.#on(this.#serverNamed(server), { kind: "transaction-committed", transaction: transactionOf(commit) });
  }

  async move(nodeMapping: NodeLayers): Promise<void> {
    this.#nodeMapping = nodeMapping;
    for (const server of this.#servers.values()) {
      this.#on(server, { kind: "transaction-committed", nodeMapping: nodeMappingOf(nodeMapping) });
    }
  }

  async open(opening: Opening): Promise<void> {
    const id = this.#nextStream++;
    const server = this.#serverNamed(opening.server);
    const connection = this.#connections.get(opening.connection) ?? this.#connections.size + 1;
    this.#connections.set(opening.connection, connection);
    this.#streams.set(opening.stream, { id, opening, memory: new Map() });
    if (opening.isPolled) return;
    server.streams.set(id, opening.stream);
    this.#on(server, {
      kind: "stream-opened",
      stream: id,
      variant: opening.variant,
      onlyType: opening.only === undefined ? undefined : urlOf(methodType(opening.only, opening.api)),
      apiVersion: opening.api,
      ...(opening.by !== undefined && { needs: opening.by }),
      peer: LOOPBACK,
      connection,
    });
  }

  async send(stream: string, requests: readonly PlainRequest[]): Promise<void> {
    const open = this.#streamNamed(stream);
    const server = this.#serverNamed(open.opening.server);
    for (const request of requests) {
      if (open.opening.isPolled) this.#poll(server, open, request);
      else this.#on(server, { kind: "request-received", stream: open.id, request: readRequest(open, request) });
    }
  }

  #poll(server: Server, { opening, memory }: OpenStream, plain: PlainRequest): void {
    const request = readRequest({ id: 0, opening, memory }, plain);
    if (request.kind !== "sotw") throw new Error("only State of the World is polled");
    const poll = this.#nextStream++;
    server.streams.set(poll, opening.stream);
    const { api: apiVersion, only = "opaque" } = opening;
    const type = request.type ?? urlOf(methodType(only, apiVersion));
    this.#on(server, { kind: "poll-received", poll, peer: LOOPBACK, apiVersion, type, request, holdMs: HOLD_MS });
  }

  async breakConnection(connection: string): Promise<void> {
    for (const [name, { opening }] of this.#streams) if (opening.connection === connection) this.#close(name);
    this.#connections.delete(connection);
  }

  async cancel(stream: string): Promise<void> {
    this.#close(stream);
  }

  async setReading(stream: string, isReading: boolean): Promise<void> {
    const open = this.#streamNamed(stream);
    const kind = isReading ? "stream-drained" : "stream-stalled";
    this.#on(this.#serverNamed(open.opening.server), { kind, stream: open.id });
  }

  async pass(ms: number): Promise<void> {
    const until = this.#nowMs + ms;
    for (;;) {
      const due = this.#earliestTimer();
      if (due === undefined || due.at > until) break;
      this.#nowMs = due.at;
      due.server.timers.delete(due.timer);
      this.#on(due.server, { kind: "timer-fired", timer: due.timer });
      this.#turn(due.server);
    }
    this.#nowMs = until;
  }

  async restart(server: string): Promise<void> {
    for (const [name, { opening }] of this.#streams) if (opening.server === server) this.#streams.delete(name);
    const { setup } = this.#serverNamed(server);
    this.#servers.set(server, { machine: this.#machineFor(setup), setup, timers: new Map(), streams: new Map() });
  }

  async settle(_awaited: Awaited): Promise<readonly Observation[]> {
    for (const server of this.#servers.values()) this.#turn(server);
    const seen = this.#seen;
    this.#seen = [];
    return seen;
  }

  async stop(): Promise<void> {}

  #machineFor(setup: Setup): Machine {
    return this.#createMachine({
      digest: contentDigest,
      traits: traitsOf,
      nodeMapping: nodeMappingOf(this.#nodeMapping),
      ...(setup.edition === undefined ? {} : { edition: setup.edition }),
      dialect: { ...setup.dialect, requireNode: setup.requireNode ?? false },
    });
  }

  #serverNamed(name: string): Server {
    const server = this.#servers.get(name);
    if (server === undefined) throw new Error(`no server "${name}" was started`);
    return server;
  }

  #streamNamed(name: string): OpenStream {
    const stream = this.#streams.get(name);
    if (stream === undefined) throw new Error(`the case uses stream ${name}, which is not open`);
    return stream;
  }

  #close(name: string): void {
    const { id, opening } = this.#streamNamed(name);
    const server = this.#serverNamed(opening.server);
    this.#streams.delete(name);
    if (opening.isPolled) {
      for (const [poll, stream] of server.streams) if (stream === name) this.#on(server, { kind: "poll-closed", poll });
      return;
    }
    server.streams.delete(id);
    this.#on(server, { kind: "stream-closed", stream: id });
  }

  #earliestTimer(): { server: Server; timer: number; at: number } | undefined {
    const timers = [...this.#servers.values()].flatMap((server) =>
      [...server.timers].map(([timer, at]) => ({ server, timer, at })),
    );
    return timers.sort((a, b) => a.at - b.at)[0];
  }

  #turn(server: Server): void {
    while (server.machine.isDue) this.#perform(server, server.machine.next(ONE_BY_ONE));
  }

  #on(server: Server, event: ServerEvent): void {
    this.#perform(server, server.machine.on(event));
  }

  #perform(server: Server, effects: readonly ServerEffect[]): void {
    for (const effect of effects) {
      if (effect.kind === "start-timer") server.timers.set(effect.timer, this.#nowMs + effect.ms);
      else if (effect.kind === "cancel-timer") server.timers.delete(effect.timer);
      else if (effect.kind === "report") this.#report(server, effect.report);
      else if (effect.kind !== "remember") this.#performOn(server, effect);
    }
  }

  #performOn(
    server: Server,
    effect: Exclude<ServerEffect, { kind: "report" | "remember" | "start-timer" | "cancel-timer" }>,
  ): void {
    if ("poll" in effect) {
      this.#seen.push(observationOf(effect, server.streams.get(effect.poll) ?? `(poll ${effect.poll})`));
      return;
    }
    const stream = server.streams.get(effect.stream) ?? `(stream ${effect.stream}, which is not open)`;
    if (effect.kind === "send") {
      this.#seen.push({ kind: "response", stream, response: responseOf(effect) });
      return;
    }
    this.#seen.push({ kind: "end", stream, code: effect.status.code });
    if (this.#streams.has(stream)) this.#close(stream);
  }

  #report(server: Server, report: Report): void {
    if (report.kind !== "response-acked" && report.kind !== "response-nacked") return;
    const isAck = report.kind === "response-acked";
    this.#seen.push({
      kind: "booking",
      as: isAck ? "acked" : "nacked",
      stream: server.streams.get(report.stream),
      nonce: report.nonce,
      error: isAck ? undefined : report.error.message,
      names: isAck ? undefined : report.names,
    });
  }
}

function observationOf(effect: PollEffect, stream: string): Observation {
  switch (effect.kind) {
    case "answer-poll": {
      const { body } = effect;
      return { kind: "response", stream, response: { ...responseOf({ body, nonce: body.version }), isPolled: true } };
    }
    case "poll-unchanged":
      return { kind: "unchanged", stream };
    default:
      return { kind: "end", stream, code: effect.status.code };
  }
}

function responseOf({ body, nonce }: { readonly body: Body; readonly nonce: string }): PlainResponse {
  const isDelta = body.variant === "delta";
  const resources: PlainResource[] = [];
  for (const segment of body.segments) {
    for (const put of segment.puts) {
      const ttlMs = body.ttls === "told" ? put.ttlMs : undefined;
      const isWrapped = isDelta || ttlMs !== undefined || put.variant !== undefined;
      const { type: typeUrl, bytes } = put;
      const version = isDelta ? put.version : undefined;
      const around = isWrapped ? wrapperOf(put) : { name: undefined, aliases: [] };
      resources.push({ ...around, version, typeUrl, bytes, ttlMs });
    }
    for (const { name: key, version, ttlMs } of segment.heartbeats ?? []) {
      const name = plainNameOf(key);
      resources.push({ name, version, aliases: [], typeUrl: body.type, bytes: undefined, ttlMs });
    }
    for (const name of segment.missing) {
      resources.push({ name, version: undefined, aliases: [], typeUrl: body.type, bytes: undefined });
    }
  }
  const removed = body.segments.flatMap((segment) => segment.removed.map(removedName));
  const errors = body.segments.flatMap((segment) =>
    (segment.errors ?? []).map(({ name, error }) => `${name} ${error?.code} ${error?.message}`),
  );
  const { variant, type: typeUrl, version, isCanary = false } = body;
  return { variant, typeUrl, version, nonce, resources, removed, errors, isCanary };
}

function wrapperOf({ name, variant, aliases, doNotCache, metadata }: Resource): Partial<PlainResource> & {
  readonly name: string;
  readonly aliases: readonly string[];
} {
  const constraints = variant && describeConstraints(variant.constraints);
  return { name: variant?.name ?? name, aliases, doNotCache, metadata, constraints };
}

function plainNameOf(key: string): string {
  return parseVariantKey(key)?.name ?? key;
}

/** Names without constraints or parameters are shown as they are. */
function removedName(text: string): string {
  const located = parseLocated(text);
  if (located === undefined) return shownName(text);
  const { name, parameters } = located;
  return parameters.size === 0 ? name : `${name} [${describeConstraints(constraintsOf(parameters))}]`;
}

function termOf({ name, dynamicParameters }: PlainLocator): string {
  const parameters = new Map(Object.entries(dynamicParameters));
  return parameters.size === 0 ? name : locatedTerm(canonicalName(name), parameters);
}

function readRequest({ opening, memory }: OpenStream, plain: PlainRequest): DiscoveryRequest {
  const type = parseTypeUrl(plain.typeUrl);
  const common = {
    type,
    node: plain.node === undefined ? undefined : remembered(memory, "node", plain.node),
    nonce: plain.nonce === "" ? undefined : plain.nonce,
    error: plain.error,
    ...(plain.locators.length + plain.unsubscribeLocators.length > 0 && { hasLocators: true as const }),
  };
  if (opening.variant === "sotw") {
    const versionInfo = plain.version === "" ? undefined : plain.version;
    const named = [...plain.names, ...plain.locators.map(termOf)];
    return { kind: "sotw", ...common, versionInfo, names: remembered(memory, `names ${type}`, named) };
  }
  const subscribe = [...plain.subscribe, ...plain.locators.map(termOf)];
  const unsubscribe = [...plain.unsubscribe, ...plain.unsubscribeLocators.map(termOf)];
  return { kind: "delta", ...common, subscribe, unsubscribe, initialVersions: initialVersionsOf(plain.initial) };
}

function initialVersionsOf(pairs: PlainRequest["initial"]): InitialVersions {
  if (pairs.length === 0) return noInitialVersions;
  return { size: pairs.length, key: JSON.stringify(pairs), [Symbol.iterator]: () => pairs[Symbol.iterator]() };
}

/** Returns the earlier object if it is equal to this one. */
function remembered<T>(memory: Map<string, unknown>, key: string, value: T): T {
  const before = memory.get(key);
  if (JSON.stringify(before) === JSON.stringify(value)) return before as T;
  memory.set(key, value);
  return value;
}
