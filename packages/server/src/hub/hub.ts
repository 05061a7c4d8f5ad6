import type { BodyEncoder } from "@xdskit/envoy-api/internal";
import {
  anonymousNode,
  type EntryPoint,
  type LayerChange,
  type Node,
  type Peer,
  type Status,
  type Transaction,
} from "@xdskit/protocol";
import type { Account } from "@xdskit/protocol/internal";
import {
  type AccessGrant,
  type DiscoveryRequest,
  deniedCode,
  isOfV2,
  type NamedChoice,
  nodeDenied,
  type PollId,
  type Remembered,
  type ServerMachine,
  type ServerMachineOptions,
  type Steps,
  type StreamId,
  statusCode,
} from "@xdskit/protocol/internal";
import { XdsError } from "../error.ts";
import type { LimitName, Limits } from "../limits.ts";
import { accountOf } from "./account.ts";
import { Admission, draining } from "./admission.ts";
import { ApiVersionConverter, type ApiVersionConverterOptions } from "./api-version-converter.ts";
import { ByteBudget } from "./byte-budget.ts";
import type { Freshness } from "./catch-up-gate.ts";
import { Commits, type HubRules } from "./commits.ts";
import { ConnectionLimits } from "./connection-limits.ts";
import { Connections } from "./connections.ts";
import { Deployments } from "./deployments.ts";
import { Driver } from "./driver.ts";
import { guardConverter, guardMapping, guardOverrides } from "./guarded-functions.ts";
import { HubEffects } from "./hub-effects.ts";
import { HubView } from "./hub-view.ts";
import { IncomingPolls } from "./incoming-polls.ts";
import { IncomingStreams } from "./incoming-streams.ts";
import type { Listeners, ServerEvents } from "./listeners.ts";
import type { MissingChange, MissingContent } from "./missing-resources.ts";
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
import { type Refused, Reports } from "./reports.ts";
import { RequestRate } from "./request-rate.ts";
import { Requesters } from "./requesters.ts";
import { spread } from "./spread.ts";
import { StreamRegistry } from "./stream-registry.ts";
import { unanswerable, WaitingRequests } from "./waiting-requests.ts";

export interface HubOptions extends ServerMachineOptions {
  readonly encoder: BodyEncoder;
  /** Converts resources between v2 and v3; without it each version holds only what it was given. */
  readonly convert?: ApiVersionConverterOptions["convert"];
  readonly prepareConversion?: ApiVersionConverterOptions["prepare"];
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

type ProgramFunctions = Partial<Pick<ServerMachineOptions, "nodeMapping" | "clients" | "convertForStructs">>;

/** Connects clients, the embedding program and the `ServerMachine`. */
export class Hub implements HubPort {
  readonly readiness: ReadinessTracker = new ReadinessTracker();
  readonly view: HubView;
  readonly budget: ByteBudget;
  readonly deployments: Deployments;
  readonly #options: HubOptions;
  readonly #driver: Driver;
  readonly #commits: Commits;
  readonly #reports: Reports;
  readonly #connectionLimits: ConnectionLimits;
  readonly #connections: Connections;
  readonly #requestRate: RequestRate;
  readonly #streams: StreamRegistry;
  readonly #polls: PollRegistry;
  readonly #incomingStreams: IncomingStreams;
  readonly #incomingPolls: IncomingPolls;
  readonly #waiting: WaitingRequests;
  readonly #accessWatchers = new Set<() => void>();
  readonly #closing = new AbortController();
  #isListening = false;

