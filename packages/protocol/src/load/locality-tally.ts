import type { EndpointLoad, LoadCounts, LoadMetric, Locality, LocalityLoad } from "./load-report.ts";

/** How a request ended. */
export type LoadOutcome = "succeeded" | "failed";

/** A change of a connection. */
export type ConnectionChange = "up" | "failed" | "closed";

/** The connections to a locality. */
class ConnectionTally {
  #active = 0;
  #new = 0;
  #failed = 0;
  /** The last reported active connections; if not 0, a report must follow when they become 0. */
  #toldActive = 0;

  /** Whether there is nothing to report and no active connection. */
  get isQuiet(): boolean {
    return this.#active + this.#new + this.#failed + this.#toldActive === 0;
  }

  count(change: ConnectionChange, isCounted: boolean): void {
    if (change === "up") this.#active++;
    if (change === "closed") this.#active--;
    if (!isCounted) return;
    if (change === "up") this.#new++;
    if (change === "failed") this.#failed++;
  }

  forget(): void {
    this.#new = 0;
    this.#failed = 0;
  }

  take(): Pick<LocalityLoad, "activeConnections" | "newConnections" | "failedConnections"> {
    const taken = { activeConnections: this.#active, newConnections: this.#new, failedConnections: this.#failed };
    this.forget();
    this.#toldActive = taken.activeConnections;
    return taken;
  }
}

/** The requests to a locality, or to one endpoint of it. */
class RequestTally {
  #succeeded = 0;
  #failed = 0;
  #issued = 0;
  #inProgress = 0;
  /**
   * The last reported requests in progress; if not 0, a report must follow when they become 0, even if the cluster was
   * not requested meanwhile.
   */
  #toldInProgress = 0;

  /** Whether there is nothing to report and no request in progress. */
  get isQuiet(): boolean {
    const counted = this.#succeeded + this.#failed + this.#issued;
    return counted === 0 && this.#inProgress === 0 && this.#toldInProgress === 0;
  }

  start(isCounted: boolean): void {
    this.#inProgress++;
    if (isCounted) this.#issued++;
  }

  finish(outcome: LoadOutcome, isCounted: boolean): void {
    this.#inProgress--;
    if (!isCounted) return;
    if (outcome === "succeeded") this.#succeeded++;
    else this.#failed++;
  }

  forget(): void {
    this.#succeeded = 0;
    this.#failed = 0;
    this.#issued = 0;
  }

  take(): LoadCounts {
    const taken = {
      succeeded: this.#succeeded,
      failed: this.#failed,
      issued: this.#issued,
      inProgress: this.#inProgress,
    };
    this.forget();
    this.#toldInProgress = taken.inProgress;
    return taken;
  }
}

/** The counts of one locality and priority of a cluster. */
export class LocalityTally {
  readonly key: string;
  readonly #locality: Locality;
  readonly #priority: number;
  readonly #requests = new RequestTally();
  readonly #connections = new ConnectionTally();
  readonly #endpoints = new Map<string, RequestTally>();
  readonly #metrics = new Map<string, { requests: number; total: number }>();

  constructor(key: string, locality: Locality, priority: number) {
    this.key = key;
    this.#locality = locality;
    this.#priority = priority;
  }

  /** Whether there is nothing to report, no request in progress and no active connection. */
  get isQuiet(): boolean {
    return this.#requests.isQuiet && this.#connections.isQuiet;
  }

  /** Counts a request; `address` is that of its endpoint, if known. */
  start(address: string | undefined, isCounted: boolean): void {
    this.#requests.start(isCounted);
    if (address === undefined) return;
    const endpoint = this.#endpoints.get(address) ?? new RequestTally();
    this.#endpoints.set(address, endpoint);
    endpoint.start(isCounted);
  }

  finish(address: string | undefined, outcome: LoadOutcome, isCounted: boolean): void {
    this.#requests.finish(outcome, isCounted);
    if (address === undefined) return;
    const endpoint = this.#endpoints.get(address);
    endpoint?.finish(outcome, isCounted);
    if (endpoint?.isQuiet === true) this.#endpoints.delete(address);
  }

  connect(change: ConnectionChange, isCounted: boolean): void {
    this.#connections.count(change, isCounted);
  }

  /** Adds a metric that the endpoint reported about itself with a request. */
  measure(name: string, value: number): void {
    const metric = this.#metrics.get(name) ?? { requests: 0, total: 0 };
    this.#metrics.set(name, metric);
    metric.requests++;
    metric.total += value;
  }

  forget(): void {
    this.#requests.forget();
    this.#connections.forget();
    this.#metrics.clear();
    for (const [address, endpoint] of this.#endpoints) {
      endpoint.forget();
      if (endpoint.isQuiet) this.#endpoints.delete(address);
    }
  }

  /** Takes the counts since the last call. */
  take(endpoints: "with-endpoints" | "without-endpoints"): LocalityLoad {
    const metrics = this.#takeMetrics();
    const taken = this.#takeEndpoints();
    return {
      ...this.#requests.take(),
      locality: this.#locality,
      priority: this.#priority,
      ...this.#connections.take(),
      metrics,
      endpoints: endpoints === "with-endpoints" ? taken : [],
    };
  }

  #takeMetrics(): readonly LoadMetric[] {
    const metrics = [...this.#metrics].map(([name, { requests, total }]) => ({ name, requests, total }));
    this.#metrics.clear();
    return metrics;
  }

  /** Always takes them, so that endpoints requested later cover the same interval. */
  #takeEndpoints(): readonly EndpointLoad[] {
    const taken: EndpointLoad[] = [];
    for (const [address, endpoint] of this.#endpoints) {
      if (endpoint.isQuiet) this.#endpoints.delete(address);
      else taken.push({ address, ...endpoint.take() });
    }
    return taken;
  }
}
