import type { Steps } from "../state/steps.ts";
import type { ClusterLoad, Locality, LocalityLoad } from "./load-report.ts";

/** Identifies a reporter; the shell assigns it and never reuses it. */
export type ReporterId = number;

/** The sums of one cluster (S-LRS-06). */
export interface ClusterSums {
  readonly cluster: string;
  readonly service: string;
  readonly dropped: number;
  readonly droppedBy: ReadonlyMap<string, number>;
  readonly localities: readonly LocalitySums[];
  /** The time of its last report, in milliseconds. */
  readonly lastAt: number;
}

/**
 * The sums of one locality and priority of a cluster; current values are the sum over the newest report of each
 * reporter.
 */
export interface LocalitySums {
  readonly locality: Locality;
  readonly priority: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly issued: number;
  readonly newConnections: number;
  readonly failedConnections: number;
  readonly inProgress: number;
  readonly activeConnections: number;
  /** Requests issued per second, in the newest interval of each reporter. */
  readonly requestsPerSecond: number;
  readonly reporters: number;
  readonly metrics: ReadonlyMap<string, { readonly requests: number; readonly total: number }>;
  readonly endpoints: ReadonlyMap<string, EndpointSums>;
  readonly lastAt: number;
}

export interface EndpointSums {
  readonly succeeded: number;
  readonly failed: number;
  readonly issued: number;
}

/** The current values that one reporter last sent for a locality. */
interface CurrentLoad {
  readonly inProgress: number;
  readonly activeConnections: number;
  readonly requestsPerSecond: number;
}

/** Limits on what is kept. What exceeds them is counted and dropped. */
export interface LoadLimits {
  /** Clusters, localities, endpoints, metrics and drop categories, over all clusters. */
  readonly maxEntries: number;
  /** Current values of localities, over all reporters. */
  readonly maxStandings: number;
}

const LONGEST_NAME = 512;
/** The share of the entries that is freed at once when the limit is reached. */
const SHARE_FREED = 0.1;

class LocalityEntry implements LocalitySums {
  readonly of: ClusterEntry;
  readonly locality: Locality;
  readonly priority: number;
  succeeded = 0;
  failed = 0;
  issued = 0;
  newConnections = 0;
  failedConnections = 0;
  lastAt = 0;
  readonly metrics = new Map<string, { requests: number; total: number }>();
  readonly endpoints = new Map<string, { succeeded: number; failed: number; issued: number }>();
  readonly standings = new Map<ReporterId, CurrentLoad>();

  constructor(of: ClusterEntry, { locality, priority }: LocalityLoad) {
    this.of = of;
    this.locality = locality;
    this.priority = priority;
  }

  get reporters(): number {
    return this.standings.size;
  }

  get inProgress(): number {
    return this.#sum("inProgress");
  }

  get activeConnections(): number {
    return this.#sum("activeConnections");
  }

  get requestsPerSecond(): number {
    return this.#sum("requestsPerSecond");
  }

  /** The number of entries that it takes. */
  get size(): number {
    return 1 + this.metrics.size + this.endpoints.size;
  }

  #sum(key: keyof CurrentLoad): number {
    let sum = 0;
    for (const standing of this.standings.values()) sum += standing[key];
    return sum;
  }
}

class ClusterEntry {
  readonly key: string;
  readonly cluster: string;
  readonly service: string;
  dropped = 0;
  lastAt: number;
  /** Current values of its localities; 0: no connected client reports it. */
  standings = 0;
  readonly droppedBy = new Map<string, number>();
  readonly entries = new Map<string, LocalityEntry>();

  constructor(key: string, { cluster, service }: ClusterLoad, at: number) {
    this.key = key;
    this.cluster = cluster;
    this.service = service;
    this.lastAt = at;
  }

  get localities(): readonly LocalitySums[] {
    return [...this.entries.values()];
  }

