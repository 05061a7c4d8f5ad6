import type { ReadMessage } from "@xdskit/envoy-api/resources";
import type { MeshLink, NodeId, SourceId, TypeUrl } from "@xdskit/protocol";
import { type MeshNode, type MeshWatchId, shownName, type TypeKind } from "@xdskit/protocol/internal";
import type { XdsClientError } from "../error.ts";
import type { ResourceViews, XdsResource } from "../resource/xds-resource.ts";
import { errorOf } from "../watch/tell.ts";
import { LazyMap } from "./lazy-map.ts";
import type { StoredNodes } from "./node-store.ts";

/** The state of a resource in a mesh. */
export type MeshState =
  /** Subscribed, and no response came yet. */
  | "requested"
  /** Accepted, and not usable before its dependencies are there. */
  | "warming"
  /** In use. */
  | "ready"
  /** It does not exist; a held version may still be in use. */
  | "absent"
  /** No version is in use, and the last response for it was an error. */
  | "error";

/** A resource that a mesh refers to, whether it exists or not. Immutable. */
export interface MeshResource<Json = unknown> {
  /** Distinguishes it from a resource of the same type and name at another source. */
  readonly id: NodeId;
  readonly type: TypeUrl;
  /** Its `key` in changes: for a variant, the name with its constraints. */
  readonly name: string;
  /** `static` (`STATIC_SOURCE`) for resources in the bootstrap. */
  readonly source: SourceId;
  readonly state: MeshState;
  /** The version in use: accepted, and for a Listener or Cluster warm. */
  readonly resource: XdsResource<Json> | undefined;
  /** The version that replaces it once it is warm (C-WRM-02). */
  readonly warming: XdsResource<Json> | undefined;
  /** What it refers to. */
  readonly needs: readonly MeshLink[];
  readonly error: XdsClientError | undefined;
}

/** A Cluster with where it sends to. */
export interface MeshCluster extends MeshResource<ReadMessage<"envoy.config.cluster.v3.Cluster">> {
  /** Undefined if it has none by EDS, or none came. */
  readonly endpoints: XdsResource<ReadMessage<"envoy.config.endpoint.v3.ClusterLoadAssignment">> | undefined;
  /** Those that the endpoints leave to collections (B-LED-01). */
  readonly lbEndpoints: readonly XdsResource<ReadMessage<"envoy.config.endpoint.v3.LbEndpoint">>[];
}

/** A reference that leads to nothing. */
export interface Dangling {
  /** The resource that refers to it; undefined for a root or an on-demand request. */
  readonly from: { readonly type: TypeUrl; readonly name: string } | undefined;
  readonly to: { readonly type: TypeUrl; readonly name: string };
  readonly why: DanglingReason;
}

export type DanglingReason =
  /** The resource does not exist. */
  | "absent"
  /** No response came in time. */
  | "no-answer"
  /** The resource is not usable before its dependencies are there. */
  | "warming"
  /** No version is usable, and the last response for it was an error, such as the client's own NACK. */
  | "error"
  /** Its source is not usable. */
  | "source";

/** Resources by name; if several sources have the same name, all but the first are keyed by `id`. */
export type ByName<T> = ReadonlyMap<string, T>;

