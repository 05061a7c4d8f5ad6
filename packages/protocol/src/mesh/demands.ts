import { formatVirtualHostName } from "../resource/virtual-host-name.ts";
import type { DependencyGroup, Edge } from "./graph.ts";
import type { Groups } from "./groups.ts";
import type { DemandOutcome } from "./mesh-effect.ts";
import type { Demanded, DemandId, MeshEvent } from "./mesh-event.ts";
import type { MeshOptions } from "./mesh-options.ts";
import type { MeshTurn } from "./mesh-turn.ts";
import { onDemand, type Versions } from "./versions.ts";

/** How long a request waits by default, in milliseconds. */
const TIMEOUT_MS = 5_000;

interface Demand {
  readonly id: DemandId;
  readonly groups: readonly DependencyGroup[];
  timer: number | undefined;
}

/**
 * Requests that wait for a resource on demand. What they asked for stays wanted after they end, so that the next
 * request need not wait, until a server says that it does not exist; so failed demands do not pile up.
 */
export class Demands {
  readonly #turn: MeshTurn;
  readonly #options: MeshOptions;
  readonly #groups: Groups;
  readonly #versions: Versions;
  readonly #demands = new Map<DemandId, Demand>();
  readonly #waiting = new Map<DependencyGroup, Set<Demand>>();
  /** Clusters that were demanded. */
  readonly #pinned = new Set<DependencyGroup>();

  constructor(turn: MeshTurn, options: MeshOptions, groups: Groups, versions: Versions) {
    this.#turn = turn;
    this.#options = options;
    this.#groups = groups;
    this.#versions = versions;
  }

  add({ demand: id, what, timeoutMs }: Extract<MeshEvent, { kind: "demanded" }>): void {
    const groups = this.#groupsFor(what);
    if (groups.length === 0) {
      this.#tell(id, "absent");
      return;
    }
    const demand: Demand = { id, groups, timer: undefined };
    this.#demands.set(id, demand);
    for (const group of groups) {
      const waiting = this.#waiting.get(group) ?? new Set();
      this.#waiting.set(group, waiting.add(demand));
    }
    this.#judge(demand);
    if (!this.#demands.has(id)) return;
    demand.timer = this.#turn.startLimit(timeoutMs ?? this.#timeoutMsOf(what), () => {
      demand.timer = undefined;
      this.#end(demand, "timeout");
    });
  }

  withdraw(id: DemandId): void {
    const demand = this.#demands.get(id);
    if (demand !== undefined) this.#forget(demand);
  }

  /** Ends the demands that a change of a group settles, and drops the group if what was demanded does not exist. */
  check(group: DependencyGroup): void {
    for (const demand of this.#waiting.get(group) ?? []) this.#judge(demand);
    if (!isMissing(group)) return;
    if (this.#pinned.delete(group)) this.#groups.unpin(group);
    for (const edge of group.users) if (edge.dependency.fetched === "demand") this.#versions.undemand(edge);
  }

  #groupsFor(what: Demanded): readonly DependencyGroup[] {
    switch (what.kind) {
      case "cluster":
        return [this.#pin(what)];
      case "cluster-by":
        return this.#clusterGroups(what.by, what.name);
      case "virtual-host":
        return this.#hostGroups(what.route, what.host);
      case "scope":
        return this.#scopeGroups(what.scope);
      default:
        return what satisfies never;
    }
  }

  #pin({ source, type, name }: Extract<Demanded, { kind: "cluster" }>): DependencyGroup {
    const group = this.#groups.open({ source, type, term: name, handed: undefined, wantsConfirmations: false });
    if (this.#pinned.has(group)) return group;
    this.#pinned.add(group);
    this.#groups.pin(group);
    return group;
  }

  #clusterGroups(by: string, name: string): readonly DependencyGroup[] {
    const filter = this.#clusterFilterOf(by);
    return filter === undefined
      ? []
      : groupsOf([this.#versions.demand(filter.owner, onDemand(filter.dependency, name))]);
  }

  /** Returns a resource's dependency on on-demand Clusters; of several filters, the first. */
  #clusterFilterOf(by: string): Edge | undefined {
    const tables = this.#groups.entries.get(by)?.inUse?.edges.tables;
    return tables?.find(
      ({ dependency }) => dependency.fetched === "demand" && this.#options.kindOf(dependency.type) === "cds",
    );
  }

  #timeoutMsOf(what: Demanded): number {
    const filter = what.kind === "cluster-by" ? this.#clusterFilterOf(what.by) : undefined;
    return filter?.dependency.timeoutMs ?? TIMEOUT_MS;
  }

  #hostGroups(route: string, host: string): readonly DependencyGroup[] {
    const entry = this.#groups.entries.get(route);
    const table = entry?.inUse?.edges.tables.find(({ dependency }) => this.#options.kindOf(dependency.type) === "vhds");
    if (entry === undefined || table === undefined) return [];
    const name = formatVirtualHostName({ routes: entry.name, host });
    return groupsOf([this.#versions.demand(table.owner, onDemand(table.dependency, name))]);
  }

  #scopeGroups(scope: string): readonly DependencyGroup[] {
    const version = this.#groups.entries.get(scope)?.inUse;
    const wanted = (version?.edges.tables ?? []).filter(({ dependency }) => dependency.fetched === "demand");
    return groupsOf(wanted.map(({ owner, dependency }) => this.#versions.demand(owner, dependency)));
  }

  #judge(demand: Demand): void {
    if (demand.groups.every(({ usable }) => usable > 0)) this.#end(demand, "found");
    else if (demand.groups.some(isMissing)) this.#end(demand, "absent");
  }

  #end(demand: Demand, outcome: DemandOutcome): void {
    this.#forget(demand);
    this.#tell(demand.id, outcome);
    for (const group of demand.groups) this.#turn.heard.add(group);
  }

  #forget(demand: Demand): void {
    this.#turn.cancelTimer(demand.timer);
    this.#demands.delete(demand.id);
    for (const group of demand.groups) {
      const waiting = this.#waiting.get(group);
      waiting?.delete(demand);
      if (waiting?.size === 0) this.#waiting.delete(group);
    }
  }

  #tell(demand: DemandId, outcome: DemandOutcome): void {
    this.#turn.ask({ kind: "demand-ended", demand, outcome });
  }
}

/** Whether no resource exists and none is warming. */
function isMissing({ isClosed, isAnswered, usable, cold }: DependencyGroup): boolean {
  return isClosed || (isAnswered && usable === 0 && cold === 0);
}

function groupsOf(edges: readonly Edge[]): readonly DependencyGroup[] {
  return edges.flatMap(({ group }) => group ?? []);
}
