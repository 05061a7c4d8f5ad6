import type { ClusterLoad, Locality } from "./load-report.ts";
import { type ConnectionChange, type LoadOutcome, LocalityTally } from "./locality-tally.ts";

/** Where a request goes. */
export interface LoadPlace {
  readonly cluster: string;
  /** The EDS service name (`eds_cluster_config.service_name`), if it differs from the cluster's name. */
  readonly service?: string;
  /**
   * The locality of the endpoint.
   *
   * @default an empty locality
   */
  readonly locality?: Partial<Locality>;
  /**
   * The priority of the locality.
   *
   * @default 0
   */
  readonly priority?: number;
  /** The endpoint as `host:port` or the path of a socket; reported only to servers that ask for endpoints. */
  readonly address?: string;
}

/** A request in progress. */
export interface StartedLoad {
  /**
   * Ends the request; a second call does nothing. `metrics` are what the endpoint reported about itself, such as
   * `cpu_utilization`; values that are not finite are dropped.
   */
  finish(outcome: LoadOutcome, metrics?: Readonly<Record<string, number>>): void;
}

/** A connection attempt, which succeeds or fails; one that succeeded is closed later. Repeated calls do nothing. */
export interface StartedConnection {
  succeed(): void;
  fail(): void;
  close(): void;
}

/** Options of a load tally. */
export interface LoadTallyOptions {
  /** Whether a server asks for the cluster. For other clusters only the current values are tracked. */
  isCounted(cluster: string): boolean;
}

/** How counts are taken. */
export interface LoadTaking {
  /** Returns the interval that the counts of a cluster cover, in milliseconds. */
  intervalMsOf(cluster: string): number;
  readonly endpoints: "with-endpoints" | "without-endpoints";
}

/** Counts requests and connections until the counts are taken. Idle clusters take no memory. */
export class LoadTally {
  readonly #options: LoadTallyOptions;
  readonly #clusters = new Map<string, ClusterTally>();

  constructor(options: LoadTallyOptions) {
    this.#options = options;
  }

  /** Counts a request that is being sent. */
  start(place: LoadPlace): StartedLoad {
    const cluster = this.#clusterOf(place);
    const locality = cluster.localityOf(place);
    const { address } = place;
    locality.start(address, this.#options.isCounted(place.cluster));
    let isUnderWay = true;
    return {
      finish: (outcome, metrics = {}) => {
        if (!isUnderWay) return;
        isUnderWay = false;
        const isCounted = this.#options.isCounted(place.cluster);
        if (isCounted) measure(locality, metrics);
        locality.finish(address, outcome, isCounted);
        cluster.release(locality);
        if (cluster.isQuiet) this.#clusters.delete(cluster.key);
      },
    };
  }

  /** Counts a connection attempt. */
  connect(place: Omit<LoadPlace, "address">): StartedConnection {
    let state: "begun" | "up" | "over" = "begun";
    const count = (change: ConnectionChange): void => {
      const cluster = this.#clusterOf(place);
      const locality = cluster.localityOf(place);
      locality.connect(change, this.#options.isCounted(place.cluster));
      cluster.release(locality);
      if (cluster.isQuiet) this.#clusters.delete(cluster.key);
    };
    return {
      succeed: () => {
        if (state !== "begun") return;
        state = "up";
        count("up");
      },
      fail: () => {
        if (state !== "begun") return;
        state = "over";
        count("failed");
      },
      close: () => {
        if (state === "up") count("closed");
        state = "over";
      },
    };
  }

  /** Counts a request dropped before it was sent, with a category such as `throttle` or without one. */
  drop(place: Pick<LoadPlace, "cluster" | "service">, category: string | undefined): void {
    if (this.#options.isCounted(place.cluster)) this.#clusterOf(place).drop(category);
  }

  /** Drops the counts of some clusters. */
  forget(isForgotten: (cluster: string) => boolean): void {
    for (const [key, cluster] of this.#clusters) {
      if (isForgotten(cluster.name)) cluster.forget();
      if (cluster.isQuiet) this.#clusters.delete(key);
    }
  }

  /** Takes the counts since the last call; omits clusters without any. */
  take(taking: LoadTaking): readonly ClusterLoad[] {
    const loads: ClusterLoad[] = [];
    for (const [key, cluster] of this.#clusters) {
      if (!this.#options.isCounted(cluster.name)) continue;
      const load = cluster.take(taking);
      if (load !== undefined) loads.push(load);
      if (cluster.isQuiet) this.#clusters.delete(key);
    }
    return loads;
  }

  #clusterOf({ cluster, service = "" }: Pick<LoadPlace, "cluster" | "service">): ClusterTally {
    const key = keyOf(cluster, service);
    const tally = this.#clusters.get(key) ?? new ClusterTally(key, cluster, service);
    this.#clusters.set(key, tally);
    return tally;
  }
}

/** Returns a unique key: the lengths mark where each part ends. Cheap, because every request makes one. */
function keyOf(first: string, second: string, third: string = ""): string {
  return `${first.length} ${second.length} ${first}${second}${third}`;
}

function measure(locality: LocalityTally, metrics: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(metrics)) if (Number.isFinite(value)) locality.measure(name, value);
}

class ClusterTally {
  readonly key: string;
  readonly name: string;
  readonly #service: string;
  readonly #localities = new Map<string, LocalityTally>();
  readonly #droppedBy = new Map<string, number>();
  #dropped = 0;

  constructor(key: string, name: string, service: string) {
    this.key = key;
    this.name = name;
    this.#service = service;
  }

  get isQuiet(): boolean {
    return this.#dropped === 0 && this.#localities.size === 0;
  }

  localityOf({ locality = {}, priority = 0 }: LoadPlace): LocalityTally {
    const { region = "", zone = "", subZone = "" } = locality;
    const key = `${priority} ${keyOf(region, zone, subZone)}`;
    const tally = this.#localities.get(key) ?? new LocalityTally(key, { region, zone, subZone }, priority);
    this.#localities.set(key, tally);
    return tally;
  }

  /** Drops a locality that has nothing to report. */
  release(locality: LocalityTally): void {
    if (locality.isQuiet) this.#localities.delete(locality.key);
  }

  drop(category: string | undefined): void {
    this.#dropped++;
    if (category !== undefined) this.#droppedBy.set(category, (this.#droppedBy.get(category) ?? 0) + 1);
  }

  forget(): void {
    this.#dropped = 0;
    this.#droppedBy.clear();
    for (const locality of this.#localities.values()) {
      locality.forget();
      this.release(locality);
    }
  }

  take({ intervalMsOf, endpoints }: LoadTaking): ClusterLoad | undefined {
    const dropped = this.#dropped;
    const droppedBy = [...this.#droppedBy].map(([category, count]) => ({ category, count }));
    this.#dropped = 0;
    this.#droppedBy.clear();
    const localities = [...this.#localities.values()].map((locality) => locality.take(endpoints));
    for (const locality of this.#localities.values()) this.release(locality);
    if (localities.length === 0 && dropped === 0) return undefined;
    const intervalMs = intervalMsOf(this.name);
    return { cluster: this.name, service: this.#service, intervalMs, dropped, droppedBy, localities };
  }
}
