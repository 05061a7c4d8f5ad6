import type { HealthCheckProtocol } from "@xdskit/envoy-api";
import type { HealthStatus, HealthTarget } from "./health-check.ts";
import { durationMs } from "./health-check.ts";

type Json = Readonly<Record<string, unknown>>;

/** The JSON of a `HealthCheckSpecifier`: what a server wants checked. */
export interface Specifier {
  /** The interval of reports. */
  readonly intervalMs: number;
  readonly endpoints: readonly SpecifiedEndpoint[];
}

/** An endpoint, its cluster and locality, and all its checks. */
export interface SpecifiedEndpoint {
  readonly cluster: string;
  readonly locality: unknown;
  readonly endpoint: Json;
  readonly targets: readonly HealthTarget[];
  /** Whether it has a check of an unknown protocol. */
  readonly hasUnknownCheck: boolean;
}

const DEFAULT_INTERVAL_MS = 1_000;
/** The lower limit; without an interval, reports would follow each other without a pause. */
const SHORTEST_INTERVAL_MS = 100;

export function specifierOf(json: unknown): Specifier {
  const { interval, clusterHealthChecks } = objectOf(json);
  const intervalMs = Math.max(SHORTEST_INTERVAL_MS, durationMs(interval) ?? DEFAULT_INTERVAL_MS);
  return { intervalMs, endpoints: listOf(clusterHealthChecks).flatMap(endpointsOf) };
}

function endpointsOf(check: Json): readonly SpecifiedEndpoint[] {
  const cluster = textOf(check["clusterName"]);
  const checks = listOf(check["healthChecks"]);
  return listOf(check["localityEndpoints"]).flatMap(({ locality, endpoints }) =>
    listOf(endpoints).map((endpoint) => {
      const targets = checks.flatMap((one) => targetsOf(cluster, endpoint, one));
      return { cluster, locality, endpoint, targets, hasUnknownCheck: targets.length < checks.length };
    }),
  );
}

function targetsOf(cluster: string, endpoint: Json, check: Json): readonly HealthTarget[] {
  const protocol = protocolOf(check);
  const address = objectOf(objectOf(endpoint["address"])["socketAddress"]);
  if (protocol === undefined || address["address"] === undefined) return [];
  const { portValue, address: otherAddress } = objectOf(endpoint["healthCheckConfig"]);
  const other = objectOf(objectOf(otherAddress)["socketAddress"])["address"];
  const host = textOf(other ?? address["address"]);
  const port = Number(portValue ?? address["portValue"] ?? 0);
  return [{ cluster, host, port, protocol, check, endpoint }];
}

function protocolOf(check: Json): HealthCheckProtocol | undefined {
  if (check["tcpHealthCheck"] !== undefined) return "TCP";
  if (check["httpHealthCheck"] !== undefined) return "HTTP";
  const isRedis = textOf(objectOf(check["customHealthCheck"])["name"]).endsWith("redis");
  return isRedis ? "REDIS" : undefined;
}

/** The health of one endpoint. */
export interface Finding extends SpecifiedEndpoint {
  readonly status: HealthStatus;
}

/**
 * The JSON of an `EndpointHealthResponse`: by cluster and locality, and for v2 also as a flat list, which is all that
 * v2 has.
 */
export function findingsJson(version: "v2" | "v3", findings: readonly Finding[]): unknown {
  const healthOf = ({ endpoint, status }: Finding): unknown => ({ endpoint, healthStatus: status });
  if (version === "v2") return { endpointsHealth: findings.map(healthOf) };
  const clusters = grouped(findings, ({ cluster }) => cluster);
  return {
    clusterEndpointsHealth: clusters.map(([clusterName, ofCluster]) => ({
      clusterName,
      localityEndpointsHealth: grouped(ofCluster, ({ locality }) => JSON.stringify(locality)).map(([, ofLocality]) => {
        const locality = ofLocality[0]?.locality;
        return { ...(locality !== undefined && { locality }), endpointsHealth: ofLocality.map(healthOf) };
      }),
    })),
  };
}

function grouped<K, T>(items: readonly T[], keyOf: (item: T) => K): readonly (readonly [K, readonly T[]])[] {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return [...groups];
}

function objectOf(value: unknown): Json {
  return typeof value === "object" && value !== null ? (value as Json) : {};
}

function listOf(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.map(objectOf) : [];
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
