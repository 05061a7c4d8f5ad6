import type { ApiVersion, Status } from "@xdskit/protocol";
import { aFunction, fields, oneOf, type RulesOf } from "@xdskit/protocol/internal";
import { aServer } from "../argument.ts";
import type { ServerConfig } from "../config/client-config.ts";
import type { HealthCheckers } from "./health-check.ts";

/**
 * Options of health checking. Endpoints are checked as their `HealthCheck` specifies, with its interval, timeout and
 * thresholds, and reported at the interval of the specifier. The client carries no traffic, so `no_traffic_interval` is
 * ignored.
 */
export interface HealthCheckingOptions {
  /**
   * The server to check for; one of `config.servers` or another.
   * @default the bootstrap's `hds_config`, else the best server of the client's configuration
   */
  readonly server?: ServerConfig;
  /**
   * The API version of the method.
   * @default that of the client's configuration
   */
  readonly apiVersion?: ApiVersion;
  /**
   * Checkers by protocol, which the server is told.
   * @default `checkTcp` for TCP
   */
  readonly checkers?: HealthCheckers;
  /** Called when the stream ends, before the back-off. Its exceptions are rethrown as uncaught. */
  readonly onEnd?: (status: Status) => void;
}

export const healthCheckingRules: RulesOf<HealthCheckingOptions> = {
  server: aServer,
  apiVersion: oneOf("v2", "v3"),
  checkers: fields({ HTTP: aFunction, TCP: aFunction, REDIS: aFunction } satisfies RulesOf<HealthCheckers>),
  onEnd: aFunction,
};

/** Health checking for a server, until it is closed. */
export interface HealthChecking {
  close(): void;
}
