import { createBodyEncoder } from "@xdskit/envoy-api/internal";
import type { AnyMessage } from "@xdskit/envoy-api/resources";
import type {
  AccessFunction,
  AccessRules,
  Commit,
  NodeMapping,
  Resource,
  Transaction,
  TypeUrl,
} from "@xdskit/protocol";
import { at, describeProblems, problemsIn } from "@xdskit/protocol/internal";
import type { NodeAnswer } from "./admin/answers/nodes.ts";
import type { ProgressAnswer } from "./admin/answers/progress.ts";
import { Describer } from "./admin/describe.ts";
import { describeProgress, NODES_NAMED } from "./admin/describe-progress.ts";
import { progressOfAll } from "./admin/merge/progress.ts";
import { everyNode, findNodes } from "./admin/routes/nodes.ts";
import { type AdminServer, createAdminServer, createAdminSources } from "./admin/server.ts";
import type { AdminView } from "./admin/view.ts";
import { type CheckedAdmin, type CheckedOptions, checkOptions, everyNodeSeesBase } from "./check-options.ts";
import { type CommitRules, type RulesContext, readCommit, readRules } from "./commit-check.ts";
import { checkDeployment } from "./deployment-options.ts";
import { argumentsError, listenError, optionsError, type ResourceProblem, XdsError } from "./error.ts";
import { checkFileOutput } from "./file-output.ts";
import { healthDiscoveryMethods } from "./health/methods.ts";
import { healthDiscoveryHandlers } from "./health/rest.ts";
import type { Hub } from "./hub/hub.ts";
import type { ServerEvents } from "./hub/listeners.ts";
import { HubTarget } from "./hub-target.ts";
import type { NodePastRecorder } from "./ledger/node-past-recorder.ts";
import type { Authorship, Publication, PublishResult, RollbackOptions } from "./ledger/publication.ts";
import type { Publisher } from "./ledger/publisher.ts";
import type { Sessions } from "./ledger/sessions.ts";
import type { StoreState } from "./ledger/store-state.ts";
import type { LoadReporting } from "./load/load-reporting.ts";
import { loadReportMethods } from "./load/methods.ts";
import type { ChangeTraces } from "./observe/change-traces.ts";
import { consoleLog } from "./observe/console-log.ts";
import { createDeliveryTimes, type DeliveryTimes } from "./observe/deliveries.ts";
import { Fleet } from "./observe/fleet.ts";
import { guardLog } from "./observe/guarded-log.ts";
import { attachLog, logFaults } from "./observe/log.ts";
import { createMetrics, type Metrics } from "./observe/metrics.ts";
import type { SourceProblem, SourceStatus } from "./observe/source-status.ts";
import { createTelemetry, type ObservedTelemetry } from "./observe/telemetry.ts";
import { drainOptions, loadReports } from "./option-rules.ts";
import type { DeploymentOptions, LoadReportOptions, ManagementServerOptions } from "./options.ts";
import { ServerLedger } from "./server-ledger.ts";
import { createNodePast, openNodePast } from "./server-node-past.ts";
import {
  createChangeTraces,
  createClientStatus,
  createExporter,
  createHub,
  createLoadReporting,
  createServedCertificates,
  createTrustHolds,
  rulesContextOf,
} from "./server-parts.ts";
import { allStreams } from "./server-streams.ts";
import { createServerView } from "./server-view.ts";
import { createFeed, createLink, createPool, numbersOf, SharedMemory, type Sharing } from "./server-workers.ts";
import { ownSessions, sessionsOf } from "./sessions.ts";
import { type ChangeResult, ResourceLayers, type Update } from "./state/resource-layers.ts";
import { StateCheck, unseenLayer } from "./state/state-check.ts";
import { clientStatusMethods } from "./status/methods.ts";
import { clientStatusHandlers } from "./status/rest.ts";
import type { FileExporter } from "./transport/files/exporter.ts";
import { Decompression } from "./transport/grpc/decompression.ts";
import { Intake, MOST_WAITING } from "./transport/grpc/intake.ts";
import { GrpcTransport } from "./transport/grpc/server.ts";
import { DEFAULT_HTTP2_ENGINE } from "./transport/http2/engines.ts";
import { ReadPacer } from "./transport/http2/read-pacer.ts";
import { createRestServer } from "./transport/rest/services.ts";
import { type BoundAddress, formatAddress } from "./transport/transport.ts";
import type { TrustHolds } from "./trust-holds.ts";
import type { WorkerPool, WorkersOptions } from "./workers/pool.ts";
import type { WorkerLink } from "./workers/worker-link.ts";

