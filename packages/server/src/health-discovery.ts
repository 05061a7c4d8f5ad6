import type { HealthCheckProtocol } from "@xdskit/envoy-api";
import type { Node, Peer } from "@xdskit/protocol";

/** A client that offers to check the health of endpoints. */
export interface HealthChecker {
  readonly node: Node;
  readonly peer: Peer;
  /** The protocols that it supports. */
  readonly protocols: readonly HealthCheckProtocol[];
}

/**
 * Health discovery (HDS): clients check endpoints for the program, which decides what they check and receives the
 * results. If a function throws, only that call ends.
 */
export interface HealthDiscovery {
  /**
   * Returns what a client checks, as the JSON of an `envoy.service.health.v3.HealthCheckSpecifier`; undefined rejects
   * the client. Called when the client connects and after each of its results; the specifier is sent only if it
   * changed. Must not be async.
   */
  specifierFor(checker: HealthChecker): unknown;
  /**
   * Receives a result, as the JSON of an `EndpointHealthResponse`. `checker` is undefined if the client did not
   * identify itself.
   */
  onHealth(health: unknown, checker: HealthChecker | undefined): void;
}
