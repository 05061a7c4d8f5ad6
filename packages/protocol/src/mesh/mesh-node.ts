import type { HeldResource } from "../client/held.ts";
import type { SourceId } from "../client/source.ts";
import type { FailureReason } from "../client/watch-event.ts";
import type { Status } from "../message/status.ts";
import type { TypeUrl } from "../resource/type-url.ts";
import type { ExtensionTerms } from "./dependency.ts";

/** Identifies a watch of the mesh; the mesh machine assigns it and never reuses it. */
export type MeshWatchId = number;
/** Identifies a resource of a source in every mesh, from its source, type and name. For display; do not parse it. */
export type NodeId = string;

/** A resource in a mesh, or a placeholder for a missing one. Immutable: a change creates a new node. */
export interface MeshNode {
  readonly id: NodeId;
  readonly source: SourceId;
  readonly type: TypeUrl;
  readonly name: string;
  /** The watches that it answers. */
  readonly watches: readonly MeshWatchId[];
  /** Whether a root or a demand watches it by name. */
  readonly isRoot: boolean;
  readonly state: MeshNodeState;
  /**
   * The accepted resource in use; for a Listener or Cluster, a warm one. Set in every state, because the last one stays
   * in use.
   */
  readonly resource: HeldResource | undefined;
  /** The next version, which takes over once it is warm (C-WRM-02). */
  readonly warming: HeldResource | undefined;
  /** The dependencies of the resource in use; before the first one, those of the warming one. */
  readonly links: readonly MeshLink[];
  /** The last failure, unless a valid resource followed. */
  readonly failure: MeshFailure | undefined;
}

/** Why a watch failed. */
export interface MeshFailure {
  readonly why: FailureReason;
  readonly error: Status;
}

export type MeshNodeState =
  /** Subscribed, not answered yet. */
  | "requested"
  /** Accepted, not usable yet. */
  | "warming"
  /** In use. */
  | "ready"
  /** Does not exist or was removed; the held resource may still be in use (C-DEL-09). */
  | "absent";

/** A dependency of a resource. */
export interface MeshLink {
  readonly type: TypeUrl;
  /** A name, a glob, `*`. */
  readonly name: string;
  /**
   * The watch of the dependency; its targets are the nodes with this id among their `watches`. Undefined if not
   * watched.
   */
  readonly watch: MeshWatchId | undefined;
  /** The target node of a single name. */
  readonly node: NodeId | undefined;
  readonly state: MeshLinkState;
  /** Only for extension configs. */
  readonly extension?: ExtensionTerms;
}

export type MeshLinkState =
  /** The target is usable. */
  | "there"
  /** The target is missing or does not fit, so `extension.fallback` is used (C-ECD-03). */
  | "fallback"
  | "missing"
  /** On demand, and not demanded yet. */
  | "idle"
  /** Looked up by name among all resources of the type, which are watched as a whole. */
  | "by-name"
  /** Its source cannot be used. */
  | "unresolved";