/** Default of the time over which a drain ends the streams, in milliseconds. */
const DRAIN_GRACE_MS = 10_000;
/** Time that connections have to close by themselves after the last stream ended, in milliseconds. */
const LEAVE_WITHIN_MS = 1_000;

/** The addresses of a started server. */
export interface StartedServer {
  readonly address: BoundAddress;
  /** Every address where clients connect, in the order of the options; the first is `address`. */
  readonly addresses: readonly BoundAddress[];
  /** Undefined without an admin API. */
  readonly adminAddress?: BoundAddress;
}

/** The state of a source of resources, as its owner reports it. */
export interface SourceReport {
  readonly state: SourceStatus["state"];
  readonly problems: readonly SourceProblem[];
  /**
   * When this state began.
   * @default now
   */
  readonly since?: Date;
}

/** An xDS management server: the program changes resources, clients subscribe over gRPC or REST. */
export interface ManagementServer extends AsyncDisposable {
  /**
   * Starts listening. Throws an `XdsError`: LISTEN_FAILED, TLS_INVALID, FILES_FAILED, STORE_FAILED, or SERVER_STATE unless the server
   * is new.
   */
  listen(): Promise<StartedServer>;
  /**
   * Replaces the resources of a layer: sends new and changed ones, removes missing ones; unchanged ones keep their
   * version. Versions are digests of the content, so replicas agree on them. Resources that `commit` put there are not
   * touched. Nodes see the layers that `nodeMapping` names; without one, `base` and no other. Throws an `XdsError` and
   * changes nothing: RESOURCES_INVALID with every error in the resources, which is what `xds validate` calls an error in a
   * file, VARIANTS_AMBIGUOUS, as `commit` does, or SERVER_STATE if the server is closed.
   */
  set(layer: string, resources: readonly AnyMessage[]): ChangeResult;
  /**
   * Applies all changes of the callback together, on top of earlier `set` and `update` calls. Throws as `set` does; if
   * the callback throws, nothing changes.
   */
  update(change: (update: Update) => unknown): ChangeResult;
  /**
   * Checks all resources of `set` and `update`: broken validation rules, dangling references, listeners that share an
   * address, layers that no node sees. Finds the same as `xds validate` in files. All results are warnings, because `set` and `update` reject
   * errors.
   */
  check(): readonly ResourceProblem[];
  /**
   * The connected nodes by id: identity, streams, layers, and per type what is subscribed, sent, ACKed and NACKed, and
   * why. The items equal those of the admin API and are built lazily, one per step of the iteration.
   */
  nodes(): Iterable<NodeAnswer>;
  /**
   * Applies changes of resources, node mapping, access rules and client overrides as a whole: no client is served by a part
   * of it. Returns its revision. The first commit, even an empty one, makes the server ready. Responses go out in later
   * slices of the event loop. May be called before `listen`. Throws an `XdsError` and changes nothing: TRANSACTION_INVALID
   * with every mistake, or VARIANTS_AMBIGUOUS if a name would have two variants that match the same client (S-LOC-08).
   */
  commit(commit: Commit): number;
  /**
   * Records a change in the ledger and then puts it in force, or says why not. Live data (EDS, LEDS, SDS) flows at once,
   * also if the rest is held. Throws an `XdsError` (SERVER_STATE) without a ledger, or if the server is closed.
   */
  publish(publication: Publication): Promise<PublishResult>;
  /**
   * Does for resources that are going to be published what can be done before, such as encoding them for the ledger, so
   * that `publish` has less to do at once. Does nothing without a ledger. 500 resources take some 2 ms.
   */
  prepare(resources: Iterable<Resource>): void;
  /** Puts the held change of that number in force. Throws as `publish` does. */
  approve(number: number, by?: Authorship): Promise<PublishResult>;
  /** Drops the held change of that number. Throws as `publish` does. */
  reject(number: number, by?: Authorship): Promise<PublishResult>;
  /**
   * Brings back what was in force at a number; of live data only what was deleted since and is referred to again. What
   * that takes away is held if it is published again.
   * Throws as `publish` does.
   */
  rollback(to: number, options?: RollbackOptions): Promise<PublishResult>;
  /**
   * Waits until a revision is everywhere: until no connected node that counts has anything up to it not sent or without
   * an ACK or NACK. The answer says who has it and who rejected it, and how far it is if the time is over. Nodes that
   * connect while waiting count too. Rejects with an `XdsError`: REVISION_UNKNOWN for a revision that does not exist yet,
   * OPTIONS_INVALID, and SERVER_STATE when the server closes.
   */
  whenDeployed(revision: number, options?: DeploymentOptions): Promise<ProgressAnswer>;
  /**
   * Commits another node mapping alone. Returns the revision of this change, which
   * `whenDeployed` waits for as for that of a commit.
   */
  setNodeMapping(nodeMapping: NodeMapping): number;
  /**
   * Commits other access rules alone; undefined: the defaults. A connected client that may no longer be its node is ended; the
   * others get the difference. Returns the revision of this change. Throws an `XdsError` (OPTIONS_INVALID) that names
   * every mistake.
   */
  setAccess(access: AccessRules | AccessFunction | undefined): number;
  /**
   * Changes the load reports that the server requests, for every client; absent fields stay as they are. Throws an
   * `XdsError` (OPTIONS_INVALID, or SERVER_STATE where `loadReports` is false).
   */
  setLoadReporting(changes: LoadReportOptions): void;
  /**
   * Commits other protocol overrides of single clients alone; undefined removes them. Streams that have already sent their
   * node keep theirs. Throws an `XdsError` (OPTIONS_INVALID) that names every mistake.
   */
  setClientOverrides(clients: ManagementServerOptions["clientOverrides"]): void;
  /**
   * Reloads the TLS files now instead of on the next change of a file. Invalid files are reported (`tls-refused`), and
   * the previous certificates stay in use.
   */
  reloadCertificates(): Promise<void>;
  /**
   * Puts in force the CAs and revocation lists that a fuse holds, by the `id` of the event `tls-held`. Returns whether
   * they were held.
   */
  approveTrust(id: string): Promise<boolean>;
  /**
   * Sets the state of the source that the admin API and readiness show. Without it the source is the program itself: good
   * once it set something, unless `refreshSource` is given.
   */
  reportSource(report: SourceReport): void;
  /**
   * Calls the listener for every event of a kind, until the returned function is called. If a listener throws or its
   * promise rejects, other listeners still run; for `stream-opened` and `request-classified` the server ends that
   * stream and no other (S-OBS-03).
   */
  on<K extends keyof ServerEvents>(kind: K, listener: (event: ServerEvents[K]) => unknown): () => void;
  /**
   * Drains the server: accepts no new clients, sends GOAWAY, ends the streams with UNAVAILABLE spread over `graceMs`
   * (10,000 by default), then closes (S-GRP-06).
   */
  drain(options?: { readonly graceMs?: number }): Promise<void>;
  /** Closes everything at once. May be called more than once. */
  close(): Promise<void>;
  readonly revision: number;
  /** Undefined without a ledger, and until it is open: after `listen`, or the first `publish`. */
  readonly ledger: LedgerStatus | undefined;
}

