import { type BodyEncoder, contentDigest, createBodyEncoder, type EnvoyApi } from "@xdskit/envoy-api";
import type { Placement, Remembered, Transaction } from "@xdskit/protocol";
import { type AdminServer, createAdminServer } from "./admin/server.ts";
import type { AdminView } from "./admin/view.ts";
import { XdsError } from "./error.ts";
import { Hub } from "./hub/hub.ts";
import type { ServerEvents } from "./hub/listeners.ts";
import type { Telemetry } from "./hub/port.ts";
import { createDeliveryTimes } from "./observe/deliveries.ts";
import { attachLog } from "./observe/log.ts";
import { createMetrics } from "./observe/metrics.ts";
import type { SourceProblem, SourceStatus } from "./observe/source-status.ts";
import { createTelemetry, type ObservedTelemetry } from "./observe/telemetry.ts";
import { type AdminAddress, type CheckedOptions, checkOptions, type ManagementServerOptions } from "./options.ts";
import { createServerView } from "./server-view.ts";
import { FileHistory } from "./store/file-history.ts";
import { GrpcTransport } from "./transport/grpc/server.ts";
import { createRestServer } from "./transport/rest/services.ts";
import type { BoundAddress, Transport } from "./transport/transport.ts";

/** How long streams are sent away for, unless the caller says otherwise. */
const DRAIN_GRACE_MS = 10_000;
/** After the last stream was sent away, connections have so long to close by themselves. */
const LEAVE_WITHIN_MS = 1_000;

/** Where a server was started. */
export interface StartedServer {
  readonly address: BoundAddress;
  /** Undefined without an admin API. */
  readonly adminAddress?: BoundAddress;
}

/** What a source says of itself. */
export interface SourceReport {
  readonly state: SourceStatus["state"];
  readonly problems: readonly SourceProblem[];
  /** Since when. Default: now. */
  readonly since?: Date;
}

/** An xDS management server: resources go in by transactions, clients are served over gRPC. */
export interface ManagementServer extends AsyncDisposable {
  /** Listens. Throws an `XdsError`: LISTEN_FAILED, TLS_INVALID, or SERVER_STATE if it was started before. */
  start(): Promise<StartedServer>;
  /**
   * Makes the changes take effect whole, and returns the revision they got. The first commit, even an empty one, makes the
   * server ready. Clients are told in the slices of the event loop that follow. May be called before `start`.
   */
  commit(transaction: Transaction): number;
  /** Places every node anew. */
  place(placement: Placement): void;
  /** What the admin API and readiness say about where the resources come from. */
  reportSource(report: SourceReport): void;
  /**
   * Calls the listener for every event of a kind, until the returned function is called. A listener that throws misses
   * nothing else; for `stream-opened` and `request-understood` it ends that stream, and no other (S-OBS-03).
   */
  on<K extends keyof ServerEvents>(kind: K, listener: (event: ServerEvents[K]) => void): () => void;
  /**
   * Takes no new clients, tells those there are to go (GOAWAY), ends their streams with UNAVAILABLE spread over the grace
   * (10 s unless given), then closes (S-GRP-06).
   */
  drain(options?: { readonly graceMs?: number }): Promise<void>;
  /** Closes everything at once. May be called twice. */
  close(): Promise<void>;
  readonly revision: number;
}

/** Makes a server; nothing runs until `start`. Throws an `XdsError` (OPTIONS_INVALID) that names every mistake. */
export function createManagementServer(options: ManagementServerOptions): ManagementServer {
  return new WiredServer(checkOptions(options));
}

class WiredServer implements ManagementServer {
  readonly #hub: Hub;
  readonly #transport: Transport;
  readonly #admin: AdminServer | undefined;
  #source: SourceStatus = { state: "loading", problems: [], since: new Date() };
  #address: BoundAddress | undefined;
  #state: "new" | "started" | "closed" = "new";

