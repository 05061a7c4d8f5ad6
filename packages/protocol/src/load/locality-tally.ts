import type { EndpointLoad, LoadCounts, LoadMetric, Locality, LocalityLoad } from "./load-report.ts";

/** How a request ended. */
export type LoadOutcome = "succeeded" | "failed";

/** What becomes of a connection. */
export type ConnectionChange = "up" | "failed" | "closed";

/** Connections to a locality. */
class ConnectionTally {
  #active = 0;
  #new = 0;
  #failed = 0;
  /** What was told to be active: it has to be told when nothing is any more. */
  #toldActive = 0;

  /** There is nothing to tell, and nothing up. */
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

/** Requests to a locality, or to one endpoint of it. */
class RequestTally {
  #succeeded = 0;
  #failed = 0;
  #issued = 0;
  #inProgress = 0;
  /** What was told to be in progress: it has to be told when nothing is any more, even if it was not asked for meanwhile. */
  #toldInProgress = 0;

  /** There is nothing to tell, and nothing under way. */
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

/** What is counted of one locality and priority of a cluster. */
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

  /** There is nothing to tell, and nothing under way. */
  get isQuiet(): boolean {
    return this.#requests.isQuiet && this.#connections.isQuiet;
  }

  /** The endpoint is the one at an address, if that is known. */
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

  /** A request ended whose endpoint said so much of itself. */
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

  /** What was counted since the last time. */
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

  /** Taken in any case, so that a server that asks for endpoints from now on hears of the same time. */
  #takeEndpoints(): readonly EndpointLoad[] {
    const taken: EndpointLoad[] = [];
    for (const [address, endpoint] of this.#endpoints) {
      if (endpoint.isQuiet) this.#endpoints.delete(address);
      else taken.push({ address, ...endpoint.take() });
    }
    return taken;
  }
}
