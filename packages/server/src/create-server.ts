import { createBodyEncoder } from "@xdskit/envoy-api/internal";
import type { AccessFunction, AccessRules, Commit, NodeMapping, Resource } from "@xdskit/protocol";
import { at, problemsIn } from "@xdskit/protocol/internal";
import type { NodeAnswer } from "./admin/answers/nodes.ts";
import type { ProgressAnswer } from "./admin/answers/progress.ts";
import { Describer } from "./admin/describe.ts";
import { describeProgress, NODES_NAMED } from "./admin/describe-progress.ts";
import { progressOfAll } from "./admin/merge/progress.ts";
import { everyNode, findNodes } from "./admin/routes/nodes.ts";
import { type AdminServer, createAdminSources } from "./admin/server.ts";
import { type CheckedOptions, checkOptions } from "./check-options.ts";
import { closeInStages } from "./close-in-stages.ts";
import type { CommitRules } from "./commit-check.ts";
import { checkDeployment } from "./deployment-options.ts";
import { argumentsError, listenError, optionsError, type ResourceProblem, XdsError } from "./error.ts";
import { checkFileOutput } from "./file-output.ts";
import type { Hub } from "./hub/hub.ts";
import type { ServerEvents } from "./hub/listeners.ts";
import { HubTarget } from "./hub-target.ts";
import type { NodePastRecorder } from "./ledger/node-past-recorder.ts";
import {
  type Authorship,
  ownPublication,
  type Publication,
  type PublishResult,
  type RollbackOptions,
} from "./ledger/publication.ts";
import type { Publisher } from "./ledger/publisher.ts";
import type { LoadReporting } from "./load/load-reporting.ts";
import type {
  LedgerStatus,
  ManagementServer,
  PrimaryServer,
  SourceReport,
  StartedServer,
} from "./management-server.ts";
import { consoleLog } from "./observe/console-log.ts";
import { createDeliveryTimes } from "./observe/deliveries.ts";
import { Fleet } from "./observe/fleet.ts";
import { guardLog } from "./observe/guarded-log.ts";
import { attachLog, logFaults } from "./observe/log.ts";
import type { SourceStatus } from "./observe/source-status.ts";
import { createTelemetry } from "./observe/telemetry.ts";
import { drainOptions, loadReports } from "./option-rules.ts";
import type { DeploymentOptions, LoadReportOptions, ManagementServerOptions } from "./options.ts";
import { ProgramChanges } from "./program-changes.ts";
import { aPublication, ofDecision, ofRollbackTo } from "./publication-rules.ts";
import { createAdmin, createServerMetrics } from "./server-admin.ts";
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
import { createTransports } from "./server-transports.ts";
import { createServerView } from "./server-view.ts";
import { createFeed, createLink, createPool, numbersOf, SharedMemory, type Sharing } from "./server-workers.ts";
import { allSessions, ownSessions } from "./sessions.ts";
import type { ChangeResult, ResourceList, Update } from "./state/resource-layers.ts";
import type { FileExporter } from "./transport/files/exporter.ts";
import type { GrpcTransport } from "./transport/grpc/server.ts";
import { type BoundAddress, formatAddress } from "./transport/transport.ts";
import type { TrustHolds } from "./trust-holds.ts";
import { untilEnded } from "./until-ended.ts";
import type { WorkerPool, WorkersOptions } from "./workers/pool.ts";
import type { WorkerLink } from "./workers/worker-link.ts";

/** Default of the time over which a drain ends the streams, in milliseconds. */
const DRAIN_GRACE_MS = 10_000;
/** Time that connections have to close by themselves after the last stream ended, in milliseconds. */
const LEAVE_WITHIN_MS = 1_000;

/**
 * Creates a server; it does nothing until `listen`. Throws an `XdsError` (OPTIONS_INVALID) that names every mistake.
 */
