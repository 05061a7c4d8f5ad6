import { formatTypeUrl } from "@xdskit/protocol";
import type { Demanded, DemandId, DemandOutcome, MeshChanges, MeshEffect, MeshRoot } from "@xdskit/protocol/internal";
import { aFunction, aName, fields, isObject, oneOf, type RulesOf, rule } from "@xdskit/protocol/internal";
import { argumentCheck, aSignal, aWait } from "../argument.ts";
import { XdsClientError } from "../error.ts";
import { kindOf } from "../resource/kind-of.ts";
import type { ResourceViews } from "../resource/xds-resource.ts";
import { onceAborted } from "../watch/abort.ts";
import type { KeepAlive } from "../watch/keep-alive.ts";
import { Readers } from "../watch/readers.ts";
import type { MeshReport } from "./mesh-report.ts";
import { type MeshGround, type MeshListener, MeshRunner } from "./mesh-runner.ts";
import { NodeStore } from "./node-store.ts";
import { type MeshResource, type MeshSnapshot, Snapshot } from "./snapshot.ts";
import type { MeshSource } from "./static-source.ts";

/** Options of a mesh. */
export interface MeshOptions {
  /** Closes the mesh. */
  readonly signal?: AbortSignal | undefined;
  /**
   * `complete` publishes a snapshot only when everything it refers to is resolved, so that a reader never sees half a
   * change; `every` publishes after each change, as a proxy applies it.
   * @default "complete" for resolved names, "every" for all resources
   */
  readonly snapshots?: "complete" | "every";
  /**
   * Whether Listeners wait until the first Clusters are warm, as in Envoy (C-WRM-13), or are requested at once. Only
   * for a mesh of all resources.
   * @default "after-clusters"
   */
  readonly listeners?: "after-clusters" | "at-once";
  /** Called with each event of the mesh, for logs. Its exceptions are rethrown as uncaught. */
  readonly onReport?: (report: MeshReport) => void;
}

export const meshRules: RulesOf<MeshOptions> = {
  signal: aSignal,
  snapshots: oneOf("complete", "every"),
  listeners: oneOf("after-clusters", "at-once"),
  onReport: aFunction,
};

/** How long a request waits for an on-demand resource. */
export interface DemandOptions {
  /**
   * In milliseconds; 0: no timeout.
   * @default 5_000, or the timeout of the filter
   */
  readonly timeoutMs?: number;
  /** Cancels the wait; it rejects with the abort reason. */
  readonly signal?: AbortSignal | undefined;
}

/** How long a request waits for an on-demand Cluster, and which resource names its source. */
export interface DemandClusterOptions extends DemandOptions {
  /**
   * The resource with the filter that names the source of on-demand Clusters (`OnDemandCds.source`, `odcds_config` of a
   * TcpProxy): the Listener, or the RouteConfiguration, VirtualHost or TypedExtensionConfig that overrides it. The
   * first of several filters counts; a resource without such a filter has no on-demand Clusters.
   * @default the source of all Clusters
   */
  readonly by?: Pick<MeshResource, "id">;
}

const demandRules: RulesOf<DemandOptions> = { timeoutMs: aWait, signal: aSignal };

/**
 * Listeners and everything they refer to: routes, clusters, endpoints and secrets, each from its own source, warmed and
 * kept consistent. It includes the static resources of an Envoy bootstrap (`STATIC_SOURCE`). Iterate it, once, for
 * snapshots: a slow reader gets only the newest.
 */
export interface Mesh extends AsyncIterableIterator<MeshSnapshot>, AsyncDisposable {
  /** The newest snapshot; undefined before the first. */
  readonly current: MeshSnapshot | undefined;
  /**
   * The first complete snapshot, or for a proxy the one at the end of startup. Rejects if the mesh is closed before.
   */
  readonly ready: Promise<MeshSnapshot>;
  /**
   * Requests a Cluster that no resource refers to (C-ODC-01). It stays subscribed until the server says that it does
   * not exist.
   */
  demandCluster(name: string, options?: DemandClusterOptions): Promise<DemandOutcome>;
  /** Requests the virtual host of a domain in an on-demand RouteConfiguration of the snapshot (C-VHD-02). */
  demandHost(route: string, host: string, options?: DemandOptions): Promise<DemandOutcome>;
  /** Requests the on-demand routes of a scope in the snapshot (C-ODC-03). */
  demandScope(scope: string, options?: DemandOptions): Promise<DemandOutcome>;
  /** Closes the mesh and unsubscribes what only this mesh used. */
  close(): void;
}

