import type { Demanded, DemandId, DemandOutcome, MeshChanges, MeshEffect, MeshRoot } from "@xdskit/protocol";
import { formatTypeUrl } from "@xdskit/protocol";
import {
  aFunction,
  aName,
  argumentCheck,
  aSignal,
  aWait,
  fields,
  isObject,
  oneOf,
  type RulesOf,
  rule,
} from "../argument.ts";
import { XdsClientError } from "../error.ts";
import { kindOf } from "../resource/kind-of.ts";
import type { ResourceViews } from "../resource/xds-resource.ts";
import { onceAborted } from "../watch/abort.ts";
import { Readers } from "../watch/readers.ts";
import type { Vigil } from "../watch/vigil.ts";
import type { MeshReport } from "./mesh-report.ts";
import { type MeshGround, type MeshListener, MeshRunner } from "./mesh-runner.ts";
import { NodeStore } from "./node-store.ts";
import { type MeshResource, type MeshSnapshot, Snapshot } from "./snapshot.ts";
import type { MeshSource } from "./static-source.ts";

/** How a mesh is told of. */
export interface MeshOptions {
  /** Closes the mesh. */
  readonly signal?: AbortSignal;
  /**
   * `complete`: a snapshot only when everything that it refers to was answered, so that nobody sees half a change; `every`: after each change, as
   * a proxy has it. `complete` of what was resolved by name, `every` of all there is, unless set.
   */
  readonly snapshots?: "complete" | "every";
  /**
   * Of all there is: whether Listeners wait until the first Clusters can be used, as those of an Envoy do (C-WRM-13), which is the default, or are asked
   * for at once.
   */
  readonly listeners?: "after-clusters" | "at-once";
  /** Called with what happens in it, for logs. What it throws is thrown as one that nobody catches. */
  readonly onReport?: (report: MeshReport) => void;
}

export const meshRules: RulesOf<MeshOptions> = {
  signal: aSignal,
  snapshots: oneOf("complete", "every"),
  listeners: oneOf("after-clusters", "at-once"),
  onReport: aFunction,
};

/** How long a request waits for something that it needs. */
export interface DemandOptions {
  /** In milliseconds; 5,000 unless set or a filter says otherwise, 0: as long as it takes. */
  readonly timeoutMs?: number;
  /** Gives up, with its reason. */
  readonly signal?: AbortSignal;
}

/** How a request waits for a Cluster, and who says where that comes from. */
export interface DemandClusterOptions extends DemandOptions {
  /**
   * What says where Clusters on demand come from, in a filter that the request is at (`OnDemandCds.source`, `odcds_config` of a TcpProxy): the Listener, or the
   * RouteConfiguration, VirtualHost or TypedExtensionConfig that says otherwise; of several filters in one the first counts. One that says nothing
   * has no such Clusters. Unless given, they come from where all Clusters do.
   */
  readonly by?: Pick<MeshResource, "id">;
}

const demandRules: RulesOf<DemandOptions> = { timeoutMs: aWait, signal: aSignal };

/**
 * Listeners with all that they lead to: routes, clusters, endpoints, secrets, each from where it says; followed, warmed and kept in step. What stands in an
 * Envoy bootstrap is part of it (`STATIC_SOURCE`).
 * Iterate it, once, for snapshots: a slow reader misses those that were overtaken.
 */
export interface Mesh extends AsyncIterableIterator<MeshSnapshot>, AsyncDisposable {
  /** The newest snapshot; undefined before there was one. */
  readonly current: MeshSnapshot | undefined;
  /** The first snapshot that is complete, or of a proxy the one at the end of its start. Rejects if the mesh is closed before. */
  readonly ready: Promise<MeshSnapshot>;
  /** Asks for a Cluster that nothing refers to, for a request that needs it (C-ODC-01). It stays, until the server says that there is none. */
  demandCluster(name: string, options?: DemandClusterOptions): Promise<DemandOutcome>;
  /** Asks for the virtual host for a host, of a RouteConfiguration in the snapshot that is filled on demand (C-VHD-02). */
  demandHost(route: string, host: string, options?: DemandOptions): Promise<DemandOutcome>;
  /** Asks for the routes of a scope in the snapshot that are fetched on demand (C-ODC-03). */
  demandScope(scope: string, options?: DemandOptions): Promise<DemandOutcome>;
  /** Ends it: nobody is asked for what only this mesh wanted. */
  close(): void;
}

const demandClusterRules: RulesOf<DemandClusterOptions> = {
  ...demandRules,
  by: rule("a resource of a snapshot", (value) => isObject(value) && typeof value["id"] === "string"),
};

const checkDemandCluster = argumentCheck("demandCluster", { name: aName, options: fields(demandClusterRules) });
const checkDemandHost = argumentCheck("demandHost", { route: aName, host: aName, options: fields(demandRules) });
const checkDemandScope = argumentCheck("demandScope", { scope: aName, options: fields(demandRules) });

/** What a mesh is made with. */
export interface MeshSetting {
  readonly ground: MeshGround;
  readonly views: ResourceViews;
  readonly vigil: Vigil;
  readonly options: MeshOptions;
  readonly mode: "proxy" | "non-proxy";
  readonly roots: readonly Root[];
  /** Where a Cluster is asked for that a request needs; undefined: nowhere. */
  readonly clusterSource: (name: string) => MeshSource | undefined;
  /** Called once, when it was closed by whomever. */
  readonly closed: () => void;
}

/** Where a mesh begins. */
export type Root = Omit<MeshRoot, "root" | "source" | "timeoutMs"> & { readonly source: MeshSource };

/** Who waits for the end of a demand. */
interface Waiting {
  readonly resolve: (outcome: DemandOutcome) => void;
  readonly reject: (reason: Error) => void;
}

const CLUSTER = formatTypeUrl("envoy.config.cluster.v3.Cluster");

/** The one way a mesh is made. */
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
    // Who does not wait for it need not handle that it never comes.
    this.#ready.catch(() => {});
    this.runner = new MeshRunner(setting.ground, { followsClusters: setting.mode === "non-proxy" }, this);
    const { signal } = setting.options;
    if (signal !== undefined) this.#forgetSignal = onceAborted(signal, () => this.close());
  }

  /** Asks for its roots. */
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

  /** Whoever looks at it waits for it: until it is settled, the process is kept alive. */
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
    // What it waited for is in the snapshot when whoever waits goes on.
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

  /** All that one response changed is one snapshot: it is taken when the turn is over. */
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