/** What the ledger of a server came to. */
export interface LedgerStatus {
  /** Of the newest record. */
  readonly number: number;
  /** The number of the change that a fuse holds. */
  readonly held: number | undefined;
  /** Where it is written; undefined in memory and in a store, and if the directory cannot be used. */
  readonly directory: string | undefined;
  /** Undefined where no store is shared. */
  readonly store: StoreState | undefined;
}

/**
 * Creates a server; it does nothing until `listen`. Throws an `XdsError` (OPTIONS_INVALID) that names every mistake.
 */
export function createServer(options: ManagementServerOptions = {}): ManagementServer {
  return new WiredServer(checkOptions(options));
}

/** A server whose clients are served by worker processes. */
export interface PrimaryServer extends ManagementServer {
  /**
   * Replaces the workers one by one, with another setup. Rejects with an `XdsError` (WORKER_FAILED) if one cannot start
   * with it; then the others stay.
   */
  rollWorkers(setup: unknown, options: { readonly graceMs: number }): Promise<void>;
}

/** Creates a server as `createServer`, which has a ledger and lets worker processes serve its clients. */
export function createPrimary(options: ManagementServerOptions, workers: WorkersOptions): PrimaryServer {
  return new WiredServer(checkOptions(options), { kind: "primary", ...workers });
}

