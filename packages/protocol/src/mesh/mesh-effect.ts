import type { SourceId } from "../client/source.ts";
import type { Status } from "../message/status.ts";
import type { TypeUrl } from "../resource/type-url.ts";
import type { DemandId } from "./mesh-event.ts";
import type { MeshNode, MeshWatchId, NodeId } from "./mesh-node.ts";

/** All that a mesh can ask for. Performed in order. */
export type MeshEffect =
  | {
      readonly kind: "start-watch";
      readonly watch: MeshWatchId;
      readonly source: SourceId;
      readonly type: TypeUrl;
      readonly term: string;
      readonly wantsConfirmations: boolean;
    }
  | { readonly kind: "stop-watch"; readonly watch: MeshWatchId }
  /** After `ms` milliseconds, `timer-fired`. */
  | { readonly kind: "start-timer"; readonly timer: number; readonly ms: number }
  | { readonly kind: "cancel-timer"; readonly timer: number }
  /** There is something to publish. Ask `takeChanges` when everything was heard that came together, such as all of one response. */
  | { readonly kind: "changed" }
  /** All roots were answered or given up, and what came with the first answers is warm. Once (C-WRM-03). */
  | { readonly kind: "started" }
  /**
   * Something became of the Clusters of a source, and none of them warms now. News that come with the same response may change that: ask
   * `isWarming` when all of them were taken (C-ACK-15).
   */
  | { readonly kind: "warming-ended"; readonly source: SourceId }
  | { readonly kind: "demand-ended"; readonly demand: DemandId; readonly outcome: DemandOutcome }
  | { readonly kind: "report"; readonly report: MeshReport };

/** Why a request goes on. */
export type DemandOutcome = "found" | "absent" | "timeout";

/** What is to be published. */
export interface MeshChanges {
  readonly changed: readonly MeshNode[];
  readonly gone: readonly NodeId[];
  /** Everything that was asked for was answered or given up, and nothing warms: who wants no half a change waits for this. */
  readonly isComplete: boolean;
}

/** What happened in a mesh, for counters and logs. */
export type MeshReport =
  /** Something that was watched was answered for the first time, be it with what there is or with that there is none. */
  | {
      readonly kind: "answered";
      readonly source: SourceId;
      readonly type: TypeUrl;
      /** A name, a glob, `*`. */
      readonly term: string;
      readonly afterMs: number;
    }
  /** A Listener or Cluster is in use, or its next version is. */
  | {
      readonly kind: "warmed";
      readonly source: SourceId;
      readonly type: TypeUrl;
      readonly name: string;
      readonly afterMs: number;
    }
  /** It waits no longer for something that did not come in time (C-WRM-03). */
  | {
      readonly kind: "wait-given-up";
      readonly source: SourceId;
      readonly type: TypeUrl;
      readonly name: string;
      readonly wanted: { readonly type: TypeUrl; readonly name: string };
    }
  /** A resource names a source that cannot be used. */
  | {
      readonly kind: "source-unresolved";
      readonly source: SourceId;
      readonly type: TypeUrl;
      readonly name: string;
      readonly wanted: { readonly type: TypeUrl; readonly name: string };
    }
  /** The server that could not be reached answers again. */
  | { readonly kind: "watch-recovered"; readonly source: SourceId; readonly type: TypeUrl; readonly term: string }
  | {
      readonly kind: "watch-failed";
      readonly source: SourceId;
      readonly type: TypeUrl;
      readonly term: string;
      /** Undefined: it concerns everything that is watched. */
      readonly name: string | undefined;
      readonly error: Status;
    };
