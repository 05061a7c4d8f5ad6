import type { BodyEncoder } from "@xdskit/envoy-api";
import {
  type ApiVersion,
  type Body,
  type ClientChoice,
  type DiscoveryRequest,
  InvariantError,
  isOfV2,
  type LayerState,
  type NamedChoice,
  type Node,
  type Peer,
  type Placement,
  Plane,
  type PlaneEffect,
  type PlaneEvent,
  type PlaneOptions,
  type PollId,
  type Remembered,
  type Resource,
  type ResourceState,
  type Status,
  type StreamId,
  type StreamState,
  statusCode,
  type Transaction,
  type TypeUrl,
} from "@xdskit/protocol";
import { XdsError } from "../error.ts";
import type { LimitName, Limits } from "../options.ts";
import { BodyOutbox } from "./body-outbox.ts";
import { Census, type LimitUse } from "./census.ts";
import { Listeners } from "./listeners.ts";
import { MessageMaker } from "./message.ts";
import { Outbox, type OutboxChange } from "./outbox.ts";
import { type NewPoll, PollDesk, type PollHandle } from "./poll-desk.ts";
import type {
  BodyHandle,
  ConversionFindings,
  HubPort,
  Memory,
  NewStream,
  ServerReport,
  StreamEnd,
  StreamHandle,
  Telemetry,
} from "./port.ts";
import { Readiness } from "./readiness.ts";
import { Timers } from "./timers.ts";
import { guardPlacement, isTrusted, secretsRefused } from "./trust.ts";
import { Twins, type TwinsOptions } from "./twins.ts";

/** Turns are given for so long at a time; then reads, and whatever else waits, go first. */
const SLICE_MS = 5;
/** How often it is looked whether somebody stopped reading. */
const SWEEP_MS = 1_000;
/** A stream that we ended has so long to read the rest. */
const END_WITHIN_MS = 5_000;
/** After so many turns in a row that failed, waits for the next event instead of spinning. */
const MAX_FAILED_TURNS = 100;

export interface HubOptions extends PlaneOptions {
  readonly encoder: BodyEncoder;
  /** Makes resources of one version of the API those of the other; without it both have only what is given in them. */
  readonly convert?: TwinsOptions["convert"];
  /** Methods of version 2 of the API are not served. */
  readonly refusesV2?: boolean;
  readonly limits: Limits;
  readonly telemetry: Telemetry;
  /** What outlives this server. */
  readonly memory?: Memory;
  /** Trusts plaintext peers that are not on loopback. */
  readonly insecure: boolean;
}

interface Connection {
  readonly peer: Peer;
  readonly transport: string;
  readonly listener: NamedChoice | undefined;
}

interface OpenStream extends NewStream {
  readonly id: StreamId;
  readonly peer: Peer;
  readonly openedAtMs: number;
  readonly outbox: Outbox | BodyOutbox;
  /** Puts a response into the outbox, and says how many bytes it has. */
  readonly send: (body: Body, nonce: string) => number;
  /** When set, the stream ends with OK once so many turns were given to streams. */
  finishAtTurn: number | undefined;
}

/** What waits to be written to clients. */
export interface Backlog {
  readonly slowClients: number;
  readonly bufferedBytes: number;
}

/**
 * Owns the plane: the only place that calls the protocol. Events go in as they come; their effects are performed in
 * order; then streams get their turns, a slice at a time, so that reads go on during a fan-out (S-ADS-05).
 */