export function createServer(options: ManagementServerOptions = {}): ManagementServer {
  return new WiredServer(checkOptions(options));
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
  readonly #transports: readonly GrpcTransport[];
  readonly #admin: AdminServer | undefined;
  readonly #exporters: readonly FileExporter[];
  readonly #ledger: ServerLedger | undefined;
  readonly #pool: WorkerPool | undefined;
  readonly #link: WorkerLink | undefined;
  readonly #trustHolds: TrustHolds | undefined;
  readonly #nodePast: NodePastRecorder;
  readonly #changes: ProgramChanges;
  readonly #nodeSources: Parameters<typeof findNodes>[0];
  #source: SourceStatus = { state: "loading", problems: [], since: new Date() };
  #address: BoundAddress | undefined;
  #state: "new" | "starting" | "started" | "closed" = "new";
  #starting: Promise<StartedServer> | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: CheckedOptions, sharing?: Sharing) {
    const { api, log } = options;
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
    const rulesContext = rulesContextOf(options, (fault) => this.#hub.report(fault));
    const traces = createChangeTraces(options, hub);
    this.#changes = new ProgramChanges(options, { hub, traces, rulesContext });
    const address = (): string | undefined => (this.#address === undefined ? undefined : formatAddress(this.#address));
    const { numbers, told } = numbersOf(sharing, () => this.#ledger, options.ledger !== undefined);
    const { ofPrimary, ofWorker } = memory;
    const feed = ofPrimary && createFeed(hub, ofPrimary, () => numbers?.());
    const target = new HubTarget(hub, rulesContext, feed);
    const streams = allStreams(hub.view, () => this.#pool);
    const own = ownSessions(hub, () => this.#transports);
    const sessions = allSessions(own, () => this.#pool);
    const ledgerParts = { hub, rulesContext, traces, target, streams, sessions, address };
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
    this.#trustHolds = createTrustHolds(options, hub);
    const [loads, trustHolds] = [this.#loads, this.#trustHolds];
    const isChangeDue = (): boolean => this.#hub.isChangeDue;
    const handedAt = start?.addresses;
    const transportParts = { loads, clientStatus, trustHolds, isChangeDue, handedAt };
    // The workers of a primary have them.
    const isServing = this.#pool === undefined;
    this.#transports = isServing ? createTransports(options, transportParts) : [];
    const view = createServerView({
      options,
      hub: this.#hub,
      encoder,
      fleet,
      nodePast: this.#nodePast,
      loads,
      address,
      source: () => this.#source,
      ledger: this.#ledger,
      numbers,
      workers: this.#pool,
      worker: start?.worker,
      placed: streams,
      trustHolds,
      certificates: createServedCertificates(options, hub, {
        listeners: () => this.#transports.map(({ certificates }) => certificates),
        admin: () => this.#admin?.certificates,
        hasWorkers: !isServing,
      }),
    });
    if (sharing?.kind === "worker" && ofWorker !== undefined) {
      const metrics = createServerMetrics({ view, telemetry, deliveries });
      this.#link = createLink(sharing, {
        ...{ hub, target, numbers: told, history: ofWorker, nodePast: this.#nodePast, clientStatus },
        sources: createAdminSources({ view, deliveries, metrics }),
        accept: (listener, socket) => this.#transports[listener]?.take(socket),
        sessions: own,
        drain: async (graceMs) => await this.drain({ graceMs }),
      });
    }
    this.#admin = createAdmin(options, hub, { view, telemetry, deliveries });
    this.#nodeSources = { view, deliveries, describe: new Describer(deliveries, view) };
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
    this.#state = "starting";
    this.#starting = this.#start();
    try {
      return await this.#starting;
    } catch (cause) {
      const wasClosed = this.#closing !== undefined;
      await this.close();
      if (wasClosed) throw closedMeanwhile();
      if (cause instanceof XdsError) throw cause;
      throw listenError("for the admin API", cause);
    }
  }

  /** Looks after each step whether it is still wanted, as `close` waits for it. */
  async #start(): Promise<StartedServer> {
    await this.#ledger?.open();
    this.#requireWanted();
    await openNodePast(this.#nodePast, { hub: this.#hub, ledger: this.#ledger });
    // First, because a server that cannot write its files must not accept clients.
    for (const exporter of this.#exporters) {
      this.#requireWanted();
      await exporter.start();
    }
    this.#requireWanted();
    const addresses = await this.#startTransports();
    this.#requireWanted();
    const [address] = addresses;
    if (address === undefined) throw new XdsError("LISTEN_FAILED", "there is no address to listen at");
    this.#address = address;
    const adminAddress = await this.#admin?.start();
    this.#requireWanted();
    this.#state = "started";
    this.#hub.listening();
    this.#link?.run();
    return { address, addresses, ...(adminAddress === undefined ? {} : { adminAddress }) };
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

  set(layer: string, resources: ResourceList): ChangeResult {
    this.#requireOpen();
    this.#requireNoLedger();
    return this.#changes.set(layer, resources);
  }

  update(change: (update: Update) => unknown): ChangeResult {
    this.#requireOpen();
    this.#requireNoLedger();
    return this.#changes.update(change);
  }

  check(): readonly ResourceProblem[] {
    return this.#changes.check();
  }

  *nodes(): Iterable<NodeAnswer> {
    for (const describe of findNodes(this.#nodeSources, everyNode)) if (describe !== undefined) yield describe();
  }

  commit(given: Commit): number {
    this.#requireOpen();
    this.#requireNoLedger();
    return this.#changes.commit(given);
  }

  async publish(publication: Publication): Promise<PublishResult> {
    requireArguments("publish", [["publication", aPublication]], [publication]);
    const own = ownPublication(publication);
    return (await this.#openLedger()).publish(own);
  }

  prepare(resources: Iterable<Resource>): void {
    this.#ledger?.prepare(resources);
  }

  async approve(number: number, by?: Authorship): Promise<PublishResult> {
    requireArguments("approve", ofDecision, [number, by]);
    return (await this.#openLedger()).approve(number, by);
  }

  async reject(number: number, by?: Authorship): Promise<PublishResult> {
    requireArguments("reject", ofDecision, [number, by]);
    return (await this.#openLedger()).reject(number, by);
  }

  async rollback(to: number, options?: RollbackOptions): Promise<PublishResult> {
    requireArguments("rollback", ofRollbackTo, [to, options]);
    return (await this.#openLedger()).rollback(to, options);
  }

  async whenDeployed(revision: number, options: DeploymentOptions = {}): Promise<ProgressAnswer> {
    this.#requireOpen();
    const head = this.#ledger?.publisher?.number ?? this.revision;
    const { isWanted, minNodes } = checkDeployment(revision, head, options);
    if (this.#ledger?.publisher?.held?.number === revision)
      throw new XdsError("REVISION_UNKNOWN", `${revision} is held: no node can have it`);
    const { deployments } = this.#hub;
    const { describe, view } = this.#nodeSources;
    const inForce = view.revisionOf(revision) ?? this.revision;
    const describeOwn = (): ProgressAnswer => {
      const progress = { ...deployments.progress(inForce, { isWanted }), revision };
      return describeProgress(progress, { head: view.head(), minNodes, describe });
    };
    const pool = this.#pool;
    return await untilEnded(options, async (signal) => {
      if (pool !== undefined) {
        const wait = { nodes: options.nodes, named: NODES_NAMED, minNodes, waitMs: Number.POSITIVE_INFINITY, signal };
        return await progressOfAll(pool, describeOwn, { number: revision, ...wait });
      }
      await deployments.whenSettled(inForce, { isWanted, minNodes }, signal);
      return describeOwn();
    });
  }

  setNodeMapping(nodeMapping: NodeMapping): number {
    return this.#replace({ nodeMapping });
  }

  setAccess(access: AccessRules | AccessFunction | undefined): number {
    return this.#replace({ access: access ?? "default" });
  }

  setLoadReporting(changes: LoadReportOptions): void {
    this.#requireOpen();
    const problems = at("loadReports", loadReports(changes));
    if (problems.length > 0) throw optionsError(problems);
    this.#loads.configure(changes);
  }

  setClientOverrides(clients: ManagementServerOptions["clientOverrides"] = []): void {
    this.#replace({ clientOverrides: clients });
  }

  #replace(rules: CommitRules): number {
    this.#requireOpen();
    this.#requireNoLedger();
    return this.#changes.replace(rules);
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
    requireArguments("drain", [["options", drainOptions]], [options]);
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

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#state = "closed";
    this.#pool?.close();
    await this.#starting?.catch(() => undefined); // its caller is told
    await closeInStages([
      this.#exporters.map((exporter) => () => exporter.close()),
      [() => this.#nodePast.close()],
      [() => this.#ledger?.close()],
      [() => this.#hub.close()],
      [...this.#transports.map((transport) => () => transport.stop()), () => this.#admin?.close()],
    ]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #requireWanted(): void {
    if (this.#closing !== undefined) throw closedMeanwhile();
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
}

/** Throws an `XdsError` (OPTIONS_INVALID) with every mistake in the arguments of a method. */
function requireArguments(method: string, ...[rules, given]: Parameters<typeof problemsIn>): void {
  const problems = problemsIn(rules, given);
  if (problems.length > 0) throw argumentsError(method, problems);
}

async function elapsed(ms: number): Promise<void> {
  await new Promise<void>((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}

function closedMeanwhile(): XdsError {
  return new XdsError("SERVER_STATE", "the server was closed while it started");
}
