import { contentDigest, createBodyEncoder } from "@xdskit/envoy-api";
import type { Placement, Transaction } from "@xdskit/protocol";
import { XdsError } from "./error.ts";
import { Hub } from "./hub/hub.ts";
import type { ServerEvents } from "./hub/listeners.ts";
import type { SourceProblem, SourceStatus } from "./observe/source-status.ts";
import { createTelemetry } from "./observe/telemetry.ts";
import { type CheckedOptions, checkOptions, type ManagementServerOptions } from "./options.ts";
import { createServerView } from "./server-view.ts";
import { GrpcTransport } from "./transport/grpc/server.ts";
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
  #source: SourceStatus = { state: "loading", problems: [], since: new Date() };
  #address: BoundAddress | undefined;
  #state: "new" | "started" | "closed" = "new";

  constructor(options: CheckedOptions) {
    const { api, limits, tls, listen } = options;
    const encoder = createBodyEncoder({ controlPlane: options.controlPlane });
    const telemetry = createTelemetry();
    this.#hub = new Hub({
      digest: contentDigest,
      traits: (type) => api.traits(type),
      placement: options.placement,
      requireNode: options.requireNode,
      insecure: options.insecure,
      ...(options.edition === undefined ? {} : { edition: options.edition }),
      ...(options.dialect === undefined ? {} : { dialect: options.dialect }),
      encoder,
      limits,
      telemetry,
    });
    createServerView({
      options,
      hub: this.#hub,
      encoder,
      address: () => (this.#address === undefined ? undefined : `${this.#address.host}:${this.#address.port}`),
      source: () => this.#source,
    });
    this.#transport = new GrpcTransport({ api, ...listen, tls, limits });
    if (options.serveEmpty) this.#hub.becomeReady();
  }

  get revision(): number {
    return this.#hub.revision;
  }

  async start(): Promise<StartedServer> {
    if (this.#state !== "new")
      throw new XdsError("SERVER_STATE", `expected a new server, got one that is ${this.#state}`);
    this.#state = "started";
    this.#address = await this.#transport.start(this.#hub);
    return { address: this.#address };
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
    await this.#transport.stop();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

async function elapsed(ms: number): Promise<void> {
  await new Promise<void>((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
