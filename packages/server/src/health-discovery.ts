import type { HealthCheckProtocol } from "@xdskit/envoy-api";
import type { Node, Peer } from "@xdskit/protocol";

/** A client that offers to check the health of endpoints for the server. */
export interface HealthChecker {
  readonly node: Node;
  readonly peer: Peer;
  /** How it can check. */
  readonly protocols: readonly HealthCheckProtocol[];
}

/**
 * Health discovery (HDS), for programs that want clients to check endpoints on their behalf. What is checked, and what becomes
 * of what is found, is the program's; a function that throws ends that call, and no other.
 */
export interface HealthDiscovery {
  /**
   * What a client is to check: the JSON of an `envoy.service.health.v3.HealthCheckSpecifier`; undefined refuses it. Asked when the
   * client offers itself, and after everything it finds: it is told only what differs from before.
   */
  specifierFor(checker: HealthChecker): unknown;
  /** What a client found: the JSON of an `EndpointHealthResponse`. A client that does not say who it is has no `checker`. */
  onHealth(health: unknown, checker: HealthChecker | undefined): void;
}
