import type { HeldResource } from "../client/held.ts";
import type { SourceId } from "../client/source.ts";
import type { Dependency, HandedDown } from "./dependency.ts";
import {
  type DependencyGroup,
  type Edge,
  Edges,
  type GraphEntry,
  type InheritedSource,
  isSatisfied,
  type Version,
} from "./graph.ts";
import type { Groups, Wanted } from "./groups.ts";
import type { MeshOptions } from "./mesh-options.ts";
import type { MeshTurn } from "./mesh-turn.ts";

/** The version in use and the warming version of each resource, with their dependencies. */
export class Versions {
  readonly #turn: MeshTurn;
  readonly #options: MeshOptions;
  readonly #groups: () => Groups;
  /** The number of warming Clusters by source. */
  readonly #warmingClusters = new Map<SourceId, number>();

  constructor(turn: MeshTurn, options: MeshOptions, groups: () => Groups) {
    this.#turn = turn;
    this.#options = options;
    this.#groups = groups;
  }

  /** Whether a Cluster of that source is warming. */
  isWarming(source: SourceId): boolean {
    return this.#warmingClusters.has(source);
  }

  /**
   * Adds a new version. The previous one is dropped only after the dependencies of the new one are watched, so shared
   * watches stay open.
   */
  take(entry: GraphEntry, resource: HeldResource): void {
    const version: Version = { entry, resource, edges: new Edges(), sinceMs: this.#turn.nowMs, waiting: 0 };
    for (const dependency of this.#options.dependenciesOf(resource)) this.#need(version, dependency);
    this.#keepDemanded(entry.inUse, version);
    if (entry.isHeldBack) this.#setNext(entry, version);
    else this.#setInUse(entry, version);
    if (entry.next === version && version.waiting === 0) this.#promote(entry, version);
    this.#look(entry);
    // Its content decides whether it fits its users (C-ECD-04).
    if (this.#options.kindOf(entry.type) === "ecds") for (const group of entry.groups) this.#turn.touchUsers(group);
  }

  /** Drops the versions of an entry. */
  empty(entry: GraphEntry): void {
    this.#setNext(entry, undefined);
    this.#setInUse(entry, undefined);
    this.#look(entry);
  }

  /** Ends the waits for a group that was answered or whose member became warm. */
  recheck(group: DependencyGroup): void {
    for (const edge of group.waiters) {
      if (!isSatisfied(edge)) continue;
      group.waiters.delete(edge);
      if (edge.state === "waiting") this.#stopWaiting(edge, "met");
      else {
        edge.state = "met";
        this.#turn.changed.add(edge.owner.entry);
      }
    }
  }

  /** Watches something that a version fetches on demand; returns the same edge if it is watched already. */
  demand(version: Version, dependency: Dependency): Edge {
    const before = version.edges.find(dependency);
    if (before !== undefined && before.state !== "idle") return before;
    const edge = before ?? newEdge(version, dependency, "extra");
    if (before === undefined) version.edges.add(edge);
    this.#connect(edge);
    this.#turn.changed.add(version.entry);
    return edge;
  }

  /** Stops watching a demanded resource that does not exist. */
  undemand(edge: Edge): void {
    const { owner, group } = edge;
    this.#disconnect(edge);
    if (group !== undefined) this.#loosen(group);
    edge.state = "idle";
    if (edge.isExtra) owner.edges.drop(edge);
    this.#turn.changed.add(owner.entry);
  }

  #need(version: Version, dependency: Dependency): void {
    const edge = newEdge(version, dependency, "own");
    version.edges.add(edge);
    if (dependency.fetched === "demand") {
      // Reports an unusable source before a request needs it.
      if (this.#wantedBy(edge) === undefined) this.#leaveUnresolved(edge);
      return;
    }
    if (dependency.source.kind === "roots" && !this.#options.followsClusters) {
      edge.state = "by-name";
      return;
    }
    this.#connect(edge);
  }

  #connect(edge: Edge): void {
    const { owner, dependency } = edge;
    const wanted = this.#wantedBy(edge);
    if (wanted === undefined) {
      this.#leaveUnresolved(edge);
      return;
    }
    const group = this.#groups().open(wanted);
    edge.group = group;
    edge.state = "met";
    group.users.add(edge);
    if (!dependency.warms) return;
    if (dependency.isAskedAnew === true && usesNow(owner.entry, group) && this.#followAnew(owner.entry, group))
      edge.answersBefore = group.answers;
    if (isSatisfied(edge)) return;
    this.#wait(edge, group);
  }

  /**
   * Whether new endpoints follow a changed Cluster. On another stream they may overtake it, and a file, a poll or another
   * server does not resend them. There Envoy subscribes anew; what it receives is what is held.
   */
  #followAnew({ source }: GraphEntry, group: DependencyGroup): boolean {
    const isOneStream = group.source === source && this.#options.isAggregated(source);
    return isOneStream && this.#options.edsCacheOf(source) !== "at-once";
  }

  #leaveUnresolved(edge: Edge): void {
    edge.state = "unresolved";
    const { source, type, name } = edge.owner.entry;
    this.#turn.report({ kind: "source-unresolved", source, type, name, wanted: edge.dependency });
  }

  #wait(edge: Edge, group: DependencyGroup): void {
    edge.state = "waiting";
    edge.owner.waiting++;
    group.waiters.add(edge);
    const { dependency, owner } = edge;
    const timeoutMs = dependency.source.kind === "parent" ? (owner.entry.handed?.timeoutMs ?? 0) : dependency.timeoutMs;
    edge.timer = this.#turn.startLimit(timeoutMs, () => this.#giveUp(edge, group));
  }