  constructor(options: CheckedOptions) {
    const { api, limits, tls, listen, log } = options;
    const telemetry = createTelemetry();
    if (log !== undefined) attachLog(telemetry, log);
    const encoder = createBodyEncoder({ controlPlane: options.controlPlane });
    this.#hub = createHub(options, encoder, telemetry);
    const { rest, controlPlane } = options;
    const restServer = createRestServer({ api, controlPlane, rest, maxRequestBytes: limits.maxRestRequestBytes });
    this.#transport = new GrpcTransport({ api, ...listen, tls, limits, rest: restServer });
    const view = createServerView({
      options,
      hub: this.#hub,
      encoder,
      address: () => (this.#address === undefined ? undefined : formatAddress(this.#address)),
      source: () => this.#source,
    });
    this.#admin = options.admin === false ? undefined : this.#createAdmin(options.admin, view, telemetry);
    if (options.serveEmpty) this.#hub.commit({ changes: [] });
  }

  get revision(): number {
    return this.#hub.revision;
  }

  async start(): Promise<StartedServer> {
    if (this.#state !== "new")
      throw new XdsError("SERVER_STATE", `expected a new server, got one that is ${this.#state}`);
    this.#state = "started";
    try {
      this.#address = await this.#transport.start(this.#hub);
      const adminAddress = await this.#admin?.start();
      return { address: this.#address, ...(adminAddress === undefined ? {} : { adminAddress }) };
    } catch (cause) {
      await this.close();
      if (cause instanceof XdsError) throw cause;
      throw new XdsError("LISTEN_FAILED", "cannot listen for the admin API", { cause });
    }
  }

  commit(transaction: Transaction): number {
    return this.#hub.commit(transaction);
  }

  place(placement: Placement): void {
    this.#hub.place(placement);
  }

  reportSource({ state, problems, since = new Date() }: SourceReport): void {
    this.#source = { state, problems, since };
  }

  on<K extends keyof ServerEvents>(kind: K, listener: (event: ServerEvents[K]) => void): () => void {
    return this.#hub.listeners.on(kind, listener);
  }

  async drain({ graceMs = DRAIN_GRACE_MS }: { readonly graceMs?: number } = {}): Promise<void> {
    if (this.#state === "started") {
      this.#transport.drain();
      await this.#hub.drain(graceMs);
      await Promise.race([this.#transport.whenIdle(), elapsed(LEAVE_WITHIN_MS)]);
    }
    await this.close();
  }

  async close(): Promise<void> {
    if (this.#state === "closed") return;
    this.#state = "closed";
    this.#hub.close();
    await Promise.all([this.#transport.stop(), this.#admin?.close()]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #createAdmin(address: Required<AdminAddress>, view: AdminView, telemetry: ObservedTelemetry): AdminServer {
    const deliveries = createDeliveryTimes(telemetry);
    const metrics = createMetrics({
      telemetry,
      deliveries,
      gauges: view,
      types: view.types.types,
      version: view.version,
    });
    return createAdminServer({
      ...address,
      view,
      metrics,
      deliveries,
      onFault: (path, error) => {
        this.#hub.report({ kind: "invariant-broken", stream: undefined, during: `admin ${path}`, error });
      },
    });
  }
}

function createHub(options: CheckedOptions, encoder: BodyEncoder, telemetry: Telemetry): Hub {
  const { api, placement, requireNode, insecure, limits, edition, dialect, stateDir } = options;
  const memory = stateDir === undefined ? undefined : openHistory(stateDir, api, () => hub.clusters(), telemetry);
  const hub: Hub = new Hub({
    digest: contentDigest,
    traits: (type) => api.traits(type),
    placement,
    requireNode,
    insecure,
    ...(edition === undefined ? {} : { edition }),
    ...(dialect === undefined ? {} : { dialect }),
    encoder,
    limits,
    telemetry,
    ...(memory !== undefined && { memory }),
  });
  return hub;
}

function openHistory(
  directory: string,
  api: EnvoyApi,
  snapshot: () => Iterable<Remembered>,
  telemetry: Telemetry,
): FileHistory {
  const history = new FileHistory({
    directory,
    digest: contentDigest,
    holdsSecret: ({ type, bytes }) => api.holdsSecret(type, bytes),
    snapshot,
    onProblem: (message) => telemetry.report({ kind: "history-problem", directory, message }, new Date()),
  });
  const { restored } = history;
  if (restored.length > 0) {
    const clusters = new Set(
      restored.flatMap((one) => (one.kind === "changed" ? one.puts.map(({ name }) => name) : [])),
    );
    const versions = restored.filter((one) => one.kind === "served").length;
    telemetry.report({ kind: "history-restored", directory, clusters: clusters.size, versions }, new Date());
  }
  return history;
}

function formatAddress({ host, port }: BoundAddress): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

async function elapsed(ms: number): Promise<void> {
  await new Promise<void>((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
