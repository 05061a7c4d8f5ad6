import type { BodyEncoder } from "@xdskit/envoy-api/internal";
import {
  anonymousNode,
  type EntryPoint,
  type LayerChange,
  type Node,
  type NodeMapping,
  type Peer,
  type Status,
  type Transaction,
  type TypeUrl,
} from "@xdskit/protocol";
import type { Account } from "@xdskit/protocol/internal";
import {
  type AccessGrant,
  bytesOfRequest,
  type DiscoveryRequest,
  deniedCode,
  entryPointOf,
  isOfV2,
  type NamedChoice,
  nodeDenied,
  type PollEffect,
  type PollId,
  type Remembered,
  type ServerEffect,
  type ServerMachineOptions,
  type Steps,
  type StreamId,
  statusCode,
} from "@xdskit/protocol/internal";
import { XdsError } from "../error.ts";
import type { LimitName, Limits } from "../options.ts";
import { type AccountHolder, accountOf } from "./account.ts";
import { Admission, draining, notReady } from "./admission.ts";
import { ApiVersionConverter, type ApiVersionConverterOptions } from "./api-version-converter.ts";
import { ByteBudget } from "./byte-budget.ts";
import type { Freshness } from "./catch-up-gate.ts";
import { Commits, type HubRules } from "./commits.ts";
import { ConnectionLimits } from "./connection-limits.ts";
import { Connections } from "./connections.ts";
import { Deployments } from "./deployments.ts";
import { Driver, type Performer } from "./driver.ts";
import { guardMapping } from "./guarded-mapping.ts";
import { HubView } from "./hub-view.ts";
import { Listeners } from "./listeners.ts";
import { rememberedOf } from "./past-states.ts";
import { type NewPoll, type PollHandle, PollRegistry } from "./poll-registry.ts";
import type {
  BodyHandle,
  HubPort,
  Memory,
  NewStream,
  ServerReport,
  StreamEnd,
  StreamHandle,
  Telemetry,
} from "./port.ts";
import { ReadinessTracker } from "./readiness.ts";
import { RequestRate } from "./request-rate.ts";
import { spread } from "./spread.ts";
import { cancelled, type OpenStream, StreamRegistry } from "./stream-registry.ts";
import { type Unanswerable, WaitingRequests } from "./waiting-requests.ts";
import type { MissingNames, Sees, WaitingType } from "./withheld-requests.ts";

export interface HubOptions extends ServerMachineOptions {
  readonly encoder: BodyEncoder;
  /** Converts resources between v2 and v3; without it each version holds only what it was given. */
  readonly convert?: ApiVersionConverterOptions["convert"];
  /** Rejects v2 methods. */
  readonly refusesV2?: boolean;
  readonly limits: Limits;
  readonly telemetry: Telemetry;
  /** State that outlives this server. */
  readonly memory?: Memory;
  /**
   * Stream ids are above it.
   * @default 0
   */
  readonly streamsAfter?: number;
}

/**
 * Connects clients, the embedding program and the `ServerMachine`: turns input into events and applies the machine's
 * effects to streams and polls.
 */
export class Hub implements HubPort {
  readonly readiness: ReadinessTracker = new ReadinessTracker();
  /** The listeners of the embedding program. */
  readonly listeners: Listeners = new Listeners();
  readonly view: HubView;
  readonly budget: ByteBudget;
  readonly deployments: Deployments;
  readonly #options: HubOptions;
  readonly #driver: Driver;
  readonly #converter: ApiVersionConverter | undefined;
  readonly #commits: Commits;
  readonly #connectionLimits: ConnectionLimits;
  readonly #admission: Admission;
  readonly #connections: Connections;
  readonly #requestRate: RequestRate;
  readonly #streams: StreamRegistry;
  readonly #polls: PollRegistry;
  readonly #waiting: WaitingRequests;
  /** When the last report was made. */
  #reportedAt = new Date();
  /** The poll that is being processed. */
  #arriving: PollId | undefined;
  readonly #accessWatchers = new Set<() => void>();
  #lastStream: number;
  #isListening = false;