  get size(): number {
    let size = 1 + this.droppedBy.size;
    for (const entry of this.entries.values()) size += entry.size;
    return size;
  }
}

/** A report that is being added. */
interface Adding {
  readonly reporter: ReporterId;
  readonly at: number;
  /** The localities of which the reporter has current values. */
  readonly standing: Set<LocalityEntry>;
  /** Those of them that this report did not mention so far. */
  readonly old: Set<LocalityEntry>;
}

/** Adds up the reports of clients, within limits. */
export class LoadSums {
  readonly #limits: LoadLimits;
  readonly #clusters = new Map<string, ClusterEntry>();
  /** Clusters that no connected client reports, longest silent first. */
  readonly #silent = new Set<ClusterEntry>();
  readonly #standingsOf = new Map<ReporterId, Set<LocalityEntry>>();
  /** The time of the report that is being added. */
  #addingAt = 0;
  #entries = 0;
  #standings = 0;
  #leftOut = 0;

  constructor(limits: LoadLimits) {
    this.#limits = limits;
  }

  get clusters(): Iterable<ClusterSums> {
    return this.#clusters.values();
  }

  /** How many entries of reports were dropped because the limits were reached. */
  get leftOut(): number {
    return this.#leftOut;
  }

  /**
   * Adds a report; yields after each of its entries. One report is added at a time. The reporter's current values of localities that it does not mention
   * are dropped.
   */
  *add(reporter: ReporterId, clusters: Iterable<ClusterLoad>, at: number): Steps<void> {
    const standing = this.#standingsOf.get(reporter) ?? new Set();
    this.#standingsOf.set(reporter, standing);
    const old = new Set(standing);
    for (const load of clusters) yield* this.#addCluster({ reporter, standing, old, at }, load);
    for (const entry of old) {
      standing.delete(entry);
      this.#withdraw(reporter, entry);
      yield;
    }
    if (standing.size === 0) this.#standingsOf.delete(reporter);
  }

  /** Drops the current values of a reporter that disconnected. */
  forget(reporter: ReporterId): void {
    for (const entry of this.#standingsOf.get(reporter) ?? []) this.#withdraw(reporter, entry);
    this.#standingsOf.delete(reporter);
  }

  #withdraw(reporter: ReporterId, entry: LocalityEntry): void {
    if (!entry.standings.delete(reporter)) return;
    this.#standings--;
    entry.of.standings--;
    if (entry.of.standings === 0) this.#silent.add(entry.of);
  }