/** Creates the server of a worker process. It takes connections once it has the state, after `listen`. */
export function createWorker(
  options: ManagementServerOptions,
  worker: Pick<Extract<Sharing, { readonly kind: "worker" }>, "start" | "channel">,
): ManagementServer {
  return new WiredServer(checkOptions(options), { kind: "worker", ...worker });
}

class WiredServer implements PrimaryServer {
  readonly #hub: Hub;
  readonly #loads: LoadReporting;
  readonly #traces: ChangeTraces;
  readonly #transports: readonly GrpcTransport[];
  readonly #admin: AdminServer | undefined;
  readonly #exporters: readonly FileExporter[];
  readonly #ledger: ServerLedger | undefined;
  readonly #pool: WorkerPool | undefined;
  readonly #link: WorkerLink | undefined;
  readonly #trustHolds: TrustHolds | undefined;
  readonly #nodePast: NodePastRecorder;
  readonly #layers: ResourceLayers;
  readonly #check: StateCheck;
  readonly #nodeSources: Parameters<typeof findNodes>[0];
  #source: SourceStatus = { state: "loading", problems: [], since: new Date() };
  #address: BoundAddress | undefined;
  #state: "new" | "started" | "closed" = "new";
  readonly #rulesContext: RulesContext;
  #nodeMapping: NodeMapping;

