import type { ApiVersion, Status } from "@xdskit/protocol";
import { aFunction, aServer, fields, oneOf, type RulesOf } from "../argument.ts";
import type { ServerConfig } from "../config/client-config.ts";
import type { HealthCheckers } from "./health-check.ts";

/**
 * For whom endpoints are checked, and how. Each is checked as its `HealthCheck` says, in its interval, within its timeout, by its thresholds; what is found is
 * told in the interval of the specifier. Traffic is none of the client's, so `no_traffic_interval` is not looked at.
 */
export interface HealthCheckingOptions {
  /**
   * One of `config.servers`, or any other; unless given, that of the `hds_config` of the bootstrap, or without one the best server of the client's own
   * configuration.
   */
  readonly server?: ServerConfig;
  /** Of the method; that of the client's own configuration unless given. */
  readonly apiVersion?: ApiVersion;
  /** By protocol, which the server is told; `checkTcp` for TCP unless given. */
  readonly checkers?: HealthCheckers;
  /** Called when the stream ended, before the pause until it is opened again. What it throws is thrown as one that nobody catches. */
  readonly onEnd?: (status: Status) => void;
}

export const healthCheckingRules: RulesOf<HealthCheckingOptions> = {
  server: aServer,
  apiVersion: oneOf("v2", "v3"),
  checkers: fields({ HTTP: aFunction, TCP: aFunction, REDIS: aFunction } satisfies RulesOf<HealthCheckers>),
  onEnd: aFunction,
};

/** Endpoints are checked for a server until this is closed. */
export interface HealthChecking {
  close(): void;
}