  constructor(options: HubOptions) {
    const { limits, encoder, refusesV2 = false, telemetry, streamsAfter = 0 } = options;
    let lastStream = streamsAfter;
    this.#options = options;
    this.budget = new ByteBudget(limits);
    const connectionLimits = new ConnectionLimits(limits, this.budget, {
      pollerBytes: () => this.#driver.machine.pollerBytes,
      clientBytes: () => this.#driver.machine.clientBytes,
    });
    this.#connectionLimits = connectionLimits;
    const reports = new Reports({
      telemetry,
      countHit: (limit) => connectionLimits.countHit(limit),
      refuse: (refused) => this.#refuse(refused),
    });
    this.#reports = reports;
    const polls = new PollRegistry(connectionLimits);
    this.#polls = polls;
    const streams = new StreamRegistry({
      ...{ encoder, limits, connectionLimits },
      closed: (stream, status, reason) => this.#incomingStreams.closed(stream, status, reason),
      pace: (stream, kind, pendingBytes) => this.#incomingStreams.paced(stream, kind, pendingBytes),
      limitHit: (limit, { id, peer }, message) => reports.limitHit(limit, peer.address, message, id),
    });
    this.#streams = streams;
    const effects = new HubEffects({
      ...{ streams, polls, reports },
      endStream: (stream, status, reason) => this.endStream(stream, status, reason),
      turnAway: (id, status, reason) => this.#turnAway(id, status, reason),
      advanced: () => this.deployments.check(),
    });
    const driver = new Driver({ ...options, ...this.#guardFunctions(options), accountOf }, effects);
    const { machine } = driver;
    this.#driver = driver;
    this.deployments = new Deployments(machine.progress);
    const converter = createConverter(options, machine, (report) => reports.report(report));
    this.#commits = new Commits({
      ...{ machine, converter },
      take: (event) => driver.take({ ...event, ...this.#guardFunctions(event) }),
      accessChanged: () => this.#accessChanged(),
      report: (report) => reports.report(report),
    });
    const admission = new Admission({
      ...{ readiness: this.readiness, connectionLimits, refusesV2 },
      limitHit: (limit, address, message) => reports.limitHit(limit, address, message),
      v2Refused: (address, method) => reports.report({ kind: "v2-refused", address, method }),
    });
    this.#connections = new Connections(connectionLimits);
    this.#requestRate = new RequestRate(limits.maxRequestsPerSecondPerIdentity);
    this.view = new HubView({ machine, connectionLimits, streams, converter });
    const requesters = new Requesters({ streams, polls, view: this.view });
    this.#waiting = new WaitingRequests({
      twinOf: (type) => options.traits(type)?.twin,
      converter,
      open: (id) => this.budget.open(accountOf(requesters.accountHolder(id))),
      viewOf: (stream, node) => requesters.viewOf(stream, node),
      isKnown: (id, request) => requesters.isKnown(id, request),
      process: (stream, request) => this.#incomingStreams.process(stream, request),
      withheld: (type) => this.#incomingStreams.withhold(type),
      refuse: (id, reason) => this.#turnAway(id, unanswerable[reason], "not-ready"),
      commit: (transaction) => driver.take({ kind: "transaction-committed", transaction }),
      failed: (id, cause) => effects.failed(id, "conversion", cause),
    });
    const nextId = (): number => ++lastStream;
    const { view, readiness } = this;
    const incoming = { connections: this.#connections, admission, waiting: this.#waiting, driver, reports, nextId };
    this.#incomingStreams = new IncomingStreams({ ...incoming, readiness, streams });
    this.#incomingPolls = new IncomingPolls({ ...incoming, view, polls });
  }

  /** The listeners of the embedding program. */
  get listeners(): Listeners {
    return this.#reports.listeners;
  }

  get limits(): Limits {
    return this.#options.limits;
  }

  get revision(): number {
    return this.#driver.machine.revision;
  }

  /** Whether a stream waits to be sent a change. */
  get isChangeDue(): boolean {
    return this.#driver.machine.changedStreams > 0;
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

  /** Guards those functions of the program that are given. */
  #guardFunctions({ nodeMapping, clients, convertForStructs }: ProgramFunctions): ProgramFunctions {
    const failed = (event: ServerEvents["listener-failed"]["event"]) => (error: unknown) =>
      this.report({ kind: "listener-failed", event, error });
    return {
      ...(nodeMapping && { nodeMapping: guardMapping(nodeMapping, failed("node-mapping")) }),
      ...(clients && { clients: guardOverrides(clients, failed("client-overrides")) }),
      ...(convertForStructs && { convertForStructs: guardConverter(convertForStructs, failed("struct-conversion")) }),
    };
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

  admit(entryPoint: EntryPoint, peer: Peer, node?: Node): AccessGrant | Status {
    const granted = this.view.grantOf({ entryPoint, peer, node });
    if (!("denied" in granted)) return granted;
    const { denied: reason, told } = granted;
    const about = { entryPoint, stream: undefined, node: node ?? anonymousNode, peer, type: undefined };
    this.report({ kind: "access-denied", ...about, reason });
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
    return this.#incomingStreams.open(opened, handle);
  }

  receive(stream: StreamId, request: DiscoveryRequest, bytes: number): void {
    this.#incomingStreams.receive(stream, request, bytes);
  }

  finish(stream: StreamId): void {
    this.#incomingStreams.finish(stream);
  }

  abandon(stream: StreamId, reason: StreamEnd): void {
    this.#streams.abandon(stream, reason);
  }

  endStream(stream: StreamId, status: Status, reason: StreamEnd): void {
    this.#incomingStreams.end(stream, status, reason);
  }

  poll(asked: NewPoll, handle: PollHandle): PollId | undefined {
    return this.#incomingPolls.poll(asked, handle);
  }

  abandonPoll(poll: PollId): void {
    this.#incomingPolls.abandon(poll);
  }

  #turnAway(id: StreamId | PollId, status: Status, reason: StreamEnd): void {
    if (this.#polls.has(id)) this.#incomingPolls.refuse(id, status);
    else this.endStream(id, status, reason);
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

  /**
   * Changes which resources exist without their content: for clients that ask for one of them there is silence, until its
   * content is committed or it is deleted, and this is called again.
   */
  changeMissing(change: MissingChange): void {
    this.#waiting.changeMissing(change);
  }

  /** The resources that exist without their content. */
  get missing(): Iterable<MissingContent> {
    return this.#waiting.missing;
  }

  reportLimit(limit: LimitName, address: string, message: string, stream?: StreamId): void {
    this.#reports.limitHit(limit, address, message, stream);
  }

  report(report: ServerReport): void {
    this.#reports.report(report);
  }

  #refuse(refused: Refused): void {
    if ("stream" in refused) this.endStream(refused.stream, refusedByListener, "failed");
    else this.#incomingPolls.refuse(refused.poll, { ...refusedByListener, code: statusCode.PERMISSION_DENIED });
  }

  /**
   * Ends every stream with UNAVAILABLE, spread over `graceMs`, so that clients do not all reconnect at once (S-GRP-06).
   */
  async drain(graceMs: number): Promise<void> {
    this.readiness.become("draining");
    this.report({ kind: "draining", graceMs });
    this.#driver.take({ kind: "polls-dismissed" });
    const pace = { ms: graceMs, signal: this.#closing.signal };
    await spread([...this.#streams.ids], pace, (id) => this.endStream(id, draining, "draining"));
  }

  /** Ends all streams, polls and timers at once. */
  close(): void {
    this.#closing.abort();
    this.readiness.become("draining");
    this.deployments.close(new XdsError("SERVER_STATE", "the server was closed"));
    this.#waiting.close();
    this.#streams.close(draining, "draining");
    this.#polls.close(draining);
    this.#driver.close();
  }
}

const refusedByListener: Status = { code: statusCode.UNKNOWN, message: "refused by this server" };

function slowed({ maxRequestsPerSecondPerIdentity: most }: Limits): string {
  return `more than ${most} requests a second from this identity; they wait (maxRequestsPerSecondPerIdentity)`;
}

/** Undefined without a conversion between v2 and v3. */
function createConverter(
  { convert, prepareConversion: prepare, traits, digest, memory }: HubOptions,
  machine: ServerMachine,
  report: (report: ServerReport) => void,
): ApiVersionConverter | undefined {
  if (convert === undefined) return undefined;
  return new ApiVersionConverter({
    convert,
    ...(prepare !== undefined && { prepare }),
    digest,
    twinOf: (type) => traits(type)?.twin,
    layers: () => machine.layers(),
    members: function* (layer, type) {
      yield* machine.resources([layer], type);
      yield* machine.resourceErrors([layer], type);
    },
    holder: (layer, type, name) => machine.holder(layer, type, name),
    report,
    areWanted: [...(memory?.restored ?? [])].some((one) => one.kind === "changed" && isOfV2(one.type)),
  });
}
