import type { Status } from "../../message/status.ts";
import type { Node } from "../../node/node.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import type { Wait } from "./wait.ts";

/**
 * How far one client is with a revision:
 *
 * - `deployed`: it has it: everything up to the revision that it subscribes to was sent and ACKed.
 * - `pending`: something is not sent, not ACKed, or waits.
 * - `nacked`: nothing is pending, but a NACK is in force.
 */
export type Standing = "deployed" | "pending" | "nacked";

/** How many nodes have a revision, and which have not. */
export interface RevisionProgress {
  readonly revision: number;
  /** How many nodes are connected. */
  readonly nodes: number;
  /** How many of them have the revision on all their streams. */
  readonly deployed: number;
  readonly pending: readonly Straggler[];
  readonly nacked: readonly Straggler[];
  /** Nodes that disconnected without the revision and did not come back; only the most recent ones are known. */
  readonly disconnected: readonly LostNode[];
}

/** Numbers of nodes by how far they are with a revision. */
export interface NodeStates {
  readonly deployed: number;
  /** Something is on its way, or was not sent yet. */
  readonly pending: number;
  /** Something has to come before what they lack (make before break). */
  readonly waiting: number;
  /** Nothing is pending, and they NACKed something. */
  readonly nacked: number;
  /** They disconnected without it and did not come back; only the most recent ones are known. */
  readonly disconnected: number;
}

/** A connected node that does not have a revision. */
export interface Straggler {
  readonly node: Node;
  /** At least one. */
  readonly types: readonly StragglerType[];
}

/** A type of which a client does not have everything up to a revision. */
export interface StragglerType {
  readonly type: TypeUrl;
  /** `not-sent`: not sent yet; `pending`: sent, neither ACKed nor NACKed; `removal`: a removal waits; `nacked`: NACKed. */
  readonly state: "not-sent" | "pending" | "removal" | "nacked";
  /** What the type waits for before it is sent; undefined: nothing. */
  readonly wait: Wait | undefined;
  /** The names in the newest NACKed response, or the removals that wait; at most 100. */
  readonly names: readonly string[];
  /** Why the newest response was NACKed. */
  readonly error: Status | undefined;
}

/** A node that disconnected. */
export interface LostNode {
  readonly id: string;
  /** The newest revision that it had. */
  readonly reached: number;
}
