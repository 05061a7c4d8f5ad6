import type { TypedMessage } from "@xdskit/envoy-api/resources";
import {
  type MeshLink,
  type MeshNode,
  type NodeId,
  type SourceId,
  shownName,
  type TypeKind,
  type TypeUrl,
} from "@xdskit/protocol";
import type { XdsClientError } from "../error.ts";
import type { ResourceViews, XdsResource } from "../resource/xds-resource.ts";
import { errorOf } from "../watch/tell.ts";
import { LazyMap } from "./lazy-map.ts";
import type { StoredNodes } from "./node-store.ts";

/** How something in a mesh stands. */
export type MeshState =
  /** It was asked for. */
  | "requested"
  /** There is one, and it cannot be used before what it needs is there. */
  | "warming"
  /** There is one in use. */
  | "ready"
  /** There is none; what is held of it may still be in use. */
  | "absent"
  /** There is none in use, and the last thing that was heard of it is an error. */
  | "error";

/** Something that a mesh needs, be it there or not. Immutable. */
export interface MeshResource<Json = unknown> {
  /** Tells it from one of the same type and name from another source. */
  readonly id: NodeId;
  readonly type: TypeUrl;
  /** As changes call it (`key`): of a variant with its constraints. */
  readonly name: string;
  /** `static` (`STATIC_SOURCE`) of what stands in the bootstrap. */
  readonly source: SourceId;
  readonly state: MeshState;
  /** What is in use: accepted, and of a Listener or Cluster warm. */
  readonly resource: XdsResource<Json> | undefined;
  /** What will take over when it is warm (C-WRM-02). */
  readonly warming: XdsResource<Json> | undefined;
  /** What it refers to. */
  readonly needs: readonly MeshLink[];
  readonly error: XdsClientError | undefined;
}

/** A Cluster with where it sends to. */
export interface MeshCluster extends MeshResource<TypedMessage<"envoy.config.cluster.v3.Cluster">> {
  /** Undefined if it has none by EDS, or none came. */
  readonly endpoints: XdsResource<TypedMessage<"envoy.config.endpoint.v3.ClusterLoadAssignment">> | undefined;
  /** Those that the endpoints leave to collections (B-LED-01). */
  readonly lbEndpoints: readonly XdsResource<TypedMessage<"envoy.config.endpoint.v3.LbEndpoint">>[];
}

/** A name that leads nowhere. */
export interface Dangling {
  /** Undefined: what was resolved, or asked for on demand. */
  readonly from: { readonly type: TypeUrl; readonly name: string } | undefined;
  readonly to: { readonly type: TypeUrl; readonly name: string };
  readonly why: DanglingReason;
}

export type DanglingReason =
  /** There is none. */
  | "absent"
  /** Nobody answered. */
  | "no-answer"
  /** It cannot be used before what it needs is there. */
  | "warming"
  /** There is none that could be used, and the last thing that was heard of it is an error, such as our own refusal. */
  | "error"
  /** The source that it should come from cannot be used. */
  | "source";

/** By name; of several from different sources that share one, all but the first by `id`. */
export type ByName<T> = ReadonlyMap<string, T>;

/** All of a mesh at one moment. Immutable, and made of accepted resources only. */
export interface MeshSnapshot {
  /** Grows from one to the next. */
  readonly revision: number;
  /** Everything that was asked for was answered or given up, and nothing warms. */
  readonly isComplete: boolean;
  readonly listeners: ByName<MeshResource<TypedMessage<"envoy.config.listener.v3.Listener">>>;
  readonly routes: ByName<MeshResource<TypedMessage<"envoy.config.route.v3.RouteConfiguration">>>;
  readonly scopedRoutes: ByName<MeshResource<TypedMessage<"envoy.config.route.v3.ScopedRouteConfiguration">>>;
  readonly virtualHosts: ByName<MeshResource<TypedMessage<"envoy.config.route.v3.VirtualHost">>>;
  readonly clusters: ByName<MeshCluster>;
  readonly endpoints: ByName<MeshResource<TypedMessage<"envoy.config.endpoint.v3.ClusterLoadAssignment">>>;
  readonly lbEndpoints: ByName<MeshResource<TypedMessage<"envoy.config.endpoint.v3.LbEndpoint">>>;
  readonly secrets: ByName<MeshResource<TypedMessage<"envoy.extensions.transport_sockets.tls.v3.Secret">>>;
  readonly extensions: ByName<MeshResource<TypedMessage<"envoy.config.core.v3.TypedExtensionConfig">>>;
  /** Layers of the runtime that the bootstrap names. */
  readonly runtimes: ByName<MeshResource<TypedMessage<"envoy.service.runtime.v3.Runtime">>>;
  /** Everything, of whatever type, by `id`. */
  readonly all: ReadonlyMap<NodeId, MeshResource>;
  /** Names that lead nowhere. Looked for whenever it is read. */
  readonly dangling: readonly Dangling[];
}