export class Hub implements HubPort {
  readonly readiness: Readiness = new Readiness();
  /** The hooks of the embedding program. */
  readonly listeners: Listeners = new Listeners();
  readonly #options: HubOptions;
  readonly #plane: Plane;
  readonly #census: Census;
  readonly #polls: PollDesk;
  /** The poll that is being taken in. */
  #arriving: PollId | undefined;
  readonly #messages: MessageMaker;
  readonly #twins: Twins | undefined;
  readonly #timers: Timers;
  readonly #connections = new Map<number, Connection>();
  readonly #streams = new Map<StreamId, OpenStream>();
  /** Streams that are over for the plane, but not yet written to the end. */
  readonly #ending = new Map<StreamId, OpenStream>();
  readonly #finishing = new Set<OpenStream>();
  readonly #written = new Set<OpenStream>();
  readonly #effects: PlaneEffect[] = [];
  #placement: Placement;
  #isPerforming = false;
  #isPullScheduled = false;
  #sweep: NodeJS.Timeout | undefined;
  #lastStream = 0;
  #lastConnection = 0;
  #turns = 0;
  #failedTurns = 0;
  #sliceResponses = 0;
  #sliceBytes = 0;

  constructor(options: HubOptions) {
    this.#options = options;
    this.#placement = guardPlacement(options.placement, options.insecure);
    this.#plane = new Plane({
      ...options,
      placement: this.#placement,
      maxSubscriptionsPerStream: options.limits.maxSubscriptionsPerStream,
      remembers: options.memory !== undefined,
    });
    if (options.memory !== undefined) this.#plane.on({ kind: "history-restored", remembered: options.memory.restored });
    this.#twins = options.convert && this.#createTwins(options, options.convert);
    this.#census = new Census(options.limits);
    this.#polls = new PollDesk(this.#census);
    this.#messages = new MessageMaker(options.encoder);
    this.#timers = new Timers((timer) => this.#take({ kind: "timer-fired", timer }));
  }

  get revision(): number {
    return this.#plane.revision;
  }

  get connections(): number {
    return this.#census.connections;
  }

  /** How many streams are open. */
  get openStreams(): number {
    return this.#census.streams;
  }

  streams(): Iterable<StreamState> {
    return this.#plane.streams();
  }

  resourceStates(stream: StreamId): Iterable<ResourceState> {
    return this.#plane.resourceStates(stream);
  }

  layers(): Iterable<LayerState> {
    return this.#plane.layers();
  }

  /** Resources, and the errors that stand in place of some. */
  *resources(layers: readonly string[], type: TypeUrl): Iterable<Resource> {
    yield* this.#plane.resources(layers, type);
    yield* this.#plane.resourceErrors(layers, type);
  }

  /** What could not be expressed in the version of the API that it was converted to. */
  conversionFindings(): ReadonlyMap<string, ConversionFindings> {
    return this.#twins?.findings ?? new Map();
  }

  /** The Clusters that there are, as they would have to be remembered now. */
  clusters(): Iterable<Remembered> {
    return this.#plane.remembered();
  }

  limits(): readonly LimitUse[] {
    return this.#census.describe();
  }

  backlog(): Backlog {
    let slowClients = 0;
    let bufferedBytes = 0;
    for (const { outbox } of this.#streams.values()) {
      if (outbox.isStalled) slowClients++;
      bufferedBytes += outbox.pendingBytes;
    }
    return { slowClients, bufferedBytes };
  }

  /** The layers that a node would see, or why it would not be served. */
  layersOf(node: Node, peer: Peer): ReturnType<Placement> {
    return this.#placement(node, peer);
  }

  /** Takes effect at once; clients are told in the slices that follow. Throws what the plane throws at a bad transaction. */
  commit(transaction: Transaction): number {
    refuseAmbiguous(this.#plane.ambiguities(transaction));
    const before = this.#plane.revision;
    const startedAt = performance.now();
    this.#take({ kind: "transaction-committed", transaction: this.#twins?.extend(transaction) ?? transaction });
    const revision = this.#plane.revision;
    if (revision !== before) this.report({ kind: "committed", revision, tookMs: performance.now() - startedAt });
    this.#becomeReady();
    return revision;
  }

  #createTwins({ traits, digest, memory }: HubOptions, convert: TwinsOptions["convert"]): Twins {
    const plane = this.#plane;
    return new Twins({
      convert,
      digest,
      twinOf: (type) => traits(type)?.twin,
      layers: () => plane.layers(),
      members: (layer, type) => [...plane.resources([layer], type), ...plane.resourceErrors([layer], type)],
      holder: (layer, type, name) => plane.holder(layer, type, name),
      report: (report) => this.report(report),
      areWanted: [...(memory?.restored ?? [])].some((one) => one.kind === "changed" && isOfV2(one.type)),
    });
  }

  /** The first who asks for anything of v2 makes all of it be there, before he is answered. */
  #provide(type: TypeUrl | undefined, id: StreamId): void {
    const twins = this.#twins;
    if (twins === undefined || twins.areWanted || type === undefined || !isOfV2(type)) return;
    if (this.#options.traits(type)?.twin === undefined) return;
    try {
      this.#take({ kind: "transaction-committed", transaction: twins.begin() });
    } catch (cause) {
      this.#fail(id, "conversion", cause);
    }
  }

  /** From now on streams are answered. */
  #becomeReady(): void {
    if (this.readiness.state !== "starting") return;
    this.readiness.become("ready");
    this.report({ kind: "ready" });
  }

  /** Streams that identify themselves from now on are spoken to by another choice. */
  setClients(clients: ClientChoice | undefined): void {
    this.#take({ kind: "clients-changed", clients });
  }

  /** Places every node anew. */
  place(placement: Placement): void {
    this.#placement = guardPlacement(placement, this.#options.insecure);
    this.#take({ kind: "placement-changed", placement: this.#placement });
  }

  openConnection(peer: Peer, transport: string, listener?: NamedChoice): number | undefined {
    if (!this.#census.admitConnection()) {
      const message = `${this.#options.limits.maxConnections} connections are open, which is the limit (maxConnections)`;
      this.reportLimit("maxConnections", peer.address, message);
      return undefined;
    }
    const connection = ++this.#lastConnection;
    this.#connections.set(connection, { peer, transport, listener });
    this.#watchWrites();
    this.report({ kind: "connection-opened", connection, peer, transport });
    return connection;
  }

  closeConnection(connection: number, reason: string): void {
    const closed = this.#connections.get(connection);
    if (closed === undefined) return;
    this.#connections.delete(connection);
    this.#census.connectionClosed();
    const { peer, transport } = closed;
    this.report({ kind: "connection-closed", connection, peer, transport, reason });
  }

  openStream(opened: NewStream, handle: StreamHandle | BodyHandle): StreamId | Status {
    const { peer, listener } = this.#connections.get(opened.connection) ?? {};
    if (peer === undefined) return { code: statusCode.UNAVAILABLE, message: "the connection is closed" };
    if (this.readiness.state === "draining") return draining;
    if (this.#refusesV2(opened.apiVersion, peer, opened.method)) return v2Refused;
    const refusal = this.#census.admitStream(peer);
    if (refusal !== undefined) {
      this.reportLimit(refusal.limit, peer.address, refusal.status.message);
      return refusal.status;
    }
    const id = ++this.#lastStream;
    const sending = this.#createOutbox(handle, opened.apiVersion, (change) => this.#outboxChanged(stream, change));
    const openedAtMs = performance.now();
    const stream: OpenStream = { ...opened, id, peer, openedAtMs, ...sending, finishAtTurn: undefined };
    this.#streams.set(id, stream);
    const { method: _, ...asked } = opened;
    this.#take({ kind: "stream-opened", stream: id, peer, listener, ...asked }, id);
    this.report({ kind: "stream-opened", stream: id, peer, ...opened });
    return id;
  }

  #refusesV2(apiVersion: ApiVersion, { address }: Peer, method: string): boolean {
    if (apiVersion !== "v2" || this.#options.refusesV2 !== true) return false;
    this.report({ kind: "v2-refused", address, method });
    return true;
  }

  /** Who is in this process is given bodies, everybody else their bytes. */
  #createOutbox(
    handle: StreamHandle | BodyHandle,
    apiVersion: ApiVersion,
    changed: (change: OutboxChange) => void,
  ): Pick<OpenStream, "outbox" | "send"> {
    if ("take" in handle) {
      const outbox = new BodyOutbox(handle, changed);
      return { outbox, send: (body, nonce) => outbox.send(body, nonce) };
    }
    const outbox = new Outbox(handle, changed);
    const send: OpenStream["send"] = (body, nonce) => {
      const message = this.#messages.make(body, nonce, apiVersion, handle.prefix);
      outbox.push(message);
      return message.byteLength;
    };
    return { outbox, send };
  }

  receive(id: StreamId, request: DiscoveryRequest, bytes: number): void {
    const stream = this.#streams.get(id);
    if (stream === undefined || stream.finishAtTurn !== undefined) return;
    if (this.readiness.state === "starting") {
      this.endStream(id, notReady, "not-ready");
      return;
    }
    const type = request.type ?? stream.onlyType;
    this.report({ kind: "request-received", stream: id, type, bytes });
    if (this.#isSecret(type) && !isTrusted(stream.peer, this.#options.insecure)) {
      this.endStream(id, secretsRefused, "refused");
      return;
    }
    this.#provide(type, id);
    this.#take({ kind: "request-received", stream: id, request }, id);
  }

  finish(id: StreamId): void {
    const stream = this.#streams.get(id);
    if (stream === undefined || stream.finishAtTurn !== undefined) return;
    // Under constant change some stream is always due: then it is enough that each had a turn since.
    stream.finishAtTurn = this.#turns + this.#streams.size;
    this.#finishing.add(stream);
    this.#schedulePull();
  }

  abandon(id: StreamId, reason: StreamEnd): void {
    const stream = this.#streams.get(id);
    stream?.outbox.abandon();
    this.#ending.get(id)?.outbox.abandon();
    this.#ending.delete(id);
    if (stream !== undefined) this.#close(stream, cancelled, reason);
  }

  endStream(id: StreamId, status: Status, reason: StreamEnd): void {
    const stream = this.#streams.get(id);
    if (stream === undefined) return;
    this.#ending.set(id, stream);
    this.#close(stream, status, reason);
    stream.outbox.end(status);
  }

  poll(
    { connection, path, apiVersion, type, request, bytes, holdMs }: NewPoll,
    handle: PollHandle,
  ): PollId | undefined {
    const { peer, listener } = this.#connections.get(connection) ?? {};
    const refusal = peer === undefined ? cancelled : this.#pollRefusal(peer, { path, apiVersion, type });
    if (refusal !== undefined || peer === undefined) {
      handle.refuse(refusal ?? cancelled);
      return undefined;
    }
    const id = ++this.#lastStream;
    this.#polls.open(id, peer, handle);
    this.report({ kind: "request-received", stream: id, type, bytes });
    this.#provide(type, id);
    this.#arriving = id;
    this.#take({ kind: "poll-received", poll: id, peer, listener, apiVersion, type, request, holdMs }, id);
    this.#arriving = undefined;
    return this.#polls.has(id) ? id : undefined;
  }

  abandonPoll(id: PollId): void {
    if (this.#polls.take(id) !== undefined) this.#take({ kind: "poll-closed", poll: id });
  }

  #pollRefusal(
    peer: Peer,
    { path, apiVersion, type }: Pick<NewPoll, "path" | "apiVersion" | "type">,
  ): Status | undefined {
    if (this.readiness.state === "draining") return draining;
    if (this.#refusesV2(apiVersion, peer, path)) return v2Refused;
    if (this.readiness.state === "starting") return notReady;
    if (this.#isSecret(type) && !isTrusted(peer, this.#options.insecure)) return secretsRefused;
    const refusal = this.#census.admitStream(peer);
    if (refusal !== undefined) this.reportLimit(refusal.limit, peer.address, refusal.status.message);
    return refusal?.status;
  }

  #refusePoll(id: PollId, status: Status): void {
    const handle = this.#polls.take(id);
    if (handle === undefined) return;
    this.#take({ kind: "poll-closed", poll: id });
    handle.refuse(status);
  }

  reportLimit(limit: LimitName, address: string, message: string, stream?: StreamId): void {
    this.#census.countHit(limit);
    this.report({ kind: "limit-hit", limit, address, stream, message });
  }

  /** Tells telemetry and listeners. A hook that throws on the way in says no to its stream, and to no other (S-OBS-03). */
  report(report: ServerReport): void {
    const at = new Date();
    this.#options.telemetry.report(report, at);
    const failure = this.listeners.tell(report, at);
    if (failure === undefined) return;
    if (report.kind === "listener-failed") return;
    this.report({ kind: "listener-failed", event: report.kind, error: failure.thrown });
    if (report.kind !== "stream-opened" && report.kind !== "request-understood") return;
    if (this.#arriving === undefined) this.endStream(report.stream, refusedByListener, "failed");
    else this.#refusePoll(this.#arriving, { ...refusedByListener, code: statusCode.PERMISSION_DENIED });
  }

  /** Sends every stream away with UNAVAILABLE, spread over the time given, so that clients do not come back all at once (S-GRP-06). */
  async drain(graceMs: number): Promise<void> {
    this.readiness.become("draining");
    this.report({ kind: "draining", graceMs });
    this.#take({ kind: "polls-dismissed" });
    const ids = [...this.#streams.keys()];
    const startedAt = performance.now();
    for (let ended = 0; ended < ids.length; ) {
      const share = graceMs === 0 ? 1 : (performance.now() - startedAt) / graceMs;
      const until = Math.min(ids.length, Math.floor(share * ids.length) + 1);
      for (const id of ids.slice(ended, until)) this.endStream(id, draining, "draining");
      ended = until;
      if (ended < ids.length) await delay(Math.min(50, graceMs / ids.length));
    }
  }

  /** Ends what is left at once, and every timer. */
  close(): void {
    this.readiness.become("draining");
    for (const stream of [...this.#streams.values()]) {
      this.#close(stream, draining, "draining");
      stream.outbox.reset(draining);
    }
    this.#polls.close(draining);
    for (const { outbox } of this.#ending.values()) outbox.reset(draining);
    this.#ending.clear();
    this.#timers.cancelAll();
    clearInterval(this.#sweep);
    this.#sweep = undefined;
    this.#options.memory?.close();
  }

  /** Hands an event to the plane. Of a throw because of one stream only that stream hears. */
  #take(event: PlaneEvent, stream?: StreamId): void {
    try {
      this.#perform(this.#plane.on(event));
    } catch (cause) {
      if (stream === undefined) throw cause;
      this.#fail(stream, event.kind, cause);
    }
    this.#schedulePull();
  }

  /** Performs effects in the order in which they were asked for, also when performing one leads to others. */
  #perform(effects: readonly PlaneEffect[]): void {
    for (const effect of effects) this.#effects.push(effect);
    if (this.#isPerforming) return;
    this.#isPerforming = true;
    try {
      for (const effect of drained(this.#effects)) this.#performOne(effect);
    } finally {
      this.#isPerforming = false;
    }
  }

  #performOne(effect: PlaneEffect): void {
    switch (effect.kind) {
      case "send":
        this.#send(effect);
        break;
      case "close-stream":
        this.#closeAsAsked(effect);
        break;
      case "answer-poll":
      case "poll-unchanged":
      case "refuse-poll":
        this.#polls.perform(effect);
        break;
      case "start-timer":
        this.#timers.start(effect.timer, effect.ms);
        break;
      case "cancel-timer":
        this.#timers.cancel(effect.timer);
        break;
      case "remember":
        this.#options.memory?.remember(effect.what);
        break;
      case "report":
        this.report(effect.report);
        break;
      default:
        effect satisfies never;
    }
  }

  #closeAsAsked({ stream: id, status }: Extract<PlaneEffect, { readonly kind: "close-stream" }>): void {
    const peer = this.#streams.get(id)?.peer;
    if (peer === undefined) return;
    const isLimit = status.code === statusCode.RESOURCE_EXHAUSTED;
    if (isLimit) this.reportLimit("maxSubscriptionsPerStream", peer.address, status.message, id);
    this.endStream(id, status, isLimit ? "limit" : "refused");
  }

  #send({ stream: id, body, nonce }: Extract<PlaneEffect, { readonly kind: "send" }>): void {
    const stream = this.#streams.get(id);
    if (stream === undefined) return;
    try {
      const bytes = stream.send(body, nonce);
      this.#written.add(stream);
      const { variant, type } = body;
      this.report({ kind: "response-queued", stream: id, type, variant, bytes });
      this.#sliceResponses++;
      this.#sliceBytes += bytes;
    } catch (cause) {
      this.#fail(id, "send", cause);
      return;
    }
    const limit = this.#options.limits.maxPendingBytes;
    if (stream.outbox.pendingBytes <= limit) return;
    const message = `${stream.outbox.pendingBytes} bytes wait to be read; at most ${limit} may (maxPendingBytes)`;
    this.reportLimit("maxPendingBytes", stream.peer.address, message, id);
    this.#reset(stream, { code: statusCode.RESOURCE_EXHAUSTED, message }, "limit");
  }

  #schedulePull(): void {
    if (this.#isPullScheduled) return;
    if (!this.#plane.isDue && this.#finishing.size === 0) return;
    this.#isPullScheduled = true;
    // Not at once: what one read brings is answered together, and all writes of a slice leave together.
    setImmediate(() => {
      this.#isPullScheduled = false;
      this.#pull();
      if (this.#failedTurns < MAX_FAILED_TURNS) this.#schedulePull();
      this.#failedTurns = this.#failedTurns >= MAX_FAILED_TURNS ? 0 : this.#failedTurns;
    });
  }

  /** One slice of turns, then one write for each stream that was given something. */
  #pull(): void {
    const startedAt = performance.now();
    const endAt = startedAt + SLICE_MS;
    while (this.#plane.isDue && this.#failedTurns < MAX_FAILED_TURNS) {
      this.#giveTurn();
      if (performance.now() >= endAt) break;
    }
    this.#options.memory?.flush();
    for (const { outbox } of this.#written) outbox.flush();
    this.#written.clear();
    for (const stream of this.#finishing) {
      if (this.#plane.isDue && this.#turns < (stream.finishAtTurn ?? 0)) continue;
      this.endStream(stream.id, { code: statusCode.OK, message: "" }, "finished");
    }
    this.#reportSlice(performance.now() - startedAt);
  }

  #reportSlice(tookMs: number): void {
    const responses = this.#sliceResponses;
    const bytes = this.#sliceBytes;
    this.#sliceResponses = 0;
    this.#sliceBytes = 0;
    if (responses === 0) return;
    this.report({ kind: "turns-taken", responses, bytes, tookMs, isMore: this.#plane.isDue });
  }

  /** One at a time: should a turn throw, it takes nobody else's answer with it. */
  #giveTurn(): void {
    this.#turns++;
    try {
      this.#perform(this.#plane.next(1));
      this.#failedTurns = 0;
    } catch (cause) {
      this.#failedTurns++;
      this.#fail(cause instanceof InvariantError ? cause.stream : undefined, "turn", cause);
    }
  }

  #outboxChanged(stream: OpenStream, change: OutboxChange): void {
    if (change === "ended") {
      this.#ending.delete(stream.id);
      return;
    }
    if (!this.#streams.has(stream.id)) return;
    const kind = change === "stalled" ? "stream-stalled" : "stream-drained";
    this.#take({ kind, stream: stream.id }, stream.id);
    const { pendingBytes } = stream.outbox;
    this.report(kind === "stream-stalled" ? { kind, stream: stream.id, pendingBytes } : { kind, stream: stream.id });
  }

  /** Forgets a stream. Its handle is not touched. */
  #close(stream: OpenStream, status: Status, reason: StreamEnd): void {
    this.#streams.delete(stream.id);
    this.#written.delete(stream);
    this.#finishing.delete(stream);
    this.#census.streamClosed(stream.peer);
    try {
      this.#perform(this.#plane.on({ kind: "stream-closed", stream: stream.id }));
    } catch (cause) {
      this.report({ kind: "invariant-broken", stream: stream.id, during: "stream-closed", error: cause });
    }
    this.#schedulePull();
    const { id, peer, variant, onlyType, openedAtMs } = stream;
    const ageMs = performance.now() - openedAtMs;
    this.report({ kind: "stream-closed", stream: id, peer, variant, onlyType, reason, status, ageMs });
  }

  #reset(stream: OpenStream, status: Status, reason: StreamEnd): void {
    this.#close(stream, status, reason);
    stream.outbox.reset(status);
  }

  /** Our own mistake: the stream it happened on ends, the others go on. */
  #fail(id: StreamId | undefined, during: string, cause: unknown): void {
    this.report({ kind: "invariant-broken", stream: id, during, error: cause });
    if (id === undefined) return;
    if (this.#polls.has(id)) this.#refusePoll(id, ourMistake);
    else this.endStream(id, ourMistake, "failed");
  }

  #isSecret(type: TypeUrl | undefined): boolean {
    return type !== undefined && this.#options.traits(type)?.kind === "sds";
  }

  #watchWrites(): void {
    if (this.#sweep !== undefined) return;
    const { maxBlockedMs } = this.#options.limits;
    this.#sweep = setInterval(() => this.#endBlocked(), Math.min(SWEEP_MS, maxBlockedMs));
    this.#sweep.unref();
  }

  #endBlocked(): void {
    const now = performance.now();
    const { maxBlockedMs } = this.#options.limits;
    for (const stream of this.#streams.values()) {
      if (stream.outbox.blockedMs(now) <= maxBlockedMs) continue;
      const message = `nothing could be written for ${maxBlockedMs} ms (maxBlockedMs)`;
      this.reportLimit("maxBlockedMs", stream.peer.address, message, stream.id);
      this.#reset(stream, { code: statusCode.RESOURCE_EXHAUSTED, message }, "blocked");
    }
    for (const [id, { outbox }] of this.#ending) {
      if (outbox.blockedMs(now) <= Math.min(END_WITHIN_MS, maxBlockedMs)) continue;
      this.#ending.delete(id);
      outbox.reset(cancelled);
    }
  }
}

const refusedByListener: Status = { code: statusCode.UNKNOWN, message: "refused by this server" };
const ourMistake: Status = { code: statusCode.INTERNAL, message: "the server made a mistake; see its log" };
const cancelled: Status = { code: statusCode.CANCELLED, message: "the client is gone" };
const draining: Status = { code: statusCode.UNAVAILABLE, message: "this server is shutting down; connect anew" };
const v2Refused: Status = {
  code: statusCode.UNIMPLEMENTED,
  message: 'version 2 of the API is switched off here (setting "v2"); speak version 3',
};
const notReady: Status = {
  code: statusCode.UNAVAILABLE,
  message: "not ready: no configuration has been loaded yet; try again later",
};

/** Walks a queue that grows while it is walked, and leaves it empty. */
function* drained<T>(queue: T[]): Iterable<T> {
  try {
    for (let i = 0; i < queue.length; i++) {
      const item = queue[i];
      if (item !== undefined) yield item;
    }
  } finally {
    queue.length = 0;
  }
}

async function delay(ms: number): Promise<void> {
  await new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

/** Nobody could say which of two variants a client is to be given (S-LOC-08). */
function refuseAmbiguous(ambiguities: readonly string[]): void {
  const [first] = ambiguities;
  if (first === undefined) return;
  const problems = ambiguities.map((message) => ({ path: "transaction", message }));
  throw new XdsError("VARIANTS_AMBIGUOUS", first, { problems });
}
