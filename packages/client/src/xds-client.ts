import type { EnvoyApi } from "@xdskit/envoy-api";
import { messageNameOf, type Node, type TypeUrl } from "@xdskit/protocol";
import {
  aFlag,
  aName,
  aText,
  fields,
  isObject,
  oneOf,
  oneOrMore,
  optional,
  type RulesOf,
} from "@xdskit/protocol/internal";
import { argumentCheck, aSignal, texts } from "./argument.ts";
import type { ClientConfig } from "./config/client-config.ts";
import type { ConfigDefaults } from "./config/config-defaults.ts";
import type { Driver, Interest } from "./driver/driver.ts";
import { XdsClientError } from "./error.ts";
import { type HealthChecking, type HealthCheckingOptions, healthCheckingRules } from "./health/health-checking.ts";
import { type LoadReporting, type LoadReportingOptions, loadReportingRules } from "./load/load-reporting.ts";
import { type Mesh, type MeshOptions, meshRules } from "./mesh/mesh.ts";
import { Meshes } from "./mesh/meshes.ts";
import { dumpOf, type ResourceState } from "./observe/dump.ts";
import type { ClientStats, StatsCounter } from "./observe/stats.ts";
import { nodeRules, withFields } from "./options/node-identity.ts";
import { kindOf } from "./resource/kind-of.ts";
import { type TypeOrUrl, typeUrlOf } from "./resource/resource-type.ts";
import { createResourceViews, type XdsResource } from "./resource/xds-resource.ts";
import { everythingOf, noSource, placesOf, typeAt } from "./routing/route.ts";
import { termOf } from "./routing/term.ts";
import { SideCalls, type SideCallsParts } from "./side/side-calls.ts";
import { encodeOwnStatus, type OwnStatus, type OwnStatusOptions } from "./status/own-status.ts";
import type { ResourceStore } from "./store/resource-store.ts";
import { type FetchOptions, type FetchSetting, fetchAll, fetchOne, fetchRules } from "./watch/fetch.ts";
import { Finder } from "./watch/finder.ts";
import type { Watching } from "./watch/follow.ts";
import { isCollectionName } from "./watch/follow-list.ts";
import { KeepAlive } from "./watch/keep-alive.ts";
import { OpenWatch, type Watch, type WatchGround, type WatchOptions, watchRules } from "./watch/watch.ts";

/** Options of a single fetch. */
export interface GetOptions extends FetchOptions {
  /**
   * Sent with the name (C-LOC-01).
   * @default those of the source
   */
  readonly parameters?: Readonly<Record<string, string>>;
}

/**
 * A client of management servers. It subscribes only to what is watched. An invalid argument throws `ARGUMENT_INVALID`.
 */
