import type { HeldResource } from "../client/held.ts";
import type { FailureReason } from "../client/news.ts";
import type { SourceId } from "../client/source.ts";
import type { Status } from "../message/status.ts";
import type { TypeUrl } from "../resource/type-url.ts";
import type { ExtensionTerms } from "./dependency.ts";

/** Names something that is watched for the mesh; given by the mesh machine, never used again. */
export type MeshWatchId = number;
/** Names one resource of one source in a mesh, the same in every mesh: where it comes from, its type and its name. For people; not to be taken apart. */
export type NodeId = string;

/** One resource of a mesh, or the want of one. Immutable: a change makes another one. */
export interface MeshNode {
  readonly id: NodeId;
  readonly source: SourceId;
  readonly type: TypeUrl;
  readonly name: string;
  /** The watches that it is an answer to. */
  readonly watches: readonly MeshWatchId[];
  /** It is asked for by its name, by a root or on demand, whoever else refers to it. */
  readonly isRoot: boolean;
  readonly state: MeshNodeState;
  /** What is in use: accepted, and of a Listener or Cluster warm. Whatever the state: the last one goes on serving. */
  readonly resource: HeldResource | undefined;
  /** What will take over when it is warm (C-WRM-02). */
  readonly warming: HeldResource | undefined;
  /** What the resource in use needs; of one that never was, what the one that warms needs. */
  readonly links: readonly MeshLink[];
  /** What went wrong last, if nothing better followed. */
  readonly failure: MeshFailure | undefined;
}

/** Why a watch failed. */
export interface MeshFailure {
  readonly why: FailureReason;
  readonly error: Status;
}

export type MeshNodeState =
  /** It was asked for. */
  | "requested"
  /** There is one, and it cannot be used yet. */
  | "warming"
  /** There is one in use. */
  | "ready"
  /** There is none, or it was removed; what is held of it may still be in use (C-DEL-09). */
  | "absent";

/** One thing that a resource needs. */
export interface MeshLink {
  readonly type: TypeUrl;
  /** A name, a glob, `*`. */
  readonly name: string;
  /** What it is watched as: the nodes that have this among their `watches` are what is meant. Undefined: not watched. */
  readonly watch: MeshWatchId | undefined;
  /** Of one name, the node that is meant. */
  readonly node: NodeId | undefined;
  readonly state: MeshLinkState;
  /** Only of extension configs. */
  readonly extension?: ExtensionTerms;
}

export type MeshLinkState =
  /** There is something that can be used. */
  | "there"
  /** There is nothing, or it does not fit: `extension.fallback` is used instead (C-ECD-03). */
  | "fallback"
  | "missing"
  /** On demand, and nobody has asked for it yet. */
  | "idle"
  /** Found by its name among all resources of the type, which are watched as a whole. */
  | "by-name"
  /** The source that it should come from cannot be used. */
  | "unresolved";
