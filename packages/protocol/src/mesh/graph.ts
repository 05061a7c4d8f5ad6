import type { HeldResource } from "../client/held.ts";
import type { SourceId } from "../client/source.ts";
import type { TypeUrl } from "../resource/type-url.ts";
import type { Dependency } from "./dependency.ts";
import type { MeshFailure, MeshWatchId, NodeId } from "./mesh-node.ts";

/** The source that the members of a group use for dependencies without one. */
export interface InheritedSource {
  readonly source: SourceId;
  readonly timeoutMs: number;
}

/** A watched name, glob or wildcard; one watch serves all its users. */
export interface DependencyGroup {
  readonly key: string;
  readonly watch: MeshWatchId;
  readonly source: SourceId;
  readonly type: TypeUrl;
  readonly term: string;
  readonly isCollection: boolean;
  readonly handed: InheritedSource | undefined;
  /** When it was first watched. */
  readonly sinceMs: number;
  /** The number of roots and demands that need it, besides its users. */
  pins: number;
  /** The dependencies on it. */
  readonly users: Set<Edge>;
  /** Those of the users that wait for it, or gave up waiting. */
  readonly waiters: Set<Edge>;
  /** The resources that answer it. */
  readonly members: Map<NodeId, GraphEntry>;
  /** The number of members that are not warm yet. */
  cold: number;
  /** The number of usable members. */
  usable: number;
  /**
   * The entry of the watched name while nothing is known; undefined for a collection, and once a resource of another
   * name answers.
   */
  asked: GraphEntry | undefined;
  /** The number of responses. */
  answers: number;
  isAnswered: boolean;
  /** The wait for the first response was given up. */
  isGivenUp: boolean;
  isClosed: boolean;
}

/** A resource of a source, or a placeholder for one that is missing. */
export interface GraphEntry {
  readonly id: NodeId;
  readonly source: SourceId;
  readonly type: TypeUrl;
  readonly name: string;
  readonly handed: InheritedSource | undefined;
  /**
   * For Listeners and Clusters: a version is used only once it is warm (C-WRM-01). Others are used at once (C-WRM-06).
   */
  readonly isHeldBack: boolean;
  /** The groups that it answers, and those that watch its name. */
  readonly groups: Set<DependencyGroup>;
  inUse: Version | undefined;
  next: Version | undefined;
  isAbsent: boolean;
  /** Whether those that wait for it have to go on waiting. */
  isCold: boolean;
  /** Whether a version is in use. */
  isUsable: boolean;
  /** Whether it was ever published. */
  isPublished: boolean;
  failure: MeshFailure | undefined;
}

/** A version of a resource with its dependencies. */
export interface Version {
  readonly entry: GraphEntry;
  resource: HeldResource;
  readonly edges: Edges;
  readonly sinceMs: number;
  /** The number of edges that are waiting. */
  waiting: number;
}

/** A dependency of a version. */
export interface Edge {
  readonly owner: Version;
  readonly dependency: Dependency;
  /** Whether a demand added it, and not the resource. */
  readonly isExtra: boolean;
  /** Undefined if it is not watched. */
  group: DependencyGroup | undefined;
  state: "met" | "waiting" | "given-up" | "idle" | "by-name" | "unresolved";
  /** Responses up to this number do not count. */
  answersBefore: number;
  timer: number | undefined;
}

/** The edges of a version: those of the resource itself, then those that demands added. */
export class Edges implements Iterable<Edge> {
  readonly #own: Edge[] = [];
  /** By the wanted type and name; made when needed, because few versions are demanded from. */
  #ownByWant: Map<string, Edge> | undefined;
  #extra: Map<string, Edge> | undefined;
  #tables: readonly Edge[] | undefined;

  /** Those of the resource itself that demands may add names to; named Clusters that are not on demand are none. */
  get tables(): readonly Edge[] {
    this.#tables ??= this.#own.filter(
      ({ dependency: { fetched, source } }) => fetched === "demand" || source.kind !== "roots",
    );
    return this.#tables;
  }

  *[Symbol.iterator](): Iterator<Edge> {
    yield* this.#own;
    if (this.#extra !== undefined) yield* this.#extra.values();
  }

  add(edge: Edge): void {
    if (edge.isExtra) {
      this.#extra ??= new Map();
      this.#extra.set(wantOf(edge.dependency), edge);
      return;
    }
    this.#own.push(edge);
    this.#ownByWant = undefined;
    this.#tables = undefined;
  }

  /** Returns the edge that wants the same; of several, the first. */
  find(dependency: Dependency): Edge | undefined {
    return this.#findOwn(dependency) ?? this.#extra?.get(wantOf(dependency));
  }

  /** Removes an edge that a demand added. */
  drop({ dependency }: Edge): void {
    this.#extra?.delete(wantOf(dependency));
  }

  #findOwn(dependency: Dependency): Edge | undefined {
    if (this.#ownByWant === undefined) {
      this.#ownByWant = new Map();
      for (const edge of this.#own) {
        const want = wantOf(edge.dependency);
        if (!this.#ownByWant.has(want)) this.#ownByWant.set(want, edge);
      }
    }
    return this.#ownByWant.get(wantOf(dependency));
  }
}

function wantOf({ type, name }: Dependency): string {
  return `${type} ${name}`;
}

/** Whether a group has an answer and all its members are warm. */
function isSettled(group: DependencyGroup): boolean {
  return group.isAnswered && group.cold === 0;
}

/** Whether an edge has what it waits for. */
export function isSatisfied({ group, answersBefore }: Edge): boolean {
  return group === undefined || (isSettled(group) && group.answers > answersBefore);
}

/** Returns the newest version of an entry, warm or not. */
export function newestOf({ next, inUse }: GraphEntry): Version | undefined {
  return next ?? inUse;
}
