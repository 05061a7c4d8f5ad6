import type { SourceId } from "../client/source.ts";
import type { Status } from "../message/status.ts";
import type { TypeUrl } from "../resource/type-url.ts";
import type { DemandId } from "./mesh-event.ts";
import type { MeshNode, MeshWatchId, NodeId } from "./mesh-node.ts";

/** Everything that a mesh can ask for, to be performed in order. */
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
  /** Raise `timer-fired` after `ms` milliseconds. */
  | { readonly kind: "start-timer"; readonly timer: number; readonly ms: number }
  | { readonly kind: "cancel-timer"; readonly timer: number }
  /**
   * There are changes to publish. Call `takeChanges` after all events that came together, such as those of one
   * response.
   */
  | { readonly kind: "changed" }
  /** All roots were answered or given up, and what came with their first answers is warm. Sent once (C-WRM-03). */
  | { readonly kind: "started" }
  /**
   * Clusters of a source changed and none is warming now. Notifications of the same response may change that, so call
   * `isWarming` after all of them (C-ACK-15).
   */
  | { readonly kind: "warming-ended"; readonly source: SourceId }
  | { readonly kind: "demand-ended"; readonly demand: DemandId; readonly outcome: DemandOutcome }
  | { readonly kind: "report"; readonly report: MeshReport };

/** Why a request goes on. */
export type DemandOutcome = "found" | "absent" | "timeout";

/** The changes to publish. */
export interface MeshChanges {
  readonly changed: readonly MeshNode[];
  readonly gone: readonly NodeId[];
  /**
   * Whether everything watched was answered or given up and nothing is warming; wait for this to avoid a half-applied
   * change.
   */
  readonly isComplete: boolean;
}

/** What happened in a mesh, for metrics and logs. */
export type MeshReport =
  /** A watch got its first answer, be it that the resource does not exist. */
  | {
      readonly kind: "answered";
      readonly source: SourceId;
      readonly type: TypeUrl;
      /** A name, a glob, `*`. */
      readonly term: string;
      readonly afterMs: number;
    }
  /** A Listener or Cluster, or its next version, is warm and in use. */
  | {
      readonly kind: "warmed";
      readonly source: SourceId;
      readonly type: TypeUrl;
      readonly name: string;
      readonly afterMs: number;
    }
  /** A Listener or Cluster stopped waiting for a dependency that did not come in time (C-WRM-03). */
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
  /** A server that could not be reached answers again. */
  | { readonly kind: "watch-recovered"; readonly source: SourceId; readonly type: TypeUrl; readonly term: string }
  | {
      readonly kind: "watch-failed";
      readonly source: SourceId;
      readonly type: TypeUrl;
      readonly term: string;
      /** Undefined if everything watched is concerned. */
      readonly name: string | undefined;
      readonly error: Status;
    };