  #giveUp(edge: Edge, group: DependencyGroup): void {
    if (edge.state !== "waiting") return;
    edge.timer = undefined;
    const { source, type, name } = edge.owner.entry;
    this.#turn.report({ kind: "wait-given-up", source, type, name, wanted: edge.dependency });
    this.giveUpOn(group);
    this.#stopWaiting(edge, "given-up");
  }

  /** Gives up waiting for the first answer of a group. */
  giveUpOn(group: DependencyGroup): void {
    if (group.isAnswered || group.isGivenUp) return;
    group.isGivenUp = true;
    this.#turn.unanswered--;
  }

  #wantedBy({ owner, dependency }: Edge): Wanted | undefined {
    const { entry } = owner;
    const { type, name, source: from, handsDown } = dependency;
    const source = from.kind === "parent" ? entry.handed?.source : this.#options.sourceOf(dependency, entry.source);
    if (source === undefined) return undefined;
    const handed = handsDown && this.#handedBy(entry, dependency, handsDown);
    return { source, type, term: name, handed, wantsConfirmations: dependency.isAskedAnew === true };
  }

  #handedBy(
    entry: GraphEntry,
    dependency: Dependency,
    { source: from, timeoutMs }: HandedDown,
  ): InheritedSource | undefined {
    const source = this.#options.sourceOf({ ...dependency, source: from }, entry.source);
    return source === undefined ? undefined : { source, timeoutMs };
  }

  /** Keeps demanded resources wanted when the resource changes. */
  #keepDemanded(before: Version | undefined, version: Version): void {
    for (const { dependency, group } of before?.edges ?? []) {
      if (dependency.fetched !== "demand" || group === undefined) continue;
      const own = version.edges.find(dependency);
      const near = version.edges.tables.find((table) => table.dependency.type === dependency.type);
      // A demanded host is dropped if its table is no longer on demand.
      if (own !== undefined) this.demand(version, own.dependency);
      else if (near !== undefined) this.demand(version, onDemand(near.dependency, dependency.name));
    }
  }

  #stopWaiting(edge: Edge, state: "met" | "given-up"): void {
    this.#turn.cancelTimer(edge.timer);
    edge.timer = undefined;
    edge.state = state;
    const { owner } = edge;
    owner.waiting--;
    this.#turn.changed.add(owner.entry);
    if (owner.waiting > 0) return;
    if (owner.entry.next === owner) this.#promote(owner.entry, owner);
    this.#look(owner.entry);
  }

  /** Takes over from the version in use (C-WRM-02). */
  #promote(entry: GraphEntry, version: Version): void {
    entry.next = undefined;
    this.#countWarming(entry, -1);
    this.#setInUse(entry, version);
    const { source, type, name } = entry;
    this.#turn.report({ kind: "warmed", source, type, name, afterMs: this.#turn.nowMs - version.sinceMs });
  }

  #setNext(entry: GraphEntry, version: Version | undefined): void {
    const before = entry.next;
    entry.next = version;
    this.#countWarming(entry, (version === undefined ? 0 : 1) - (before === undefined ? 0 : 1));
    this.#drop(before);
  }

  #setInUse(entry: GraphEntry, version: Version | undefined): void {
    const before = entry.inUse;
    entry.inUse = version;
    this.#drop(before);
  }

  #drop(version: Version | undefined): void {
    if (version === undefined) return;
    const { entry, edges } = version;
    if (this.#options.kindOf(entry.type) === "cds") this.#turn.clustersTouched.add(entry.source);
    const wanted = new Set(
      [entry.inUse, entry.next].flatMap((one) => [...(one?.edges ?? [])]).map(({ group }) => group),
    );
    for (const edge of edges) {
      const { group } = edge;
      this.#disconnect(edge);
      // Groups that the entry still refers to lost no user.
      if (group !== undefined && !wanted.has(group)) this.#loosen(group);
    }
  }

  #disconnect(edge: Edge): void {
    const { group } = edge;
    this.#turn.cancelTimer(edge.timer);
    edge.timer = undefined;
    edge.group = undefined;
    group?.users.delete(edge);
    group?.waiters.delete(edge);
  }

  #loosen(group: DependencyGroup): void {
    if (!group.isClosed) this.#turn.loose.add(group);
  }

  #countWarming(entry: GraphEntry, by: number): void {
    if (by === 0) return;
    this.#turn.warming += by;
    if (this.#options.kindOf(entry.type) !== "cds") return;
    const count = (this.#warmingClusters.get(entry.source) ?? 0) + by;
    if (count > 0) this.#warmingClusters.set(entry.source, count);
    else this.#warmingClusters.delete(entry.source);
    this.#turn.clustersTouched.add(entry.source);
  }

  /** Updates the state of an entry, and notifies the groups that wait for it or show it. */
  #look(entry: GraphEntry): void {
    this.#turn.changed.add(entry);
    const { inUse, next } = entry;
    const isCold = entry.isHeldBack ? inUse === undefined && next !== undefined : (inUse?.waiting ?? 0) > 0;
    const isUsable = inUse !== undefined;
    const coldBy = Number(isCold) - Number(entry.isCold);
    const usableBy = Number(isUsable) - Number(entry.isUsable);
    entry.isCold = isCold;
    entry.isUsable = isUsable;
    if (coldBy === 0 && usableBy === 0) return;
    for (const group of entry.groups) {
      if (!group.members.has(entry.id)) continue;
      group.cold += coldBy;
      group.usable += usableBy;
      this.#turn.heard.add(group);
      if (usableBy !== 0 && group.usable === Math.max(usableBy, 0)) this.#turn.touchUsers(group);
    }
    if (coldBy < 0) this.#turn.thawed.add(entry);
  }
}

/** Returns a dependency on one demanded name that nothing waits for. */
export function onDemand(dependency: Dependency, name: string): Dependency {
  return { ...dependency, name, fetched: "demand", warms: false };
}

function newEdge(owner: Version, dependency: Dependency, as: "own" | "extra"): Edge {
  const isExtra = as === "extra";
  return { owner, dependency, isExtra, group: undefined, state: "idle", answersBefore: -1, timer: undefined };
}

/** Whether the version in use refers to a group. */
function usesNow({ inUse }: GraphEntry, group: DependencyGroup): boolean {
  for (const edge of inUse?.edges ?? []) if (edge.group === group) return true;
  return false;
}
