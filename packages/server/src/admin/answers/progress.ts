import type { WaitAnswer } from "./deliveries.ts";
import type { NodeAnswerIdentity } from "./nodes.ts";

/** `GET /api/v1/progress/REVISION`: which nodes have a revision. */
export interface ProgressAnswer {
  readonly revision: number;
  /** The newest revision. */
  readonly head: number;
  /**
   * `deployed`: every node that counts has the revision, and they are enough. `pending`: some node does not have it yet, or a worker does not
   * answer for its nodes.
   * `nacked`: nothing is pending, and some node NACKed something. `too-few-nodes`: all have it, but they are fewer
   * than asked for.
   */
  readonly state: "deployed" | "pending" | "nacked" | "too-few-nodes";
  /** Number of connected nodes that count. */
  readonly nodes: number;
  /** Number of those that have the revision. */
  readonly deployed: number;
  readonly pending: StragglersAnswer;
  readonly nacked: StragglersAnswer;
  /** Nodes that disconnected without the revision and did not come back; only the most recent 10,000 are known. */
  readonly disconnected: { readonly total: number; readonly nodes: readonly LostNodeAnswer[] };
  /** The numbers of the workers that do not answer; their nodes are not counted. Absent: all answer. */
  readonly unresponsiveWorkers?: readonly number[];
}

export interface StragglersAnswer {
  readonly total: number;
  /** At most `limit`. */
  readonly nodes: readonly StragglerAnswer[];
}

/** A node that does not have the revision. */
export interface StragglerAnswer extends NodeAnswerIdentity {
  readonly types: readonly {
    readonly type: string;
    readonly shortName?: string;
    /**
     * `not-sent`: not sent yet. `pending`: sent, neither ACKed nor NACKed. `removal`: a removal waits. `nacked`: NACKed.
     */
    readonly state: "not-sent" | "pending" | "removal" | "nacked";
    readonly waits?: WaitAnswer;
    /** The resources of the NACKed response, or the removals that wait; at most 100. */
    readonly names?: readonly string[];
    /** The error message of the NACK, made printable. */
    readonly reason?: string;
    /** Where those of the names come from that the message of the NACK has, or the first ones; at most 5. */
    readonly places?: readonly NamedPlaceAnswer[];
  }[];
}

/** Where a resource is in the source now. */
export interface NamedPlaceAnswer {
  readonly name: string;
  /** The path in the directory of the source. */
  readonly file: string;
  /** From 1; absent if it is not known. */
  readonly line?: number;
}

export interface LostNodeAnswer {
  readonly id: string;
  /** The newest revision that the node had; absent if it had none. */
  readonly reached?: number;
}