  *#addCluster(adding: Adding, load: ClusterLoad): Steps<void> {
    const { at } = adding;
    this.#addingAt = at;
    const cluster = this.#clusterOf(load, at);
    yield;
    if (cluster === undefined) return;
    cluster.lastAt = at;
    if (cluster.standings === 0) {
      this.#silent.delete(cluster);
      this.#silent.add(cluster);
    }
    cluster.dropped += load.dropped;
    for (const { category, count } of load.droppedBy) {
      if (this.#hasRoom(cluster.droppedBy, category)) {
        cluster.droppedBy.set(category, (cluster.droppedBy.get(category) ?? 0) + count);
      }
      yield;
    }
    for (const locality of load.localities) {
      const entry = this.#localityOf(cluster, locality);
      if (entry !== undefined) {
        this.#stand(adding, entry, standingOf(locality, load.intervalMs));
        yield* this.#addLocality(entry, locality, at);
      }
      yield;
    }
  }

  *#addLocality(entry: LocalityEntry, load: LocalityLoad, at: number): Steps<void> {
    entry.lastAt = at;
    entry.succeeded += load.succeeded;
    entry.failed += load.failed;
    entry.issued += load.issued;
    entry.newConnections += load.newConnections;
    entry.failedConnections += load.failedConnections;
    for (const { name, requests, total } of load.metrics) {
      yield;
      if (!this.#hasRoom(entry.metrics, name)) continue;
      const sum = entry.metrics.get(name) ?? { requests: 0, total: 0 };
      entry.metrics.set(name, { requests: sum.requests + requests, total: sum.total + total });
    }
    for (const { address, succeeded, failed, issued } of load.endpoints) {
      yield;
      if (!this.#hasRoom(entry.endpoints, address)) continue;
      const sum = entry.endpoints.get(address) ?? { succeeded: 0, failed: 0, issued: 0 };
      entry.endpoints.set(address, {
        succeeded: sum.succeeded + succeeded,
        failed: sum.failed + failed,
        issued: sum.issued + issued,
      });
    }
  }

  /** Sets a reporter's current values of a locality; adds them up if a report mentions the locality twice. */
  #stand({ reporter, standing, old }: Adding, entry: LocalityEntry, current: CurrentLoad): void {
    const known = entry.standings.get(reporter);
    if (known === undefined && this.#standings >= this.#limits.maxStandings) {
      this.#leftOut++;
      return;
    }
    if (known === undefined) {
      this.#standings++;
      entry.of.standings++;
      this.#silent.delete(entry.of);
    }
    const isAgain = known !== undefined && !old.has(entry);
    entry.standings.set(reporter, isAgain ? sumOf(known, current) : current);
    standing.add(entry);
    old.delete(entry);
  }

  #clusterOf(load: ClusterLoad, at: number): ClusterEntry | undefined {
    const key = `${load.cluster}\n${load.service}`;
    const known = this.#clusters.get(key);
    if (known !== undefined) return known;
    if (!this.#take(key)) return undefined;
    const entry = new ClusterEntry(key, load, at);
    this.#clusters.set(key, entry);
    return entry;
  }

  #localityOf(cluster: ClusterEntry, load: LocalityLoad): LocalityEntry | undefined {
    const { region, zone, subZone } = load.locality;
    const key = `${region}\n${zone}\n${subZone}\n${load.priority}`;
    const known = cluster.entries.get(key);
    if (known !== undefined) return known;
    if (!this.#take(key)) return undefined;
    const entry = new LocalityEntry(cluster, load);
    cluster.entries.set(key, entry);
    return entry;
  }

  /** Whether there is an entry of that name, or room for one. */
  #hasRoom(entries: ReadonlyMap<string, unknown>, name: string): boolean {
    return entries.has(name) || this.#take(name);
  }

  /** Takes room for an entry of that name; false if there is none or the name is too long. */
  #take(name: string): boolean {
    if (this.#entries >= this.#limits.maxEntries) this.#makeRoom();
    if (name.length <= LONGEST_NAME && this.#entries < this.#limits.maxEntries) {
      this.#entries++;
      return true;
    }
    this.#leftOut++;
    return false;
  }

  /** Drops clusters that no connected client reports, longest silent first, but none in the report being added. */
  #makeRoom(): void {
    const wanted = this.#limits.maxEntries * (1 - SHARE_FREED);
    for (const cluster of this.#silent) {
      if (this.#entries <= wanted || cluster.lastAt >= this.#addingAt) return;
      this.#silent.delete(cluster);
      this.#clusters.delete(cluster.key);
      this.#entries -= cluster.size;
    }
  }
}

function standingOf(
  { inProgress, activeConnections, issued, succeeded, failed }: LocalityLoad,
  intervalMs: number,
): CurrentLoad {
  // Old clients count requests that ended, but not requests issued.
  const requests = issued > 0 ? issued : succeeded + failed;
  return { inProgress, activeConnections, requestsPerSecond: intervalMs > 0 ? (requests * 1000) / intervalMs : 0 };
}

function sumOf(a: CurrentLoad, b: CurrentLoad): CurrentLoad {
  return {
    inProgress: a.inProgress + b.inProgress,
    activeConnections: a.activeConnections + b.activeConnections,
    requestsPerSecond: a.requestsPerSecond + b.requestsPerSecond,
  };
}