/** A mesh at one moment. Immutable, with accepted resources only. */
export interface MeshSnapshot {
  /** Increases with each snapshot. */
  readonly revision: number;
  /** Every subscribed name was answered or timed out, and nothing is warming. */
  readonly isComplete: boolean;
  readonly listeners: ByName<MeshResource<ReadMessage<"envoy.config.listener.v3.Listener">>>;
  readonly routes: ByName<MeshResource<ReadMessage<"envoy.config.route.v3.RouteConfiguration">>>;
  readonly scopedRoutes: ByName<MeshResource<ReadMessage<"envoy.config.route.v3.ScopedRouteConfiguration">>>;
  readonly virtualHosts: ByName<MeshResource<ReadMessage<"envoy.config.route.v3.VirtualHost">>>;
  readonly clusters: ByName<MeshCluster>;
  readonly endpoints: ByName<MeshResource<ReadMessage<"envoy.config.endpoint.v3.ClusterLoadAssignment">>>;
  readonly lbEndpoints: ByName<MeshResource<ReadMessage<"envoy.config.endpoint.v3.LbEndpoint">>>;
  readonly secrets: ByName<MeshResource<ReadMessage<"envoy.extensions.transport_sockets.tls.v3.Secret">>>;
  readonly extensions: ByName<MeshResource<ReadMessage<"envoy.config.core.v3.TypedExtensionConfig">>>;
  /** Layers of the runtime that the bootstrap names. */
  readonly runtimes: ByName<MeshResource<ReadMessage<"envoy.service.runtime.v3.Runtime">>>;
  /** Everything, of whatever type, by `id`. */
  readonly all: ReadonlyMap<NodeId, MeshResource>;
  /** References that lead to nothing. Computed on each read. */
  readonly dangling: readonly Dangling[];
}

/** What a snapshot is built from. */
export interface SnapshotParts {
  readonly nodes: StoredNodes;
  readonly views: ResourceViews;
  readonly revision: number;
  readonly isComplete: boolean;
}

/** A snapshot that builds its contents when they are read. */
export class Snapshot implements MeshSnapshot {
  readonly revision: number;
  readonly isComplete: boolean;
  readonly #nodes: StoredNodes;
  readonly #views: ResourceViews;
  /** By the watches that they answer; made for the first Cluster with such endpoints that is read. */
  #lbEndpoints: ReadonlyMap<MeshWatchId, readonly MeshNode[]> | undefined;

  constructor({ nodes, views, revision, isComplete }: SnapshotParts) {
    this.#nodes = nodes;
    this.#views = views;
    this.revision = revision;
    this.isComplete = isComplete;
  }

  get listeners(): ByName<MeshResource<ReadMessage<"envoy.config.listener.v3.Listener">>> {
    return this.#ofKind("lds");
  }

  get routes(): ByName<MeshResource<ReadMessage<"envoy.config.route.v3.RouteConfiguration">>> {
    return this.#ofKind("rds");
  }

  get scopedRoutes(): ByName<MeshResource<ReadMessage<"envoy.config.route.v3.ScopedRouteConfiguration">>> {
    return this.#ofKind("srds");
  }

  get virtualHosts(): ByName<MeshResource<ReadMessage<"envoy.config.route.v3.VirtualHost">>> {
    return this.#ofKind("vhds");
  }

  get clusters(): ByName<MeshCluster> {
    return new LazyMap(this.#namesOf("cds"), (node) => this.#cluster(node));
  }

  get endpoints(): ByName<MeshResource<ReadMessage<"envoy.config.endpoint.v3.ClusterLoadAssignment">>> {
    return this.#ofKind("eds");
  }

  get lbEndpoints(): ByName<MeshResource<ReadMessage<"envoy.config.endpoint.v3.LbEndpoint">>> {
    return this.#ofKind("leds");
  }

  get secrets(): ByName<MeshResource<ReadMessage<"envoy.extensions.transport_sockets.tls.v3.Secret">>> {
    return this.#ofKind("sds");
  }

  get extensions(): ByName<MeshResource<ReadMessage<"envoy.config.core.v3.TypedExtensionConfig">>> {
    return this.#ofKind("ecds");
  }

  get runtimes(): ByName<MeshResource<ReadMessage<"envoy.service.runtime.v3.Runtime">>> {
    return this.#ofKind("rtds");
  }

  get all(): ReadonlyMap<NodeId, MeshResource> {
    return new LazyMap(this.#nodes.byId, (node) => resourceOf(node, this.#views));
  }

  get dangling(): readonly Dangling[] {
    return [...this.#nodes.byId.values()].flatMap((node) => {
      const { type, name, isRoot, resource, links } = node;
      const told = { type, name: shownName(name) };
      const root: readonly Dangling[] =
        isRoot && resource === undefined ? [{ from: undefined, to: told, why: whyNotThere(node) }] : [];
      const linked = links.flatMap((link): readonly Dangling[] => {
        const why = this.#whyDangling(link);
        return why === undefined ? [] : [{ from: told, to: { type: link.type, name: link.name }, why }];
      });
      return [...root, ...linked];
    });
  }

  #whyDangling({ state, node: id, name }: MeshLink): DanglingReason | undefined {
    if (state === "unresolved") return "source";
    if (state !== "missing" && state !== "by-name") return undefined;
    const node = state === "by-name" ? this.#namesOf("cds").get(name) : id && this.#nodes.byId.get(id);
    if (node === undefined || node === "") return "absent";
    if (state === "by-name" && node.resource !== undefined) return undefined;
    return whyNotThere(node);
  }

