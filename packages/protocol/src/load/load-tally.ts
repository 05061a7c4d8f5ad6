import type { ClusterLoad, Locality } from "./load-report.ts";
import { type ConnectionChange, type LoadOutcome, LocalityTally } from "./locality-tally.ts";

/** Where a request goes. */
export interface LoadPlace {
  readonly cluster: string;
  /** The name that its endpoints have (`eds_cluster_config.service_name`), if it is another one. */
  readonly service?: string;
  /** Where the endpoint is; nowhere in particular unless given. */
  readonly locality?: Partial<Locality>;
  /** 0 unless given. */
  readonly priority?: number;
  /** The endpoint, as `host:port` or the path of a socket; told only to servers that ask for endpoints. */
  readonly address?: string;
}

/** A request under way. */
export interface StartedLoad {
  /**
   * It ended; a second time does nothing. Metrics are what the endpoint said of itself, such as `cpu_utilization`; one that is no finite number is left out.
   */
  finish(outcome: LoadOutcome, metrics?: Readonly<Record<string, number>>): void;
}

/** A connection that is begun: it comes up or fails, and one that came up is closed. What comes a second time does nothing. */
export interface StartedConnection {
  succeed(): void;
  fail(): void;
  close(): void;
}

/** What load is counted with. */
export interface LoadTallyOptions {
  /** Somebody asks for it. Of the other clusters only what is in progress is known. */
  isCounted(cluster: string): boolean;
}

/** How counts are taken. */
export interface LoadTaking {
  /** For how long a cluster was counted. */
  intervalMsOf(cluster: string): number;
  readonly endpoints: "with-endpoints" | "without-endpoints";
}

/** Counts what becomes of requests until it is taken. What is quiet takes no memory. */
export class LoadTally {
  readonly #options: LoadTallyOptions;
  readonly #clusters = new Map<string, ClusterTally>();

  constructor(options: LoadTallyOptions) {
    this.#options = options;
  }

  /** A request is sent. */
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

  /** A connection is begun. */
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

  /** A request was dropped before it was sent, by a category such as `throttle` or by none. */
  drop(place: Pick<LoadPlace, "cluster" | "service">, category: string | undefined): void {
    if (this.#options.isCounted(place.cluster)) this.#clusterOf(place).drop(category);
  }

  /** What was counted of some clusters is told to nobody. */
  forget(isForgotten: (cluster: string) => boolean): void {
    for (const [key, cluster] of this.#clusters) {
      if (isForgotten(cluster.name)) cluster.forget();
      if (cluster.isQuiet) this.#clusters.delete(key);
    }
  }

  /** What was counted since the last time; clusters of which there is nothing to tell are left out. */
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

/** A key that other texts do not have: their lengths say where each ends. It is made for every request. */
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

  /** Forgets a locality that there is nothing to tell of. */
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
