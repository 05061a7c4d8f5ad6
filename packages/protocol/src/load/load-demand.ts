import type { LoadRequest } from "./load-report.ts";

/**
 * The clusters that a server asked to report, each with the start of its current interval in milliseconds. Immutable.
 */
export class LoadDemand {
  /** Before a server asked for anything. */
  static readonly nothing: LoadDemand = new LoadDemand(new Map(), undefined);
  /** By cluster; remains from an earlier request when the server now asks for all. */
  readonly #named: ReadonlyMap<string, number>;
  /** For all other clusters; undefined if they are not requested. */
  readonly #othersMs: number | undefined;

  private constructor(named: ReadonlyMap<string, number>, othersMs: number | undefined) {
    this.#named = named;
    this.#othersMs = othersMs;
  }

  /** Returns the start of a cluster's interval; undefined if it is not requested. */
  sinceMs(cluster: string): number | undefined {
    return this.#named.get(cluster) ?? this.#othersMs;
  }

  /** Applies a new request: clusters requested before keep their interval, others start now (C-LRS-05). */
  next({ clusters, sendAllClusters }: LoadRequest, nowMs: number): LoadDemand {
    if (sendAllClusters) return new LoadDemand(this.#named, this.#othersMs ?? nowMs);
    return new LoadDemand(new Map(clusters.map((cluster) => [cluster, this.sinceMs(cluster) ?? nowMs])), undefined);
  }

  /** Restarts every interval after a report. */
  reportedAt(nowMs: number): LoadDemand {
    if (this.#othersMs !== undefined) return new LoadDemand(new Map(), nowMs);
    return new LoadDemand(new Map([...this.#named.keys()].map((cluster) => [cluster, nowMs])), undefined);
  }
}