  constructor(options: HubOptions) {
    const { limits, encoder, refusesV2 = false } = options;
    this.#options = options;
    this.#lastStream = options.streamsAfter ?? 0;
    this.#driver = new Driver(
      {
        ...options,
        nodeMapping: this.#guarded(options.nodeMapping),
        accountOf,
        maxSubscriptionsPerStream: limits.maxSubscriptionsPerStream,
        maxSubscriptionsPerPeer: limits.maxSubscriptionsPerPeer,
        maxSubscriptionsPerIdentity: limits.maxSubscriptionsPerIdentity,
        maxClientBytes: limits.maxClientBytes,
        maxClientBytesPerPeer: limits.maxClientBytesPerPeer,
        maxClientBytesPerIdentity: limits.maxClientBytesPerIdentity,
        maxTypesPerStream: limits.maxTypesPerStream,
        maxUnacknowledgedPerType: limits.maxUnacknowledgedPerType,
        maxPollerBytes: limits.maxPollerBytes,
        maxPollerBytesPerPeer: limits.maxPollerBytesPerPeer,
        maxPollerBytesPerIdentity: limits.maxPollerBytesPerIdentity,
        maxDebounceMs: limits.maxDebounceMs,
      },
      {
        send: (effect) => this.#send(effect),
        closeStream: (effect) => this.#closeAsAsked(effect),
        settlePoll: (effect) => this.#settlePoll(effect),
        report: (report) => this.#reportOfMachine(report),
        write: () => this.#streams.flush(),
        finished: (stream) => this.endStream(stream, { code: statusCode.OK, message: "" }, "finished"),
        advanced: () => this.deployments.check(),
        failed: (stream, during, cause) => this.#fail(stream, during, cause),
      },
    );
    this.deployments = new Deployments(this.#driver.machine.progress);
    this.#converter = options.convert && this.#createTwins(options, options.convert);
    this.#commits = new Commits({
      machine: this.#driver.machine,
      converter: this.#converter,
      take: (event) => {
        const { nodeMapping } = event;
        this.#driver.take(nodeMapping === undefined ? event : { ...event, nodeMapping: this.#guarded(nodeMapping) });
      },
      accessChanged: () => this.#accessChanged(),
      report: (report) => this.report(report),
    });
    this.budget = new ByteBudget(limits);
    this.#connectionLimits = new ConnectionLimits(limits, this.budget, {
      pollerBytes: () => this.#driver.machine.pollerBytes,
      clientBytes: () => this.#driver.machine.clientBytes,
    });
    const connectionLimits = this.#connectionLimits;
    this.#admission = new Admission({
      ...{ readiness: this.readiness, connectionLimits: connectionLimits, refusesV2 },
      limitHit: (limit, address, message) => this.reportLimit(limit, address, message),
      v2Refused: (address, method) => this.report({ kind: "v2-refused", address, method }),
    });
    this.#connections = new Connections(connectionLimits);
    this.#requestRate = new RequestRate(limits.maxRequestsPerSecondPerIdentity);
    this.#polls = new PollRegistry(connectionLimits);
    this.#waiting = new WaitingRequests({
      twinOf: (type) => options.traits(type)?.twin,
      converter: this.#converter,
      open: (id) => this.budget.open(accountOf(this.#peerOf(id))),
      viewOf: (stream, node) => this.#viewOf(stream, node),
      isKnown: (id, request) => this.#isKnown(id, request),
      process: (stream, request) => this.#process(stream, request),
      withheld: (waiting) => this.#withhold(waiting),
      refuse: (id, reason) => this.#turnAway(id, unanswerable[reason], "not-ready"),
      commit: (transaction) => this.#driver.take({ kind: "transaction-committed", transaction }),
      failed: (id, cause) => this.#fail(id, "conversion", cause),
    });
    this.#streams = new StreamRegistry({
      ...{ encoder, limits, connectionLimits: connectionLimits },
      closed: (stream, status, reason) => this.#closed(stream, status, reason),
      pace: (stream, kind, pendingBytes) => this.#pace(stream, kind, pendingBytes),
      limitHit: (limit, { id, peer }, message) => this.reportLimit(limit, peer.address, message, id),
    });
    this.view = new HubView({
      ...{
        machine: this.#driver.machine,
        connectionLimits: connectionLimits,
        streams: this.#streams,
        converter: this.#converter,
      },
    });
  }

  get limits(): Limits {
    return this.#options.limits;
  }

  get revision(): number {
    return this.#driver.machine.revision;
  }

  /** Throws what `commit` would, at the end; changes nothing. */
  check(transaction: Transaction): Steps<void> {
    return this.#commits.check(transaction);
  }

  /**
   * Commits all of it at once, and makes the server ready; responses follow in later slices of the event loop. Throws
   * what the machine throws for an invalid transaction.
   */
  commit(transaction: Transaction, rules: HubRules = {}): number {
    const revision = this.#commits.commit(transaction, rules);
    this.#becomeReady();
    return revision;
  }

  /** As `commit`, in steps: all of it takes effect in the last one, and little of a large transaction is left for that. */
  *commitInSteps(transaction: Transaction, rules: HubRules = {}): Steps<number> {
    const revision = yield* this.#commits.commitInSteps(transaction, rules);
    this.#becomeReady();
    return revision;
  }

  /** Commits without resources, which makes the server no more ready than it is. */
  replace(rules: HubRules): number {
    return this.#commits.replace(rules);
  }

  #accessChanged(): void {
    for (const watcher of [...this.#accessWatchers]) watcher();
    this.#waiting.release();
  }

  #guarded(mapping: NodeMapping): NodeMapping {
    return guardMapping(mapping, (error) => this.report({ kind: "listener-failed", event: "node-mapping", error }));
  }

  /** Marks the server ready to serve. */
  #becomeReady(): void {
    if (this.readiness.state !== "starting") return;
    this.readiness.become("ready");
    this.#reportReady();
  }

  /** The server listens at all its addresses. */
  listening(): void {
    this.#isListening = true;
    this.#reportReady();
  }

  /** A server that resumes its ledger is ready before it listens, and may fail to. */
  #reportReady(): void {
    if (this.#isListening && this.readiness.state === "ready") this.report({ kind: "ready" });
  }

  #createTwins(
    { traits, digest, memory }: HubOptions,
    convert: ApiVersionConverterOptions["convert"],
  ): ApiVersionConverter {
    const { machine } = this.#driver;
    return new ApiVersionConverter({
      convert,
      digest,
      twinOf: (type) => traits(type)?.twin,
      layers: () => machine.layers(),
      members: (layer, type) => [...machine.resources([layer], type), ...machine.resourceErrors([layer], type)],
      holder: (layer, type, name) => machine.holder(layer, type, name),
      report: (report) => this.report(report),
      areWanted: [...(memory?.restored ?? [])].some((one) => one.kind === "changed" && isOfV2(one.type)),
    });
  }

  admit(entryPoint: EntryPoint, peer: Peer, node?: Node): AccessGrant | Status {
    const granted = this.view.grantOf({ entryPoint, peer, node });
    if (!("denied" in granted)) return granted;
    const { denied: reason, told } = granted;
    const type = undefined;
    this.report({
      kind: "access-denied",
      entryPoint,
      stream: undefined,
      node: node ?? anonymousNode,
      peer,
      type,
      reason,
    });
    if (told !== undefined) return { code: statusCode.PERMISSION_DENIED, message: told };
    if (node !== undefined) return nodeDenied(peer, node);
    return { code: deniedCode(peer), message: "this client may not call this here" };
  }

  watchAccess(watcher: () => void): () => void {
    this.#accessWatchers.add(watcher);
    return () => void this.#accessWatchers.delete(watcher);
  }

  openConnection(peer: Peer, transport: string, listener?: NamedChoice): number | undefined {
    const connection = this.#connections.open({ peer, transport, listener });
    if (typeof connection !== "number") {
      this.reportLimit(connection.limit, peer.address, connection.status.message);
      return undefined;
    }
    this.report({ kind: "connection-opened", connection, peer, transport });
    return connection;
  }

  closeConnection(connection: number, reason: string): void {
    const closed = this.#connections.close(connection);
    if (closed === undefined) return;
    const { peer, transport } = closed;
    this.report({ kind: "connection-closed", connection, peer, transport, reason });
  }

  delayRequest(account: Account, address: string): number {
    const delayMs = this.#requestRate.delayOf(account);
    if (delayMs > 0) this.reportLimit("maxRequestsPerSecondPerIdentity", address, slowed(this.limits));
    return delayMs;
  }

  openCall(peer: Peer): Status | undefined {
    const passed = this.#connectionLimits.admitCall(peer);
    if (passed !== undefined) this.reportLimit(passed.limit, peer.address, passed.status.message);
    return passed?.status;
  }

  closeCall(peer: Peer): void {
    this.#connectionLimits.callClosed(peer);
  }

  openStream(opened: NewStream, handle: StreamHandle | BodyHandle): StreamId | Status {
    const { peer, listener } = this.#connections.get(opened.connection) ?? {};
    if (peer === undefined) return { code: statusCode.UNAVAILABLE, message: "the connection is closed" };
    const refusal = this.#admission.refuseStream(peer, opened);
    if (refusal !== undefined) return refusal;
    const id = ++this.#lastStream;
    this.#streams.open({ ...opened, id, peer, openedAtMs: performance.now() }, handle);
    this.#driver.take({ ...opened, kind: "stream-opened", stream: id, peer, listener }, id);
    this.report({ ...opened, kind: "stream-opened", stream: id, peer });
    return id;
  }

  receive(id: StreamId, request: DiscoveryRequest, bytes: number): void {
    const stream = this.#streams.get(id);
    if (stream === undefined || this.#driver.flushes.isFinishing(id)) return;
    if (this.readiness.state === "starting") {
      this.endStream(id, notReady, "not-ready");
      return;
    }
    const type = request.type ?? stream.onlyType;
    this.report({ kind: "request-received", stream: id, type, bytes });
    this.#waiting.take(id, type, request, bytesOfRequest(request, bytes));
  }

  /** Without it the state is always new enough for every client. */
  setFreshness(freshness: Freshness): void {
    this.#waiting.setFreshness(freshness);
  }

  /** Takes up former states of Clusters, before the first commit: clients of other servers may have them. */
  restorePast(states: readonly (readonly LayerChange[])[]): void {
    const remembered = rememberedOf(states, this.#driver.machine);
    this.#driver.take({ kind: "history-restored", remembered });
    for (const what of remembered) this.#options.memory?.remember(what);
  }

  /** Notes what another process with the same state served: its clients may come here. */
  noteElsewhere(remembered: readonly Remembered[]): void {
    this.#driver.take({ kind: "served-elsewhere", remembered });
  }

  #peerOf(id: StreamId | PollId): AccountHolder {
    return this.#streams.get(id)?.peer ?? this.#polls.peerOf(id) ?? { address: "" };
  }

  #process(id: StreamId, request: DiscoveryRequest): void {
    if (this.#streams.get(id) !== undefined) this.#driver.take({ kind: "request-received", stream: id, request }, id);
  }

  #withhold(waiting: WaitingType): void {
    const { stream } = waiting;
    if (this.#streams.get(stream) !== undefined) this.#driver.take({ kind: "request-withheld", ...waiting }, stream);
  }

  /**
   * Sets which resources exist without their content: for clients that ask for one of them there is silence, until its
   * content is committed or it is deleted, and this is called again.
   */
  setMissing(missing: MissingNames): void {
    this.#waiting.setMissing(missing);
  }

  finish(id: StreamId): void {
    this.#waiting.finish(id, () => this.#finish(id));
  }

  #finish(id: StreamId): void {
    if (this.#streams.get(id) === undefined || this.#driver.flushes.isFinishing(id)) return;
    // Under constant change some stream is always due, so one flush per open stream is enough.
    this.#driver.flushes.finish(id, this.#streams.size);
  }

  abandon(id: StreamId, reason: StreamEnd): void {
    this.#streams.abandon(id, reason);
  }

  endStream(id: StreamId, status: Status, reason: StreamEnd): void {
    this.#driver.sends.flush(id);
    this.#streams.end(id, status, reason);
  }

  poll(asked: NewPoll, handle: PollHandle): PollId | undefined {
    const { connection, path, apiVersion, type, request, bytes, holdMs } = asked;
    const { peer, listener } = this.#connections.get(connection) ?? {};
    const isWithheld = peer !== undefined && this.#isForMissing(peer, type, request);
    const refusal =
      peer === undefined
        ? cancelled
        : isWithheld
          ? unanswerable.missing
          : this.#admission.refusePoll(peer, { apiVersion, method: path });
    if (refusal !== undefined || peer === undefined) {
      handle.refuse(refusal ?? cancelled);
      return undefined;
    }
    const id = ++this.#lastStream;
    this.#polls.open(id, peer, handle);
    this.report({ kind: "request-received", stream: id, type, bytes });
    const arrive = (): void => {
      if (!this.#polls.has(id)) return;
      this.#arriving = id;
      this.#driver.take({ kind: "poll-received", poll: id, peer, listener, apiVersion, type, request, holdMs }, id);
      this.#arriving = undefined;
    };
    this.#waiting.takePoll(id, type, request, bytesOfRequest(request, bytes), arrive);
    return this.#polls.has(id) ? id : undefined;
  }

  #isForMissing(peer: Peer, type: TypeUrl, request: DiscoveryRequest): boolean {
    const claim = { entryPoint: "rest", peer, node: request.node ?? anonymousNode } as const;
    return this.#waiting.isForMissing(type, request, () => this.view.seenBy(claim));
  }

  /** What the client of a stream may have; `named`: the node of a request that has not been processed. */
  #viewOf(id: StreamId, named: Node | undefined): Sees {
    const stream = this.#streams.get(id);
    if (stream === undefined) return () => false;
    const node = named ?? this.view.streamState(id)?.node ?? anonymousNode;
    return this.view.seenBy({ entryPoint: entryPointOf(stream), peer: stream.peer, node });
  }

  /** Whether what a request brings is of states that this server has or had; so also if nobody can say of what type it is. */
  #isKnown(id: StreamId | PollId, request: DiscoveryRequest): boolean {
    const stream = this.#streams.get(id);
    const peer = stream?.peer ?? this.#polls.peerOf(id);
    const type = request.type ?? stream?.onlyType;
    if (peer === undefined || type === undefined) return true;
    const entryPoint = stream === undefined ? "rest" : entryPointOf(stream);
    const node = request.node ?? this.view.streamState(id)?.node ?? anonymousNode;
    return this.view.knows({ entryPoint, peer, node }, type, request);
  }

  abandonPoll(id: PollId): void {
    this.#waiting.forget(id);
    if (this.#polls.take(id) !== undefined) this.#driver.take({ kind: "poll-closed", poll: id });
  }

  #refusePoll(id: PollId, status: Status): void {
    const handle = this.#polls.take(id);
    if (handle === undefined) return;
    this.#driver.take({ kind: "poll-closed", poll: id });
    handle.refuse(status);
  }

  #turnAway(id: StreamId | PollId, status: Status, reason: StreamEnd): void {
    if (this.#polls.has(id)) this.#refusePoll(id, status);
    else this.endStream(id, status, reason);
  }

  reportLimit(limit: LimitName, address: string, message: string, stream?: StreamId): void {
    this.#connectionLimits.countHit(limit);
    this.report({ kind: "limit-hit", limit, address, stream, message });
  }

  #reportOfMachine(report: Parameters<Performer["report"]>[0]): void {
    const evicted = report.kind === "poller-forgotten" ? report.evicted : undefined;
    if (evicted !== undefined) this.reportLimit(evicted.limit, evicted.address, evicted.message);
    this.report(report);
  }

  /**
   * Reports to telemetry and listeners. If a listener throws or rejects, only the stream or poll of that event is
   * rejected (S-OBS-03).
   */
  report(report: ServerReport): void {
    const now = Date.now();
    // A change makes thousands of reports within milliseconds; listeners, which may change it, get a date of their own.
    if (this.#reportedAt.getTime() !== now) this.#reportedAt = new Date(now);
    this.#options.telemetry.report(report, this.#reportedAt);
    if (!this.listeners.hasAny(report.kind)) return;
    const arriving = this.#arriving;
    const failure = this.listeners.tell(report, new Date(now), (reason) =>
      this.#listenerFailed(report, reason, arriving),
    );
    if (failure !== undefined) this.#listenerFailed(report, failure.thrown, arriving);
  }

  #listenerFailed(report: ServerReport, error: unknown, arriving: PollId | undefined): void {
    // A failing `listener-failed` listener is ignored, or this would recurse.
    if (report.kind === "listener-failed") return;
    this.report({ kind: "listener-failed", event: report.kind, error });
    if (report.kind !== "stream-opened" && report.kind !== "request-classified") return;
    if (arriving === undefined) this.endStream(report.stream, refusedByListener, "failed");
    else this.#refusePoll(arriving, { ...refusedByListener, code: statusCode.PERMISSION_DENIED });
  }

  /**
   * Ends every stream with UNAVAILABLE, spread over `graceMs`, so that clients do not all reconnect at once (S-GRP-06).
   */
  async drain(graceMs: number): Promise<void> {
    this.readiness.become("draining");
    this.report({ kind: "draining", graceMs });
    this.#driver.take({ kind: "polls-dismissed" });
    await spread([...this.#streams.ids], graceMs, (id) => this.endStream(id, draining, "draining"));
  }

  /** Ends all streams, polls and timers at once. */
  close(): void {
    this.readiness.become("draining");
    this.deployments.close(new XdsError("SERVER_STATE", "the server was closed"));
    this.#waiting.close();
    this.#streams.close(draining, "draining");
    this.#polls.close(draining);
    this.#driver.close();
  }

  #closeAsAsked({ stream: id, status, limit }: Extract<ServerEffect, { readonly kind: "close-stream" }>): void {
    const peer = this.#streams.get(id)?.peer;
    if (peer === undefined) return;
    if (limit !== undefined) this.reportLimit(limit, peer.address, status.message, id);
    this.endStream(id, status, limit === undefined ? "refused" : "limit");
  }

  #settlePoll(effect: PollEffect): void {
    const peer = this.#polls.peerOf(effect.poll);
    if (peer !== undefined && effect.kind === "refuse-poll" && effect.limit !== undefined)
      this.reportLimit(effect.limit, peer.address, effect.status.message);
    this.#polls.perform(effect);
  }

  #send(effect: Extract<ServerEffect, { readonly kind: "send" }>): void {
    const { stream, body } = effect;
    try {
      const bytes = this.#streams.send(effect);
      if (bytes === undefined) return;
      const { variant, type } = body;
      this.report({ kind: "response-queued", stream, type, variant, bytes });
    } catch (cause) {
      this.#fail(stream, "send", cause);
      return;
    }
    this.#streams.endOverfull(stream);
  }

  #pace({ id: stream }: OpenStream, kind: "stream-stalled" | "stream-drained", pendingBytes: number): void {
    this.#driver.take({ kind, stream }, stream);
    this.report(kind === "stream-stalled" ? { kind, stream, pendingBytes } : { kind, stream });
  }

  #closed({ id: stream, peer, variant, onlyType, openedAtMs }: OpenStream, status: Status, reason: StreamEnd): void {
    this.#driver.flushes.forget(stream);
    this.#driver.sends.forget(stream);
    this.#waiting.forget(stream);
    this.#driver.take({ kind: "stream-closed", stream }, stream);
    const ageMs = performance.now() - openedAtMs;
    this.report({ kind: "stream-closed", stream, peer, variant, onlyType, reason, status, ageMs });
  }

  /** Internal error: ends only the affected stream or poll. */
  #fail(id: StreamId | undefined, during: string, cause: unknown): void {
    this.report({ kind: "invariant-broken", stream: id, during, error: cause });
    if (id === undefined) return;
    this.#turnAway(id, ourMistake, "failed");
  }
}

const refusedByListener: Status = { code: statusCode.UNKNOWN, message: "refused by this server" };
const unanswerable: Readonly<Record<Unanswerable, Status>> = {
  missing: {
    code: statusCode.UNAVAILABLE,
    message: "not ready: the content of a resource of this type is not at hand yet; try again later",
  },
  behind: { code: statusCode.UNAVAILABLE, message: "this server is behind the others; try again later" },
};
const ourMistake: Status = { code: statusCode.INTERNAL, message: "internal server error; see the log" };

function slowed({ maxRequestsPerSecondPerIdentity: most }: Limits): string {
  return `more than ${most} requests a second from this identity; they wait (maxRequestsPerSecondPerIdentity)`;
}
