import type { News } from "../client/news.ts";
import type { SourceId } from "../client/source.ts";
import type { TypeUrl } from "../resource/type-url.ts";
import type { MeshWatchId, NodeId } from "./mesh-node.ts";

/** Names a root for its life; given by the shell. */
export type RootId = number;
/** Names one demand for its life; given by the shell. */
export type DemandId = number;

/** All that can happen to a mesh. */
export type MeshEvent =
  | { readonly kind: "root-added"; readonly root: MeshRoot }
  | { readonly kind: "root-removed"; readonly root: RootId }
  /** What one of its watches was told. */
  | { readonly kind: "news"; readonly watch: MeshWatchId; readonly news: News }
  | { readonly kind: "timer-fired"; readonly timer: number }
  /** A request waits for something that is not there yet; `demand-ended` follows, be it at once (C-ODC-01). */
  | {
      readonly kind: "demanded";
      readonly demand: DemandId;
      readonly what: Demanded;
      /** How long the request waits, in milliseconds; 0: for ever. Undefined: as long as what it asks by says, or 5 s. */
      readonly timeoutMs: number | undefined;
    }
  /** The request waits no longer. What it asked for stays wanted until it is told that there is none. */
  | { readonly kind: "demand-withdrawn"; readonly demand: DemandId };

/** Where a mesh begins: what nothing has to refer to. */
export interface MeshRoot {
  readonly root: RootId;
  readonly source: SourceId;
  readonly type: TypeUrl;
  /** A name, a glob, `*`. */
  readonly term: string;
  /** How long whoever starts waits for its first answer, in milliseconds; 0: for ever (C-WRM-03). */
  readonly timeoutMs: number;
  /** It is watched only when all other roots were answered, and what came with that is warm: Listeners after Clusters (C-WRM-13). */
  readonly isLast?: boolean;
}

/** What a request is in want of. */
export type Demanded =
  /** A Cluster that nothing told of (C-ODC-01). */
  | { readonly kind: "cluster"; readonly source: SourceId; readonly type: TypeUrl; readonly name: string }
  /** The same, where a resource says that such Clusters come from: a Listener, routes, an extension config. */
  | { readonly kind: "cluster-by"; readonly by: NodeId; readonly name: string }
  /** The virtual host for a host, of a RouteConfiguration that is filled on demand (C-VHD-02). */
  | { readonly kind: "virtual-host"; readonly route: NodeId; readonly host: string }
  /** The RouteConfiguration of a scope that is fetched on demand (C-ODC-03). */
  | { readonly kind: "scope"; readonly scope: NodeId };
