import type { SourceId } from "../client/source.ts";
import type { WatchEvent } from "../client/watch-event.ts";
import type { TypeUrl } from "../resource/type-url.ts";
import type { MeshWatchId, NodeId } from "./mesh-node.ts";

/** Identifies a root for its life; the shell assigns it. */
export type RootId = number;
/** Identifies a demand for its life; the shell assigns it. */
export type DemandId = number;

/** Everything that can happen to a mesh. */
export type MeshEvent =
  | { readonly kind: "root-added"; readonly root: MeshRoot }
  | { readonly kind: "root-removed"; readonly root: RootId }
  /** A notification of one of the mesh's watches. */
  | { readonly kind: "news"; readonly watch: MeshWatchId; readonly news: WatchEvent }
  | { readonly kind: "timer-fired"; readonly timer: number }
  /** A request needs a resource on demand; `demand-ended` follows, possibly at once (C-ODC-01). */
  | {
      readonly kind: "demanded";
      readonly demand: DemandId;
      readonly what: Demanded;
      /**
       * How long the request waits, in milliseconds; 0: without limit. Undefined: as long as the resource it names
       * says, or 5 s.
       */
      readonly timeoutMs: number | undefined;
    }
  /** The request no longer waits. The resource stays wanted until a server says that it does not exist. */
  | { readonly kind: "demand-withdrawn"; readonly demand: DemandId };

/** Where a mesh begins: a watch that needs no reference to it. */
export interface MeshRoot {
  readonly root: RootId;
  readonly source: SourceId;
  readonly type: TypeUrl;
  /** A name, a glob, `*`. */
  readonly term: string;
  /** How long start-up waits for the first answer, in milliseconds; 0: without limit (C-WRM-03). */
  readonly timeoutMs: number;
  /**
   * Watched only once all other roots were answered and what came with that is warm: Listeners after Clusters
   * (C-WRM-13).
   */
  readonly isLast?: boolean;
}

/** What a request needs. */
export type Demanded =
  /** A Cluster that no server has sent (C-ODC-01). */
  | { readonly kind: "cluster"; readonly source: SourceId; readonly type: TypeUrl; readonly name: string }
  /**
   * The same, from the source that a Listener, route configuration or extension config gives for on-demand Clusters.
   */
  | { readonly kind: "cluster-by"; readonly by: NodeId; readonly name: string }
  /** The virtual host for a host, in a RouteConfiguration with on-demand virtual hosts (C-VHD-02). */
  | { readonly kind: "virtual-host"; readonly route: NodeId; readonly host: string }
  /** The RouteConfiguration of a scope that is fetched on demand (C-ODC-03). */
  | { readonly kind: "scope"; readonly scope: NodeId };