export interface XdsClient extends OwnStatus, AsyncDisposable {
  /** The resolved configuration. */
  readonly config: ClientConfig;
  /** The node as it is currently sent. */
  readonly node: Node;
  /**
   * Watches a name, or, without one, all resources of a type. The first watch of a name subscribes, and closing the
   * last one unsubscribes (C-CLI-01). A new watch receives held resources at once (C-CLI-02).
   *
   * @throws {XdsClientError} `TYPE_UNSUPPORTED` if the configuration has no source for it, `CLOSED`
   */
  watch<Json>(type: TypeOrUrl<Json>, options?: WatchOptions<Json>): Watch<Json>;
  watch<Json>(type: TypeOrUrl<Json>, name: string | undefined, options?: WatchOptions<Json>): Watch<Json>;
  /**
   * Resolves with a resource as soon as it is available.
   *
   * @throws {XdsClientError} `DOES_NOT_EXIST`, `REJECTED`, `RESOURCE_ERROR`, `TIMEOUT`, `UNREACHABLE` if no server
   * could be reached in time, `TYPE_UNSUPPORTED`, `CLOSED`; or the abort reason of the signal
   */
  get<Json>(type: TypeOrUrl<Json>, name: string, options?: GetOptions): Promise<XdsResource<Json>>;
  /**
   * Resolves with all resources of a type after the first response. In delta, where a response may come in parts of which
   * none is marked as the last, it waits for another as long as for the slowest before, 0.1 to 5 s. Throws as `get` does.
   */
  list<Json>(type: TypeOrUrl<Json>, options?: GetOptions): Promise<readonly XdsResource<Json>[]>;
  /**
   * Follows Listeners and everything they refer to: routes, clusters, endpoints and secrets, each subscribed by name
   * (C-SUB-21). Other types work in the same way; without a name it follows all resources of the type. With a gRPC
   * bootstrap a name may be a dial target: `xds:///NAME`.
   *
   * @throws {XdsClientError} `TYPE_UNSUPPORTED` if the configuration has no source for it, `CLOSED`
   */
  resolve(type: TypeOrUrl, names?: string | readonly string[], options?: MeshOptions): Mesh;
  /**
   * Follows the configuration of a whole proxy: every Cluster and Listener, warmed as in Envoy, everything they refer
   * to, and the fetched layers of its runtime (C-SUB-21).
   *
   * @throws {XdsClientError} `TYPE_UNSUPPORTED` if the configuration has neither, `CLOSED`
   */
  mesh(options?: MeshOptions): Mesh;
  /** Counters and states since the start (C-OBS-01). */
  stats(): ClientStats;
  /** Every resource that is held or subscribed, and its state (B-OBS-04). */
  dump(): readonly ResourceState[];
  /**
   * Counts requests and reports load to a server, which chooses the clusters and the interval (C-LRS-01). All reports
   * to one server share a stream.
   *
   * @throws {XdsClientError} `TYPE_UNSUPPORTED` if there is no gRPC server to report to, `CONFIG_INVALID` if the
   * `lrs_server` of the Cluster cannot be resolved or is no gRPC server, `CLOSED`
   */
  reportLoad(options?: LoadReportingOptions): LoadReporting;
  /**
   * Offers health checking to a server, checks the endpoints that it specifies, and reports the results at its interval
   * (B-HDS-01).
   *
   * @throws {XdsClientError} `TYPE_UNSUPPORTED` if there is no gRPC server for it, `CLOSED`
   */
  checkHealth(options?: HealthCheckingOptions): HealthChecking;
  /**
   * Changes fields of the node; servers receive the new node with the next request (C-MSC-07). Undefined fields stay
   * as they are, except for `locality`. Metadata is limited as in the options of the client.
   */
  changeNode(node: Partial<Node>): void;
  /**
   * Closes all watches and connections; every call resolves when all are closed. Afterwards the client does not keep the
   * process alive.
   */
  close(): Promise<void>;
}

/** Options that are sent with a name. */
type AskingOptions = Pick<GetOptions, "parameters">;

/** The parts of a client. */
export interface ClientParts {
  readonly api: EnvoyApi;
  readonly config: ClientConfig;
  /** Defaults for config sources in resources. */
  readonly defaults: ConfigDefaults;
  /** The node as sent. */
  readonly node: Node;
  readonly driver: Driver;
  readonly stats: StatsCounter;
  /** Undefined: resources are not kept across restarts. */
  readonly store: ResourceStore | undefined;
  readonly connections: SideCallsParts["connections"];
  readonly encodeNode: SideCallsParts["encodeNode"];
  /** Closes the client. */
  readonly signal: AbortSignal | undefined;
}

const getRules: RulesOf<GetOptions> = { ...fetchRules, parameters: texts };
const statusRules: RulesOf<OwnStatusOptions> = {
  apiVersion: oneOf("v2", "v3"),
  scope: aText,
  excludeResourceContents: aFlag,
  signal: aSignal,
};

const check = {
  watch: argumentCheck("watch", { name: optional(aName), options: fields(watchRules) }),
  get: argumentCheck("get", { name: aName, options: fields(getRules) }),
  list: argumentCheck("list", { options: fields(getRules) }),
  resolve: argumentCheck("resolve", { names: optional(oneOrMore(aName)), options: fields(meshRules) }),
  mesh: argumentCheck("mesh", { options: fields(meshRules) }),
  encodeStatus: argumentCheck("encodeStatus", { options: fields(statusRules) }),
  reportLoad: argumentCheck("reportLoad", { options: loadReportingRules }),
  checkHealth: argumentCheck("checkHealth", { options: fields(healthCheckingRules) }),
  changeNode: argumentCheck("changeNode", { node: fields(nodeRules) }),
} as const;