  #cluster(node: MeshNode): MeshCluster {
    const assigned = this.#targetOf(node, "eds");
    const members = assigned?.links.flatMap(({ watch }) => this.#lbEndpointsOf(watch)) ?? [];
    const lbEndpoints = [...new Set(members)];
    return {
      ...resourceOf<ReadMessage<"envoy.config.cluster.v3.Cluster">>(node, this.#views),
      endpoints: viewOf<ReadMessage<"envoy.config.endpoint.v3.ClusterLoadAssignment">>(assigned?.resource, this.#views),
      lbEndpoints: lbEndpoints.flatMap(
        ({ resource }) => viewOf<ReadMessage<"envoy.config.endpoint.v3.LbEndpoint">>(resource, this.#views) ?? [],
      ),
    };
  }

  #lbEndpointsOf(watch: MeshWatchId | undefined): readonly MeshNode[] {
    if (watch === undefined) return [];
    this.#lbEndpoints ??= byWatch(this.#namesOf("leds").values());
    return this.#lbEndpoints.get(watch) ?? [];
  }

  /** The existing resource that a node refers to, of a kind of which it has at most one. */
  #targetOf({ links }: MeshNode, kind: TypeKind): MeshNode | undefined {
    const names = this.#nodes.byKind.get(kind);
    for (const { node: id, state } of links) {
      const target = id === undefined || state !== "there" ? undefined : this.#nodes.byId.get(id);
      if (target !== undefined && (names?.get(target.name) === target || names?.get(target.id) === target))
        return target;
    }
    return undefined;
  }

  #ofKind<Json>(kind: TypeKind): ByName<MeshResource<Json>> {
    return new LazyMap(this.#namesOf(kind), (node) => resourceOf<Json>(node, this.#views));
  }

  #namesOf(kind: TypeKind): ReadonlyMap<string, MeshNode> {
    return this.#nodes.byKind.get(kind) ?? new Map<string, MeshNode>();
  }
}

function byWatch(nodes: Iterable<MeshNode>): ReadonlyMap<MeshWatchId, readonly MeshNode[]> {
  const found = new Map<MeshWatchId, MeshNode[]>();
  for (const node of nodes) {
    for (const watch of node.watches) {
      const same = found.get(watch);
      if (same === undefined) found.set(watch, [node]);
      else same.push(node);
    }
  }
  return found;
}

function whyNotThere({ state, failure }: MeshNode): DanglingReason {
  if (state === "absent") return "absent";
  if (failure?.why === "rejected" || failure?.why === "resource-error") return "error";
  return state === "warming" ? "warming" : "no-answer";
}

function stateOf({ state, resource, failure }: MeshNode): MeshState {
  return state !== "absent" && resource === undefined && failure !== undefined ? "error" : state;
}

function resourceOf<Json>(node: MeshNode, views: ResourceViews): MeshResource<Json> {
  const { id, type, name, source, links, failure } = node;
  return {
    id,
    type,
    name: shownName(name),
    source,
    state: stateOf(node),
    resource: viewOf<Json>(node.resource, views),
    warming: viewOf<Json>(node.warming, views),
    needs: links,
    error: failure && errorOf({ kind: "failed", name, held: undefined, ...failure }),
  };
}

/** Its JSON is that of the type it is stored under. */
function viewOf<Json>(held: MeshNode["resource"], views: ResourceViews): XdsResource<Json> | undefined {
  return held && (views.of(held) as XdsResource<Json>);
}