const demandClusterRules: RulesOf<DemandClusterOptions> = {
  ...demandRules,
  by: rule("a resource of a snapshot", (value) => isObject(value) && typeof value["id"] === "string"),
};

const checkDemandCluster = argumentCheck("demandCluster", { name: aName, options: fields(demandClusterRules) });
const checkDemandHost = argumentCheck("demandHost", { route: aName, host: aName, options: fields(demandRules) });
const checkDemandScope = argumentCheck("demandScope", { scope: aName, options: fields(demandRules) });

/** What a mesh needs. */
export interface MeshSetting {
  readonly ground: MeshGround;
  readonly views: ResourceViews;
  readonly vigil: KeepAlive;
  readonly options: MeshOptions;
  readonly mode: "proxy" | "non-proxy";
  readonly roots: readonly Root[];
  /** The source of on-demand Clusters by name; undefined: there is none. */
  readonly clusterSource: (name: string) => MeshSource | undefined;
  /** Called once, when the mesh is closed by any means. */
  readonly closed: () => void;
}

/** A resource, or all of a type, where a mesh begins. */
export type Root = Omit<MeshRoot, "root" | "source" | "timeoutMs"> & { readonly source: MeshSource };

/** A caller that waits for a demand. */
interface Waiting {
  readonly resolve: (outcome: DemandOutcome) => void;
  readonly reject: (reason: Error) => void;
}

const CLUSTER = formatTypeUrl("envoy.config.cluster.v3.Cluster");

/** The implementation of `Mesh`. */
export class OpenMesh implements Mesh, MeshListener {
  readonly runner: MeshRunner;
  readonly #setting: MeshSetting;
  readonly #store: NodeStore;
  readonly #readers: Readers<MeshSnapshot>;
  readonly #demands = new Map<DemandId, Waiting>();
  readonly #ready: Promise<MeshSnapshot>;
  #forgetSignal: (() => void) | undefined;
  #current: MeshSnapshot | undefined;
  #resolveReady: (snapshot: MeshSnapshot) => void = () => {};
  #rejectReady: (error: XdsClientError) => void = () => {};
  #isAwaited = false;
  #isStarted = false;
  #isComplete = false;
  #isNews = false;
  #isTaking = false;
  #isUnread = false;
  #isClosed = false;
  #revision = 0;
  #lastDemand = 0;