  constructor(options: CheckedOptions, sharing?: Sharing) {
    const { api, limits, tls: usual, listen, log } = options;
    const telemetry = createTelemetry();
    let hub: Hub | undefined;
    const logFailed = (error: unknown): void => {
      const report = { kind: "listener-failed", event: "log", error } as const;
      // Without a hub yet, there are no listeners either.
      if (hub === undefined) telemetry.report(report, new Date());
      else hub.report(report);
    };
    if (log === undefined) logFaults(telemetry, consoleLog());
    else attachLog(telemetry, guardLog(log, logFailed));
    const encoder = createBodyEncoder({ controlPlane: options.controlPlane });
    const deliveries = createDeliveryTimes(telemetry);
    const fleet = new Fleet(telemetry, deliveries);
    const start = sharing?.kind === "worker" ? sharing.start : undefined;
    const memory = new SharedMemory(sharing);
    hub = createHub(options, {
      ...{ encoder, telemetry, streamsAfter: start?.streamsAfter },
      ...(memory.share !== undefined && { share: memory.share }),
    });
    this.#hub = hub;
    this.#rulesContext = rulesContextOf(options, (fault) => this.#hub.report(fault));
    this.#traces = createChangeTraces(options, hub);
    const address = (): string | undefined => (this.#address === undefined ? undefined : formatAddress(this.#address));
    const { numbers, told } = numbersOf(sharing, () => this.#ledger, options.ledger !== undefined);
    const { ofPrimary, ofWorker } = memory;
    const feed = ofPrimary && createFeed(hub, ofPrimary, () => numbers?.());
    const target = new HubTarget(hub, this.#rulesContext, feed);
    const streams = allStreams(hub.view, () => this.#pool);
    const own = ownSessions(hub, () => this.#transports);
    const sessions: Sessions = {
      count: async () => await (this.#pool === undefined ? own : sessionsOf(this.#pool)).count(),
      move: async (count) => await (this.#pool === undefined ? own : sessionsOf(this.#pool)).move(count),
    };
    const rulesContext = this.#rulesContext;
    const ledgerParts = { hub, rulesContext, traces: this.#traces, target, streams, sessions, address };
    this.#ledger = options.ledger === undefined ? undefined : new ServerLedger(options, ledgerParts);
    this.#nodePast = createNodePast(hub, { telemetry, deliveries }, numbers);
    if (sharing?.kind === "primary" && feed !== undefined && ofPrimary !== undefined) {
      const parts = { hub, feed, history: ofPrimary, ledger: this.#ledger, nodePast: this.#nodePast };
      this.#pool = createPool(options, sharing, parts);
    }
    this.#loads = createLoadReporting(options, this.#hub);
    const clientStatus = createClientStatus(options, this.#hub, {
      deliveries,
      ...(sharing?.kind === "worker" && { askOthers: async (asked) => (await this.#link?.askOthers(asked)) ?? [] }),
    });
    const { controlPlane, healthDiscovery } = options;
    const methods = new Map([
      ...clientStatusMethods(clientStatus),
      ...loadReportMethods(this.#loads),
      ...(healthDiscovery === undefined ? [] : healthDiscoveryMethods(healthDiscovery, api, limits)),
    ]);
    const further = new Map([
      ...clientStatusHandlers(clientStatus, api),
      ...(healthDiscovery === undefined ? [] : healthDiscoveryHandlers(healthDiscovery, api)),
    ]);
    const rest = createRestServer({
      ...{ api, controlPlane, rest: options.rest, maxRequestBytes: limits.maxRestRequestBytes },
      further,
    });
    const http2 = options.http2 ?? DEFAULT_HTTP2_ENGINE;
    const intake = new Intake();
    const readPacer = new ReadPacer(() => intake.waiting > MOST_WAITING);
    const shared = { decompression: new Decompression(), intake, readPacer, http2 };
    // The workers of a primary have them.
    const served = this.#pool === undefined ? listen : [];
    this.#trustHolds = createTrustHolds(options, hub);
    const trustFuse = this.#trustHolds;
    this.#transports = served.map(({ host, port, tls = usual, ...choice }, index) => {
      const secured = tls === false ? undefined : tls;
      const handedAt = start?.addresses[index];
      return new GrpcTransport({
        ...{ api, host, port, tls: secured, limits, choice, methods, rest, handedAt, trustFuse },
        ...shared,
      });
    });
    const view = createServerView({
      options,
      hub: this.#hub,
      encoder,
      fleet,
      nodePast: this.#nodePast,
      loads: this.#loads,
      address,
      source: () => this.#source,
      ledger: this.#ledger,
      numbers,
      workers: this.#pool,
      placed: streams,
      trustHolds: this.#trustHolds,
      certificates: createServedCertificates(options, hub, {
        listeners: () => this.#transports.map(({ certificates }) => certificates),
        admin: () => this.#admin?.certificates,
        hasWorkers: this.#pool !== undefined,
      }),
    });
    if (sharing?.kind === "worker" && ofWorker !== undefined) {
      const metrics = createServerMetrics(telemetry, deliveries, view);
      this.#link = createLink(sharing, {
        ...{ hub, target, numbers: told, history: ofWorker, nodePast: this.#nodePast, clientStatus },
        sources: createAdminSources({ view, deliveries, metrics }),
        accept: (listener, socket) => this.#transports[listener]?.take(socket),
        sessions: own,
        drain: async (graceMs) => await this.drain({ graceMs }),
      });
    }
    const hasAdmin = options.admin !== false || options.adminSocket !== undefined;
    this.#admin = hasAdmin ? this.#createAdmin(options, view, telemetry, deliveries) : undefined;
    this.#nodeSources = { view, deliveries, describe: new Describer(deliveries, view) };
    this.#nodeMapping = options.nodeMapping;
    this.#layers = new ResourceLayers({ api, validation: options.validation }, this.#hub);
    this.#check = new StateCheck(api);
    this.#exporters = (options.files ?? []).map((output) => createExporter(checkFileOutput(output), api, this.#hub));
    if (options.refreshSource === undefined) this.#hub.listeners.on("ready", () => this.#becomeSource());
    if (options.serveEmpty) this.#hub.commit({ changes: [] });
  }

  /** What a program sets is all that it has, unless it reports something else. */
  #becomeSource(): void {
    if (this.#source.state === "loading") this.reportSource({ state: "good", problems: [] });
  }

  get revision(): number {
    return this.#hub.revision;
  }

  get ledger(): LedgerStatus | undefined {
    const publisher = this.#ledger?.publisher;
    return (
      publisher && {
        number: publisher.number,
        held: publisher.held?.number,
        directory: this.#ledger?.directory,
        store: this.#ledger?.store,
      }
    );
  }

  async listen(): Promise<StartedServer> {
    if (this.#state !== "new")
      throw new XdsError("SERVER_STATE", `expected a new server, got one that is ${this.#state}`);
    this.#state = "started";
    try {
      await this.#ledger?.open();
      await openNodePast(this.#nodePast, { hub: this.#hub, ledger: this.#ledger });
      // First, because a server that cannot write its files must not accept clients.
      for (const exporter of this.#exporters) await exporter.start();
      const addresses = await this.#startTransports();
      const [address] = addresses;
      if (address === undefined) throw new XdsError("LISTEN_FAILED", "there is no address to listen at");
      this.#address = address;
      const adminAddress = await this.#admin?.start();
      this.#hub.listening();
      this.#link?.run();
      return { address, addresses, ...(adminAddress === undefined ? {} : { adminAddress }) };
    } catch (cause) {
      await this.close();
      if (cause instanceof XdsError) throw cause;
      throw listenError("for the admin API", cause);
    }
  }

  async #startTransports(): Promise<readonly BoundAddress[]> {
    if (this.#pool !== undefined) return await this.#pool.start();
    const addresses: BoundAddress[] = [];
    for (const transport of this.#transports) addresses.push(await transport.start(this.#hub));
    return addresses;
  }

  async rollWorkers(setup: unknown, { graceMs }: { readonly graceMs: number }): Promise<void> {
    await this.#pool?.roll(setup, graceMs);
  }

  set(layer: string, resources: readonly AnyMessage[]): ChangeResult {
    this.#requireOpen();
    this.#requireNoLedger();
    const typesOf = ({ changed }: ChangeResult): TypeUrl[] => changed.map(({ type }) => type);
    return this.#traces.plain({ kind: "set", typesOf }, () => this.#layers.set(layer, resources));
  }

  update(change: (update: Update) => unknown): ChangeResult {
    this.#requireOpen();
    this.#requireNoLedger();
    const typesOf = ({ changed }: ChangeResult): TypeUrl[] => changed.map(({ type }) => type);
    return this.#traces.plain({ kind: "update", typesOf }, () => this.#layers.update(change));
  }

  check(): readonly ResourceProblem[] {
    const unseen = this.#nodeMapping === everyNodeSeesBase ? this.#layers.namesBeside("base") : [];
    return [...unseen.map(unseenLayer), ...this.#check.find(this.#layers.entries())];
  }

  *nodes(): Iterable<NodeAnswer> {
    for (const describe of findNodes(this.#nodeSources, everyNode)) if (describe !== undefined) yield describe();
  }

  commit(given: Commit): number {
    this.#requireNoLedger();
    const commit = readCommit(given, this.#rulesContext);
    if ("problems" in commit) {
      const { problems } = commit;
      throw new XdsError("TRANSACTION_INVALID", describeProblems("nothing was committed", problems), { problems });
    }
    const { transaction, rules } = commit;
    const typesOf = (): TypeUrl[] | undefined => (Object.keys(rules).length === 0 ? typesIn(transaction) : undefined);
    const revision = this.#traces.plain({ kind: "commit", typesOf }, () => this.#hub.commit(transaction, rules));
    this.#nodeMapping = given.nodeMapping ?? this.#nodeMapping;
    return revision;
  }

  async publish(publication: Publication): Promise<PublishResult> {
    return (await this.#openLedger()).publish(publication);
  }

  prepare(resources: Iterable<Resource>): void {
    this.#ledger?.prepare(resources);
  }

  async approve(number: number, by?: Authorship): Promise<PublishResult> {
    return (await this.#openLedger()).approve(number, by);
  }

  async reject(number: number, by?: Authorship): Promise<PublishResult> {
    return (await this.#openLedger()).reject(number, by);
  }

  async rollback(to: number, options?: RollbackOptions): Promise<PublishResult> {
    return (await this.#openLedger()).rollback(to, options);
  }

  async whenDeployed(revision: number, options: DeploymentOptions = {}): Promise<ProgressAnswer> {
    this.#requireOpen();
    const head = this.#ledger?.publisher?.number ?? this.revision;
    const { isWanted, minNodes, signal } = checkDeployment(revision, head, options);
    if (this.#ledger?.publisher?.held?.number === revision)
      throw new XdsError("REVISION_UNKNOWN", `${revision} is held: no node can have it`);
    const { deployments } = this.#hub;
    const { describe, view } = this.#nodeSources;
    const inForce = view.revisionOf(revision) ?? this.revision;
    if (this.#pool !== undefined) {
      const describeOwn = (): ProgressAnswer =>
        describeProgress(
          { ...deployments.progress(inForce, { isWanted }), revision },
          { head: view.head(), minNodes, describe },
        );
      const wait = { nodes: options.nodes, named: NODES_NAMED, minNodes, waitMs: Number.POSITIVE_INFINITY, signal };
      return await progressOfAll(this.#pool, describeOwn, { number: revision, ...wait });
    }
    await deployments.whenSettled(inForce, { isWanted, minNodes }, signal);
    const progress = { ...deployments.progress(inForce, { isWanted }), revision };
    return describeProgress(progress, { head: view.head(), minNodes, describe });
  }

  setNodeMapping(nodeMapping: NodeMapping): number {
    return this.#replace({ nodeMapping });
  }

  setAccess(access: AccessRules | AccessFunction | undefined): number {
    return this.#replace({ access: access ?? "default" });
  }

  setLoadReporting(changes: LoadReportOptions): void {
    const problems = at("loadReports", loadReports(changes));
    if (problems.length > 0) throw optionsError(problems);
    this.#loads.configure(changes);
  }

  setClientOverrides(clients: ManagementServerOptions["clientOverrides"] = []): void {
    this.#replace({ clientOverrides: clients });
  }

  /** A commit without resources, which makes the server no more ready than it is. */
  #replace(given: CommitRules): number {
    this.#requireNoLedger();
    const rules = readRules(given, this.#rulesContext);
    if ("problems" in rules) throw optionsError(rules.problems);
    const change = { kind: "rules", typesOf: () => undefined } as const;
    const revision = this.#traces.plain(change, () => this.#hub.replace(rules));
    this.#nodeMapping = given.nodeMapping ?? this.#nodeMapping;
    return revision;
  }

  async approveTrust(id: string): Promise<boolean> {
    return (await this.#trustHolds?.approve(id)) ?? false;
  }

  async reloadCertificates(): Promise<void> {
    const reloads = this.#transports.map((transport) => transport.reloadCertificates());
    await Promise.all([...reloads, this.#admin?.reloadCertificates()]);
  }

  reportSource({ state, problems, since = new Date() }: SourceReport): void {
    if (state === "failed") this.#ledger?.forgetPrepared();
    const failedSince = this.#source.failedSince ?? since;
    this.#source = { state, problems, since, ...(state === "failed" && { failedSince }) };
  }

  on<K extends keyof ServerEvents>(kind: K, listener: (event: ServerEvents[K]) => unknown): () => void {
    return this.#hub.listeners.on(kind, listener);
  }

  async drain(options: { readonly graceMs?: number } = {}): Promise<void> {
    const problems = problemsIn([["options", drainOptions]], [options]);
    if (problems.length > 0) throw argumentsError("drain", problems);
    const { graceMs = DRAIN_GRACE_MS } = options;
    if (this.#state === "started") {
      const drained = this.#pool?.drain(graceMs);
      for (const transport of this.#transports) transport.drain();
      await this.#hub.drain(graceMs);
      const areIdle = Promise.all(this.#transports.map((transport) => transport.whenIdle()));
      await Promise.race([areIdle, elapsed(LEAVE_WITHIN_MS)]);
      await drained;
    }
    await this.close();
  }

  async close(): Promise<void> {
    if (this.#state === "closed") return;
    this.#state = "closed";
    this.#pool?.close();
    await Promise.all(this.#exporters.map((exporter) => exporter.close()));
    await this.#nodePast.close();
    await this.#ledger?.close();
    this.#hub.close();
    await Promise.all([...this.#transports.map((transport) => transport.stop()), this.#admin?.close()]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #requireOpen(): void {
    if (this.#state === "closed") throw new XdsError("SERVER_STATE", "expected an open server, got one that is closed");
  }

  async #openLedger(): Promise<Publisher> {
    this.#requireOpen();
    if (this.#ledger === undefined)
      throw new XdsError("SERVER_STATE", "expected a server with a ledger, got one without");
    return await this.#ledger.open();
  }

  /** What is not recorded would be lost at the next start, and would differ from the history. */
  #requireNoLedger(): void {
    if (this.#ledger !== undefined)
      throw new XdsError("SERVER_STATE", "this server has a ledger: changes are made by publish, which records them");
  }

  #createAdmin(
    { admin, adminSocket, insecure }: CheckedOptions,
    view: AdminView,
    telemetry: ObservedTelemetry,
    deliveries: DeliveryTimes,
  ): AdminServer {
    const metrics = createServerMetrics(telemetry, deliveries, view);
    const { host, port, names, tls, viewers, operators } = admin === false ? noAdmin : admin;
    return createAdminServer({
      listen: admin === false ? undefined : { host, port },
      socket: adminSocket,
      names,
      tls,
      rules: { viewers, operators, insecure },
      access: { grant: (claim) => this.#hub.view.grantOf(claim) },
      view,
      metrics,
      deliveries,
      onFault: (path, error) => {
        this.#hub.report({ kind: "invariant-broken", stream: undefined, during: `admin ${path}`, error });
      },
      onRefused: (refused) => this.#hub.report({ kind: "admin-refused", ...refused }),
      onChange: (change) => this.#hub.report({ kind: "admin-change", ...change }),
      tlsReloads: {
        onReloaded: (files) => this.#hub.report({ kind: "tls-reloaded", files }),
        onRefused: (files, error) => this.#hub.report({ kind: "tls-refused", files, error }),
      },
    });
  }
}

function createServerMetrics(telemetry: ObservedTelemetry, deliveries: DeliveryTimes, view: AdminView): Metrics {
  return createMetrics({
    ...{ telemetry, deliveries, gauges: view },
    ...{ types: view.types.types, version: view.version },
  });
}

const noAdmin: CheckedAdmin = { host: "", port: 0, names: [], viewers: [], operators: [] };

function typesIn({ changes }: Transaction): TypeUrl[] {
  return changes.flatMap(({ puts = [], deletes = [] }) => [...puts, ...deletes].map(({ type }) => type));
}

async function elapsed(ms: number): Promise<void> {
  await new Promise<void>((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
