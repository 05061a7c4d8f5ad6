import type { ApiVersion } from "@xdskit/protocol";

/**
 * How a method is called: State of the World or delta on a stream, or State of the World with one request and one
 * response.
 */
export type DiscoveryCall = "sotw" | "delta" | "fetch";

/** The discovery service of a resource type and its REST path. Every type is served over ADS without one. */
export interface DiscoveryService {
  /** Full names, without `DiscoveryService` at the end. */
  readonly services: Readonly<Partial<Record<ApiVersion, string>>>;
  /** What follows `Stream`, `Delta` or `Fetch` in method names. */
  readonly noun: string;
  /**
   * The methods it has.
   *
   * @default all three
   */
  readonly calls?: readonly DiscoveryCall[];
  /** A spelling of the services that clients use only under the switch `docAliases`: what to replace by what. */
  readonly alias?: readonly [spelling: string, alias: string];
  /** Whether it had an `Incremental` method in 2018 (B-DLT-18). */
  readonly isIncremental2018?: boolean;
  /** What follows `/v3/discovery:` in its REST path, or why it is not served over REST and which paths say so. */
  readonly rest: string | { readonly absent: readonly string[]; readonly reason: string };
}
