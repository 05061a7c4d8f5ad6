import type { HeldResource } from "../client/held.ts";
import type { SourceId } from "../client/source.ts";
import type { TypeUrl } from "../resource/type-url.ts";
import type { Dependency } from "./dependency.ts";
import type { MeshFailure, MeshWatchId, NodeId } from "./mesh-node.ts";

/** Where the members of a group have their dependencies from, if they do not say. */
export interface Handed {
  readonly source: SourceId;
  readonly timeoutMs: number;
}

/** Something that is watched: a name, a glob, or everything. However many want it, it is one. */
export interface Group {
  readonly key: string;
  readonly watch: MeshWatchId;
  readonly source: SourceId;
  readonly type: TypeUrl;
  readonly term: string;
  readonly isCollection: boolean;
  readonly handed: Handed | undefined;
  /** When it was first asked for. */
  readonly sinceMs: number;
  /** Roots and demands that want it, whoever else does. */
  pins: number;
  /** What refers to it. */
  readonly users: Set<Edge>;
  /** Those of them that wait for it, or did so in vain. */
  readonly waiters: Set<Edge>;
  /** What it was answered with. */
  readonly members: Map<NodeId, Entry>;
  /** How many members cannot be used yet. */
  cold: number;
  /** How many members can be used. */
  usable: number;
  /** Stands for the name while nothing is known; undefined for a collection, and while a resource of another name answers. */
  asked: Entry | undefined;
  /** How many answers came. */
  answers: number;
  isAnswered: boolean;
  /** Nobody waits any longer for the first answer. */
  isGivenUp: boolean;
  isClosed: boolean;
}

/** A resource of a source, or the want of one. */
export interface Entry {
  readonly id: NodeId;
  readonly source: SourceId;
  readonly type: TypeUrl;
  readonly name: string;
  readonly handed: Handed | undefined;
  /** Listeners and Clusters: a version is in use only when it is warm (C-WRM-01). Others act at once (C-WRM-06). */
  readonly isHeldBack: boolean;
  /** Those that it answers, and those that ask for it by its name. */
  readonly groups: Set<Group>;
  inUse: Version | undefined;
  next: Version | undefined;
  isAbsent: boolean;
  /** Who waits for it cannot go on. */
  isCold: boolean;
  /** A version is in use. */
  isUsable: boolean;
  /** Somebody was told of it. */
  isPublished: boolean;
  failure: MeshFailure | undefined;
}

/** A resource, with what it needs. */
export interface Version {
  readonly entry: Entry;
  resource: HeldResource;
  readonly edges: Edge[];
  readonly sinceMs: number;
  /** How many edges are waiting. */
  waiting: number;
}

/** Something that a version needs. */
export interface Edge {
  readonly owner: Version;
  readonly dependency: Dependency;
  /** The resource does not name it: somebody asked for it. */
  readonly isExtra: boolean;
  /** Undefined: it is not watched. */
  group: Group | undefined;
  state: "met" | "waiting" | "given-up" | "idle" | "by-name" | "unresolved";
  /** Answers up to this one do not count. */
  answersBefore: number;
  timer: number | undefined;
}

/** Whether whoever waits for a group need not wait any more. */
function isSettled(group: Group): boolean {
  return group.isAnswered && group.cold === 0;
}

/** Whether an edge has what it waits for. */
export function isSatisfied({ group, answersBefore }: Edge): boolean {
  return group === undefined || (isSettled(group) && group.answers > answersBefore);
}

/** What is asked of a group's members, or was last. */
export function newestOf({ next, inUse }: Entry): Version | undefined {
  return next ?? inUse;
}
