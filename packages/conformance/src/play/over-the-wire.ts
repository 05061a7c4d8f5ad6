import {
  type AnyMessage,
  decodeConstraints,
  decodeDeltaResponse,
  decodeResource,
  decodeSotwResponse,
  encodeDeltaRequest,
  encodeSotwRequest,
  type ResourceErrorMessage,
  type ResourceMessage,
  type ResourceNameMessage,
} from "@xdskit/envoy-api/internal";
import { formatTypeUrl } from "@xdskit/protocol";
import { describeConstraints } from "@xdskit/protocol/internal";
import type { NodeLayers, Setup } from "../case.ts";
import { pathOf, restPathOf } from "../content/catalog.ts";
import { connectPeer, type WirePeer } from "../peer/connect-peer.ts";
import type { PeerStream } from "../peer/peer-stream.ts";
import { createRestPeer, type RestPeer } from "../peer/rest-peer.ts";
import type { RunningServer, Target } from "../target/target.ts";
import {
  type Awaited,
  type Commit,
  type Driver,
  type Observation,
  type Opening,
  type PlainRequest,
  type PlainResource,
  type PlainResponse,
  UnsupportedStep,
} from "./driver.ts";
import { Fence } from "./fence.ts";
import { play, type Verdict } from "./play.ts";
import type { Play } from "./plays.ts";
import { codeOf, fromJsonResponse, toJsonRequest } from "./rest-message.ts";
import { elapsed } from "./within.ts";

/**
 * How long a step may take beside the time that it lets pass, and the time limit for what never came, in milliseconds:
 * the heartbeats of cases are a second apart.
 */
const LATE_MS = 400;
/** How often a case is played in which time passes, if a step was late. */
const MOST_PLAYS = 3;

/**
 * Plays a case against a server over gRPC or REST. Where time passes, a play that fails on a machine too slow for it proves
 * nothing, so the case is played again.
 */
export async function playOverTheWire(scene: Play, target: Target): Promise<Verdict> {
  const isTimed = scene.case.steps.some((step) => "passes" in step);
  for (let plays = 1; ; plays++) {
    const driver = new WireDriver(scene, target);
    const verdict = await play(scene, driver).catch((cause: unknown) => brokenOff(driver, cause));
    if (verdict.passed || !isTimed || !driver.wasLate || plays >= MOST_PLAYS) return verdict;
  }
}

/** The verdict on a server that made it impossible to go on: that fails this case, and no other. */
function brokenOff({ step }: WireDriver, cause: unknown): Verdict {
  const actual = cause instanceof Error ? cause.message : String(cause);
  return { passed: false, step, expected: "messages that can be read, and streams that stay open", actual };
}

function methodOf({ variant, only, api, by }: Opening): string {
  const path = pathOf(variant, only, api);
  if (by === "docAliases") return path.replace("ScopedRoutesDiscovery", "ScopedRouteDiscovery");
  return by === "incremental2018" ? path.replace("/Delta", "/Incremental") : path;
}

interface Connection {
  readonly peer: WirePeer;
  readonly server: string;
  fence: Fence | undefined;
}

interface OpenWireStream {
  readonly opening: Opening;
  readonly wire: PeerStream;
}

/** A client that polls over REST. */
interface OpenPoller {
  readonly opening: Opening;
  readonly peer: RestPeer;
  readonly path: string;
  readonly abort: AbortController;
}

const LONGEST_PASS_MS = 2_000;

class WireDriver implements Driver {
  readonly #scene: Play;
  readonly #target: Target;
  readonly #servers = new Map<string, RunningServer>();
  readonly #connections = new Map<string, Connection>();
  readonly #streams = new Map<string, OpenWireStream>();
  readonly #pollers = new Map<string, OpenPoller>();
  #seen: Observation[] = [];
  #wake: () => void = () => {};
  /** When the step began, later by the time that it let pass. */
  #stepFrom = performance.now();
  #wasLate = false;
  #step = 1;
  /** Why what a server sent cannot be read. */
  #unreadable: Error | undefined;