/** What a snapshot is made of. */
export interface SnapshotParts {
  readonly nodes: StoredNodes;
  readonly views: ResourceViews;
  readonly revision: number;
  readonly isComplete: boolean;
}

/** A snapshot: what is in it is made when it is looked at. */
export class Snapshot implements MeshSnapshot {
  readonly revision: number;
  readonly isComplete: boolean;
  readonly #nodes: StoredNodes;
  readonly #views: ResourceViews;

  constructor({ nodes, views, revision, isComplete }: SnapshotParts) {
    this.#nodes = nodes;
    this.#views = views;
    this.revision = revision;
    this.isComplete = isComplete;
  }

  get listeners(): ByName<MeshResource<TypedMessage<"envoy.config.listener.v3.Listener">>> {
    return this.#ofKind("lds");
  }

  get routes(): ByName<MeshResource<TypedMessage<"envoy.config.route.v3.RouteConfiguration">>> {
    return this.#ofKind("rds");
  }

  get scopedRoutes(): ByName<MeshResource<TypedMessage<"envoy.config.route.v3.ScopedRouteConfiguration">>> {
    return this.#ofKind("srds");
  }

  get virtualHosts(): ByName<MeshResource<TypedMessage<"envoy.config.route.v3.VirtualHost">>> {
    return this.#ofKind("vhds");
  }

  get clusters(): ByName<MeshCluster> {
    return new LazyMap(this.#namesOf("cds"), (node) => this.#cluster(node));
  }

  get endpoints(): ByName<MeshResource<TypedMessage<"envoy.config.endpoint.v3.ClusterLoadAssignment">>> {
    return this.#ofKind("eds");
  }

  get lbEndpoints(): ByName<MeshResource<TypedMessage<"envoy.config.endpoint.v3.LbEndpoint">>> {
    return this.#ofKind("leds");
  }

  get secrets(): ByName<MeshResource<TypedMessage<"envoy.extensions.transport_sockets.tls.v3.Secret">>> {
    return this.#ofKind("sds");
  }

  get extensions(): ByName<MeshResource<TypedMessage<"envoy.config.core.v3.TypedExtensionConfig">>> {
    return this.#ofKind("ecds");
  }

  get runtimes(): ByName<MeshResource<TypedMessage<"envoy.service.runtime.v3.Runtime">>> {
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
    const watches = new Set(assigned?.links.map(({ watch }) => watch));
    const members = [...(watches.size === 0 ? [] : this.#namesOf("leds").values())];
    const lbEndpoints = members.filter((member) => member.watches.some((watch) => watches.has(watch)));
    return {
      ...resourceOf<TypedMessage<"envoy.config.cluster.v3.Cluster">>(node, this.#views),
      endpoints: viewOf<TypedMessage<"envoy.config.endpoint.v3.ClusterLoadAssignment">>(
        assigned?.resource,
        this.#views,
      ),
      lbEndpoints: lbEndpoints.flatMap(
        ({ resource }) => viewOf<TypedMessage<"envoy.config.endpoint.v3.LbEndpoint">>(resource, this.#views) ?? [],
      ),
    };
  }

  /** What a node has in use of a kind that it has one of. */
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

/** What it tells is JSON of the type that it is kept as. */
function viewOf<Json>(held: MeshNode["resource"], views: ResourceViews): XdsResource<Json> | undefined {
  return held && (views.of(held) as XdsResource<Json>);
}