/** The implementation of `XdsClient`. */
export class OpenClient implements XdsClient {
  readonly config: ClientConfig;
  readonly #api: EnvoyApi;
  readonly #driver: Driver;
  readonly #stats: StatsCounter;
  readonly #store: ResourceStore | undefined;
  readonly #views: ReturnType<typeof createResourceViews>;
  readonly #vigil = new KeepAlive();
  readonly #watches = new Set<OpenWatch>();
  readonly #finders = new Map<string, Finder>();
  readonly #watchGround: WatchGround;
  /** Public for the validators and reports that `createXdsClient` sets up. */
  readonly meshes: Meshes;
  readonly #side: SideCalls;
  readonly #closing = new AbortController();
  readonly #signal: AbortSignal | undefined;
  /** Closing never fails, so the promise may be ignored. */
  readonly #aborted = (): void => void this.close();
  #node: Node;
  #closed: Promise<void> | undefined;

  constructor(parts: ClientParts) {
    const { api, config, defaults, node, driver, stats, store, connections, encodeNode, signal } = parts;
    this.#api = api;
    this.config = config;
    this.#node = node;
    this.#driver = driver;
    this.#stats = stats;
    this.#store = store;
    this.#views = createResourceViews(api);
    this.#watchGround = { views: this.#views, vigil: this.#vigil, closed: (watch) => void this.#watches.delete(watch) };
    this.meshes = new Meshes({ api, config, defaults, driver, views: this.#views, vigil: this.#vigil });
    this.#side = new SideCalls({ api, config, defaults, connections, encodeNode, node: () => this.#node });
    this.#signal = signal;
    signal?.addEventListener("abort", this.#aborted, { once: true });
  }

  get node(): Node {
    return this.#node;
  }

  watch<Json>(
    type: TypeOrUrl<Json>,
    nameOrOptions?: string | WatchOptions<Json>,
    given?: WatchOptions<Json>,
  ): Watch<Json> {
    const hasName = given !== undefined || !isObject(nameOrOptions);
    const [name, options = {}] = hasName ? [nameOrOptions as string | undefined, given] : [undefined, nameOrOptions];
    check.watch(name, options);
    const watching = this.#watching(type, name, options);
    const of = name === undefined || name === "*" || isCollectionName(name) ? "many" : "one";
    const watch = new OpenWatch(this.#watchGround, options as WatchOptions<never>, of);
    this.#watches.add(watch);
    watch.start(watching);
    // Its resources have the JSON of the requested type.
    return watch as unknown as Watch<Json>;
  }

  async get<Json>(type: TypeOrUrl<Json>, name: string, options: GetOptions = {}): Promise<XdsResource<Json>> {
    check.get(name, options);
    const resource = await fetchOne(this.#fetchSetting(type, name, options));
    return resource as XdsResource<Json>;
  }

  async list<Json>(type: TypeOrUrl<Json>, options: GetOptions = {}): Promise<readonly XdsResource<Json>[]> {
    check.list(options);
    const resources = await fetchAll(this.#fetchSetting(type, undefined, options));
    return resources as readonly XdsResource<Json>[];
  }

  resolve(type: TypeOrUrl, names?: string | readonly string[], options: MeshOptions = {}): Mesh {
    check.resolve(names, options);
    this.#closing.signal.throwIfAborted();
    return this.meshes.resolve(type, names, options);
  }

  mesh(options: MeshOptions = {}): Mesh {
    check.mesh(options);
    this.#closing.signal.throwIfAborted();
    return this.meshes.all(options);
  }

  stats(): ClientStats {
    return this.#stats.read();
  }

  dump(): readonly ResourceState[] {
    return dumpOf(this.#driver.states(), this.#views);
  }

  async encodeStatus(options: OwnStatusOptions = {}): Promise<Uint8Array> {
    check.encodeStatus(options);
    return await encodeOwnStatus({ api: this.#api, node: this.#node, states: [...this.#driver.states()] }, options);
  }

  reportLoad(options: LoadReportingOptions = {}): LoadReporting {
    check.reportLoad(options);
    this.#closing.signal.throwIfAborted();
    return this.#side.reportLoad(options);
  }

  checkHealth(options: HealthCheckingOptions = {}): HealthChecking {
    check.checkHealth(options);
    this.#closing.signal.throwIfAborted();
    return this.#side.checkHealth(options);
  }

  changeNode(node: Partial<Node>): void {
    check.changeNode(node);
    this.#node = withFields(this.#node, node);
    this.#driver.changeNode(this.#node);
  }

  close(): Promise<void> {
    this.#closed ??= this.#end();
    return this.#closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #end(): Promise<void> {
    // The signal may outlive many clients.
    this.#signal?.removeEventListener("abort", this.#aborted);
    this.#closing.abort(new XdsClientError("CLOSED", "the client was closed"));
    for (const watch of [...this.#watches]) watch.close();
    this.meshes.close();
    this.#side.close();
    await this.#driver.close();
    this.#stats.disconnect();
    await this.#store?.close();
  }

  /**
   * All places of a name, best first. `listType` is the list collection of the wanted type, if the name is one of that.
   */
  #placesOf(wanted: TypeOrUrl, name: string, { parameters }: AskingOptions, listType?: TypeUrl): readonly Interest[] {
    const type = typeUrlOf(wanted);
    const traits = this.#api.traits(type);
    return placesOf(this.config, traits?.kind ?? "opaque", name).map(({ source, name: asked }) => {
      const given = parameters === undefined ? source.parameters : new Map(Object.entries(parameters));
      return {
        source,
        type: listType ?? (typeof wanted === "string" ? type : typeAt(source, type, traits)),
        term: termOf(asked, { contextParams: this.config.nodeContextParams, parameters: given }),
      };
    });
  }

  /** How a name, or all resources of a type, are watched, through locators and list collections. */
  #watching(wanted: TypeOrUrl, name: string | undefined, options: AskingOptions): Watching {
    this.#closing.signal.throwIfAborted();
    const type = typeUrlOf(wanted);
    const found = this.#finderOf(wanted, options).find(this.#asked(type, name));
    if (found === undefined) throw noSource(this.config, type, name);
    return found;
  }

  /** The finder of a type; watches with parameters of their own get their own. */
  #finderOf(wanted: TypeOrUrl, { parameters }: AskingOptions): Finder {
    const type = typeUrlOf(wanted);
    // A type given as a URL is requested unchanged.
    const key = typeof wanted === "string" ? `as ${type}` : type;
    const known = parameters === undefined ? this.#finders.get(key) : undefined;
    if (known !== undefined) return known;
    const asking = parameters === undefined ? {} : { parameters };
    const finder = new Finder({
      api: this.#api,
      driver: this.#driver,
      type,
      placesOf: (of, at) => this.#placesOf(wanted, at, asking, of === type ? undefined : of),
    });
    if (parameters === undefined) this.#finders.set(key, finder);
    return finder;
  }

  #asked(type: TypeUrl, name: string | undefined): string {
    return name ?? everythingOf(this.config, kindOf(type, this.#api));
  }

  #fetchSetting(wanted: TypeOrUrl, name: string | undefined, options: GetOptions): FetchSetting {
    const { timeoutMs, signal } = options;
    const watch = this.#watching(wanted, name, options);
    const type = typeUrlOf(wanted);
    const [first] = this.#placesOf(wanted, this.#asked(type, name), options);
    if (first === undefined) throw noSource(this.config, type, name);
    return {
      driver: this.#driver,
      watch,
      views: this.#views,
      vigil: this.#vigil,
      source: first.source,
      about: name ?? messageNameOf(first.type),
      closing: this.#closing.signal,
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...(signal !== undefined && { signal }),
    };
  }
}