  /** The number of the present step, from 1. */
  get step(): number {
    return this.#step;
  }

  /** Whether a step took longer by `LATE_MS` than it may. */
  get wasLate(): boolean {
    return this.#wasLate;
  }

  get tellsBookings(): boolean {
    return this.#target.tellsBookings;
  }

  get isExact(): boolean {
    return this.#target.isExact;
  }

  constructor(scene: Play, target: Target) {
    this.#scene = scene;
    this.#target = target;
  }

  async start(server: string, setup: Setup): Promise<void> {
    this.#servers.set(server, await this.#target.start(setup, this.#scene.kind));
  }

  async commit(server: string, commit: Commit): Promise<void> {
    await this.#serverNamed(server).commit(commit);
  }

  async move(nodeMapping: NodeLayers): Promise<void> {
    for (const server of this.#servers.values()) await server.place(nodeMapping);
  }

  async open(opening: Opening): Promise<void> {
    if (opening.isPolled) {
      const peer = createRestPeer(this.#serverNamed(opening.server).address);
      const abort = new AbortController();
      this.#pollers.set(opening.stream, { opening, peer, path: restPathOf(opening.only, opening.api), abort });
      return;
    }
    const { peer } = await this.#connectionFor(opening);
    const wire = peer.open(methodOf(opening));
    const stream = { opening, wire };
    this.#streams.set(opening.stream, stream);
    void this.#listen(stream).catch((cause: unknown) => this.#cannotRead(cause));
  }

  async send(stream: string, requests: readonly PlainRequest[]): Promise<void> {
    const poller = this.#pollers.get(stream);
    if (poller !== undefined) {
      for (const request of requests)
        void this.#poll(poller, request).catch((cause: unknown) => this.#cannotRead(cause));
      return;
    }
    const { opening, wire } = this.#streamNamed(stream);
    for (const request of requests) wire.send(encode(opening, request));
  }

  async breakConnection(name: string): Promise<void> {
    const connection = this.#connections.get(name);
    this.#connections.delete(name);
    for (const [poller, { opening }] of this.#pollers) if (opening.connection === name) this.#giveUp(poller);
    for (const [stream, { opening }] of this.#streams) if (opening.connection === name) this.#streams.delete(stream);
    await connection?.peer.close();
  }

  async cancel(stream: string): Promise<void> {
    if (this.#giveUp(stream)) return;
    const { wire } = this.#streamNamed(stream);
    this.#streams.delete(stream);
    wire.cancel();
  }

  async setReading(): Promise<void> {
    throw new UnsupportedStep("a reader is stalled in memory only");
  }

  async pass(ms: number): Promise<void> {
    if (ms > LONGEST_PASS_MS) throw new UnsupportedStep(`${ms} ms pass in memory only`);
    await elapsed(ms);
    this.#stepFrom += ms;
  }

  async restart(server: string): Promise<void> {
    for (const [poller, { opening }] of this.#pollers) if (opening.server === server) this.#giveUp(poller);
    for (const [name, connection] of this.#connections) {
      if (connection.server === server) await this.breakConnection(name);
    }
    await this.#serverNamed(server).stop();
    await this.start(server, this.#scene.case.setup ?? {});
  }

  async settle(awaited: Awaited): Promise<readonly Observation[]> {
    const hasCome = await this.#until(() => this.#unreadable !== undefined || this.#hasCome(awaited));
    if (this.#unreadable !== undefined) throw this.#unreadable;
    for (const connection of this.#connections.values()) await this.#fenceOn(connection)?.pass();
    if (this.#streams.size + this.#pollers.size > 0) await elapsed(this.#target.pace.quietMs);
    this.#collectBookings();
    const seen = this.#seen;
    this.#seen = [];
    const now = performance.now();
    this.#wasLate ||= now - this.#stepFrom > LATE_MS + (hasCome ? 0 : this.#target.pace.deadlineMs);
    this.#stepFrom = now;
    this.#step++;
    return seen;
  }

  async stop(): Promise<void> {
    this.#streams.clear();
    for (const poller of this.#pollers.keys()) this.#giveUp(poller);
    for (const { peer } of this.#connections.values()) await peer.close();
    for (const server of this.#servers.values()) await server.stop();
  }

  #cannotRead(cause: unknown): void {
    this.#unreadable = cause instanceof Error ? cause : new Error(String(cause));
    this.#wake();
  }

  /** Performs one poll and records the result, unless it was cancelled. */
  async #poll({ opening, peer, path, abort }: OpenPoller, request: PlainRequest): Promise<void> {
    const { stream } = opening;
    const answer = await peer.post(path, toJsonRequest(request), abort.signal).catch(() => undefined);
    if (abort.signal.aborted) return;
    const { status, body } = answer ?? { status: 0, body: "" };
    if (status === 200) this.#seen.push({ kind: "response", stream, response: fromJsonResponse(body) });
    else if (status === 304) this.#seen.push({ kind: "unchanged", stream });
    else this.#seen.push({ kind: "end", stream, code: codeOf(body) });
    this.#wake();
  }

  /** Cancels polling; returns whether the name is that of a poller. */
  #giveUp(name: string): boolean {
    const poller = this.#pollers.get(name);
    this.#pollers.delete(name);
    poller?.abort.abort();
    poller?.peer.close();
    return poller !== undefined;
  }

  #serverNamed(name: string): RunningServer {
    const server = this.#servers.get(name);
    if (server === undefined) throw new Error(`no server "${name}" was started`);
    return server;
  }

  #streamNamed(name: string): OpenWireStream {
    const stream = this.#streams.get(name);
    if (stream === undefined) throw new Error(`the case uses stream ${name}, which is not open`);
    return stream;
  }

  async #connectionFor({ connection: name, server }: Opening): Promise<Connection> {
    const known = this.#connections.get(name);
    if (known !== undefined) return known;
    const peer = await connectPeer({ address: this.#serverNamed(server).address });
    const connection = { peer, server, fence: undefined };
    this.#connections.set(name, connection);
    return connection;
  }

  async #listen(stream: OpenWireStream): Promise<void> {
    const { opening, wire } = stream;
    const see = (observation: Observation): void => {
      if (this.#streams.get(opening.stream) !== stream) return;
      this.#seen.push(observation);
      this.#wake();
    };
    for await (const message of wire.messages) {
      see({ kind: "response", stream: opening.stream, response: decode(opening, message) });
    }
    const { code } = await wire.status;
    see({ kind: "end", stream: opening.stream, code });
    if (this.#streams.get(opening.stream) === stream) this.#streams.delete(opening.stream);
  }

  /** Whether everything expected has arrived, or no longer can. */
  #hasCome({ responses, ends, unchanged, bookings }: Awaited): boolean {
    this.#collectBookings();
    const count = (holds: (seen: Observation) => boolean): number => this.#seen.filter(holds).length;
    const hasEnded = (stream: string): boolean => count((seen) => seen.kind === "end" && seen.stream === stream) > 0;
    const isAnswered = ([stream, wanted]: [string, number]): boolean =>
      hasEnded(stream) || count((seen) => seen.kind === "response" && seen.stream === stream) >= wanted;
    return (
      [...responses].every(isAnswered) &&
      ends.every(hasEnded) &&
      count((seen) => seen.kind === "unchanged") >= unchanged.length &&
      count((seen) => seen.kind === "booking") >= bookings
    );
  }

  #collectBookings(): void {
    for (const server of this.#servers.values()) this.#seen.push(...(server.takeBookings?.() ?? []));
  }

  /** Waits for a condition; returns whether it held before the time limit. */
  async #until(isThere: () => boolean): Promise<boolean> {
    const deadline = performance.now() + this.#target.pace.deadlineMs;
    while (!isThere()) {
      const left = deadline - performance.now();
      if (left <= 0) return false;
      await this.#something(Math.min(left, POLL_MS));
    }
    return true;
  }

  /** Waits for an event or the time limit; recorded ACKs and NACKs raise no event, so they are polled. */
  async #something(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #fenceOn(connection: Connection): Fence | undefined {
    const { hasFence, deadlineMs } = this.#target.pace;
    if (!hasFence) return undefined;
    connection.fence ??= new Fence(connection.peer, deadlineMs);
    return connection.fence;
  }
}

const POLL_MS = 10;

function encode({ variant }: Opening, request: PlainRequest): Uint8Array {
  const common = {
    node: request.node,
    typeUrl: request.typeUrl,
    responseNonce: request.nonce,
    errorDetail: request.error,
  };
  if (variant === "sotw") {
    return encodeSotwRequest({
      ...common,
      versionInfo: request.version,
      resourceNames: request.names,
      resourceLocators: request.locators,
    });
  }
  return encodeDeltaRequest({
    ...common,
    resourceNamesSubscribe: request.subscribe,
    resourceNamesUnsubscribe: request.unsubscribe,
    resourceLocatorsSubscribe: request.locators,
    resourceLocatorsUnsubscribe: request.unsubscribeLocators,
    initialResourceVersions: request.initial,
  });
}

function describeError({ resourceName, errorDetail }: ResourceErrorMessage): string {
  return `${resourceName.name} ${errorDetail.code} ${errorDetail.message}`;
}

function decode({ variant }: Opening, message: Uint8Array): PlainResponse {
  if (variant === "sotw") {
    const { versionInfo, resources, typeUrl, nonce, resourceErrors, canary } = decodeSotwResponse(message);
    return {
      variant,
      typeUrl,
      version: versionInfo,
      nonce,
      removed: [],
      isCanary: canary,
      errors: resourceErrors.map(describeError),
      resources: resources.map(unwrap),
    };
  }
  const response = decodeDeltaResponse(message);
  const { systemVersionInfo, resources, removedResources, typeUrl, nonce, resourceErrors } = response;
  return {
    variant,
    typeUrl,
    version: systemVersionInfo,
    nonce,
    removed: [...removedResources, ...response.removedResourceNames.map(describeName)],
    errors: resourceErrors.map(describeError),
    isCanary: false,
    resources: resources.map((message) => ({ ...plainOf(message), typeUrl: message.resource?.typeUrl ?? typeUrl })),
  };
}

const WRAPPER = formatTypeUrl("envoy.service.discovery.v3.Resource");

/** Decodes a SotW resource, with or without the wrapper that carries a TTL (S-TTL-02). */
function unwrap(any: AnyMessage): PlainResource {
  if (any.typeUrl !== WRAPPER) {
    return { name: undefined, version: undefined, aliases: [], typeUrl: any.typeUrl, bytes: any.value };
  }
  const plain = plainOf(decodeResource(any.value));
  return { ...plain, version: plain.version === "" ? undefined : plain.version };
}

/** Decodes a wrapper; a resource has its name in one place only (S-LOC-05). */
function plainOf(message: ResourceMessage): PlainResource {
  const { name, version, aliases, resource, ttlMs, resourceName, doNotCache, metadata } = message;
  const typeUrl = resource?.typeUrl ?? "";
  const plain = { version, aliases, ttlMs, typeUrl, bytes: resource?.value, doNotCache, metadata };
  if (resourceName === undefined) return { ...plain, name };
  const called = name === "" ? resourceName.name : `${name} and ${resourceName.name}`;
  return { ...plain, name: called, constraints: constraintsIn(resourceName) };
}

function constraintsIn({ dynamicParameterConstraints }: ResourceNameMessage): string {
  if (dynamicParameterConstraints === undefined) return "none";
  return describeConstraints(decodeConstraints(dynamicParameterConstraints));
}

function describeName(name: ResourceNameMessage): string {
  return `${name.name} [${constraintsIn(name)}]`;
}
