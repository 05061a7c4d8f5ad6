import type { LoadRequest } from "./load-report.ts";

/** Which clusters a server wants to hear of, and since when each is counted that was not reported yet. Times are in milliseconds. Immutable. */
export class LoadDemand {
  /** As long as no server said anything. */
  static readonly nothing: LoadDemand = new LoadDemand(new Map(), undefined);
  /** By cluster; more than a server named where it now wants to hear of all. */
  readonly #named: ReadonlyMap<string, number>;
  /** All others; undefined: nobody asks for them. */
  readonly #othersMs: number | undefined;

  private constructor(named: ReadonlyMap<string, number>, othersMs: number | undefined) {
    this.#named = named;
    this.#othersMs = othersMs;
  }

  /** Undefined: it is not asked for. */
  sinceMs(cluster: string): number | undefined {
    return this.#named.get(cluster) ?? this.#othersMs;
  }

  /** What was asked for before is counted on, the rest from now (C-LRS-05). */
  next({ clusters, sendAllClusters }: LoadRequest, nowMs: number): LoadDemand {
    if (sendAllClusters) return new LoadDemand(this.#named, this.#othersMs ?? nowMs);
    return new LoadDemand(new Map(clusters.map((cluster) => [cluster, this.sinceMs(cluster) ?? nowMs])), undefined);
  }

  /** All of it was told. */
  reportedAt(nowMs: number): LoadDemand {
    if (this.#othersMs !== undefined) return new LoadDemand(new Map(), nowMs);
    return new LoadDemand(new Map([...this.#named.keys()].map((cluster) => [cluster, nowMs])), undefined);
  }
}