  constructor(setting: MeshSetting) {
    this.#setting = setting;
    this.#readers = new Readers(setting.vigil);
    const { api } = setting.ground;
    this.#store = new NodeStore((type) => kindOf(type, api));
    this.#ready = new Promise((resolve, reject) => {
      this.#resolveReady = resolve;
      this.#rejectReady = reject;
    });
    // A program that never reads `ready` need not handle its rejection.
    this.#ready.catch(() => {});
    this.runner = new MeshRunner(setting.ground, { followsClusters: setting.mode === "non-proxy" }, this);
    const { signal } = setting.options;
    if (signal !== undefined) this.#forgetSignal = onceAborted(signal, () => this.close());
  }

  /** Subscribes to the roots. */
  start(): void {
    if (this.#setting.options.signal?.aborted === true) {
      this.close();
      return;
    }
    for (const [root, { source, ...rest }] of this.#setting.roots.entries()) {
      const timeoutMs = source.initialFetchTimeoutMs;
      this.runner.on({
        kind: "root-added",
        root: { ...rest, root, source: this.runner.sources.add(source), timeoutMs },
      });
    }
  }

  get current(): MeshSnapshot | undefined {
    return this.#current;
  }

  /** Reading it keeps the process alive until it settles. */
  get ready(): Promise<MeshSnapshot> {
    if (this.#isAwaited) return this.#ready;
    this.#isAwaited = true;
    const { vigil } = this.#setting;
    vigil.begin();
    const settled = (): void => vigil.end();
    this.#ready.then(settled, settled);
    return this.#ready;
  }

  next(): Promise<IteratorResult<MeshSnapshot, undefined>> {
    const snapshot = this.#isUnread ? this.#current : undefined;
    if (snapshot !== undefined) {
      this.#isUnread = false;
      return Promise.resolve({ done: false, value: snapshot });
    }
    if (this.#isClosed) return Promise.resolve({ done: true, value: undefined });
    return this.#readers.wait();
  }

  return(): Promise<IteratorResult<MeshSnapshot, undefined>> {
    this.close();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.close();
    return Promise.resolve();
  }

  async demandCluster(name: string, options: DemandClusterOptions = {}): Promise<DemandOutcome> {
    checkDemandCluster(name, options);
    if (options.by !== undefined) return this.#demand({ kind: "cluster-by", by: options.by.id, name }, options);
    const source = this.#setting.clusterSource(name);
    if (source === undefined) return "absent";
    return this.#demand({ kind: "cluster", source: this.runner.sources.add(source), type: CLUSTER, name }, options);
  }

  async demandHost(route: string, host: string, options: DemandOptions = {}): Promise<DemandOutcome> {
    checkDemandHost(route, host, options);
    const id = this.#current?.routes.get(route)?.id;
    return id === undefined ? "absent" : this.#demand({ kind: "virtual-host", route: id, host }, options);
  }

  async demandScope(scope: string, options: DemandOptions = {}): Promise<DemandOutcome> {
    checkDemandScope(scope, options);
    const id = this.#current?.scopedRoutes.get(scope)?.id;
    return id === undefined ? "absent" : this.#demand({ kind: "scope", scope: id }, options);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#isUnread = false;
    this.#forgetSignal?.();
    this.runner.close();
    const closed = new XdsClientError("CLOSED", "the mesh was closed");
    this.#rejectReady(closed);
    for (const { reject } of this.#demands.values()) reject(closed);
    this.#demands.clear();
    this.#readers.end();
    this.#setting.closed();
  }

  changed(): void {
    this.#takeSoon();
  }

  started(): void {
    this.#isStarted = true;
    this.#takeSoon();
  }

  demandEnded({ demand, outcome }: Extract<MeshEffect, { kind: "demand-ended" }>): void {
    // The snapshot contains the demanded resource when the caller continues.
    this.#takeSoon();
    const waiting = this.#demands.get(demand);
    this.#demands.delete(demand);
    queueMicrotask(() => waiting?.resolve(outcome));
  }

  async #demand(what: Demanded, { timeoutMs, signal }: DemandOptions): Promise<DemandOutcome> {
    signal?.throwIfAborted();
    if (this.#isClosed) throw new XdsClientError("CLOSED", "the mesh was closed");
    const demand = ++this.#lastDemand;
    const { vigil } = this.#setting;
    vigil.begin();
    let forgetSignal = (): void => {};
    try {
      return await new Promise<DemandOutcome>((resolve, reject) => {
        if (signal !== undefined) forgetSignal = onceAborted(signal, reject);
        this.#demands.set(demand, { resolve, reject });
        this.runner.on({ kind: "demanded", demand, what, timeoutMs });
      });
    } finally {
      vigil.end();
      forgetSignal();
      if (this.#demands.delete(demand)) this.runner.on({ kind: "demand-withdrawn", demand });
    }
  }

  /** Takes a snapshot in a microtask, so that all changes of one response are one snapshot. */
  #takeSoon(): void {
    if (this.#isTaking) return;
    this.#isTaking = true;
    queueMicrotask(() => {
      this.#isTaking = false;
      if (!this.#isClosed) this.#take();
    });
  }

  #take(): void {
    const changes = this.runner.takeChanges();
    if (changes !== undefined) this.#note(changes);
    if (this.#isNews && (this.#isComplete || this.#takesEvery)) {
      this.#isNews = false;
      const { views } = this.#setting;
      const nodes = this.#store.handOut();
      this.#current = new Snapshot({ nodes, views, revision: ++this.#revision, isComplete: this.#isComplete });
      this.#isUnread = true;
      this.#serve();
    }
    const isReady = this.#setting.mode === "proxy" ? this.#isStarted : this.#isComplete;
    if (isReady && this.#current !== undefined) this.#resolveReady(this.#current);
  }

  #note({ changed, gone, isComplete }: MeshChanges): void {
    for (const id of gone) this.#store.delete(id);
    for (const node of changed) this.#store.put(node);
    this.#isComplete = isComplete;
    this.#isNews = true;
  }

  get #takesEvery(): boolean {
    const { options, mode } = this.#setting;
    return (options.snapshots ?? (mode === "proxy" ? "every" : "complete")) === "every";
  }

  #serve(): void {
    if (this.#readers.isEmpty || this.#current === undefined) return;
    this.#isUnread = false;
    this.#readers.give(this.#current);
  }
}
