/** Every discovery method that a client may call, by path (requirements 1.1). */
import { type ApiVersion, formatTypeUrl, type TypeUrl } from "@xdskit/protocol";
import type { MethodSwitch } from "@xdskit/protocol/internal";

/**
 * How a method is called: State of the World or delta on a stream, or State of the World with one request and one
 * response.
 */
export type DiscoveryCall = "sotw" | "delta" | "fetch";

/** One method of a discovery service. */
export interface DiscoveryMethod {
  /** Such as `/envoy.service.cluster.v3.ClusterDiscoveryService/StreamClusters`. */
  readonly path: string;
  readonly call: DiscoveryCall;
  /** The API version of its messages, whatever that of the types in them (B-TYP-08, S-TYP-09). */
  readonly apiVersion: ApiVersion;
  /** The type that the method serves; undefined on an aggregated stream. */
  readonly onlyType: TypeUrl | undefined;
  /** The dialect switch that enables the method; undefined if it is always served. */
  readonly needs?: MethodSwitch;
}

interface DiscoveryService {
  readonly service: string;
  readonly apiVersion: ApiVersion;
  readonly message: string | undefined;
  /** What follows `Stream`, `Delta` or `Fetch` in method names. */
  readonly noun: string;
  readonly calls: readonly DiscoveryCall[];
  readonly needs?: MethodSwitch;
}

const streams: readonly DiscoveryCall[] = ["sotw", "delta"];
const every: readonly DiscoveryCall[] = ["sotw", "delta", "fetch"];

const scopesOfV3 = service("service.route.v3.ScopedRoutes", "config.route.v3.ScopedRouteConfiguration", "ScopedRoutes");
const scopesOfV2 = service("api.v2.ScopedRoutes", "api.v2.ScopedRouteConfiguration", "ScopedRoutes");

const services: readonly DiscoveryService[] = [
  service("service.discovery.v3.Aggregated", undefined, "AggregatedResources", streams),
  service("service.cluster.v3.Cluster", "config.cluster.v3.Cluster", "Clusters"),
  service("service.endpoint.v3.Endpoint", "config.endpoint.v3.ClusterLoadAssignment", "Endpoints"),
  service("service.endpoint.v3.LocalityEndpoint", "config.endpoint.v3.LbEndpoint", "LocalityEndpoints", ["delta"]),
  service("service.listener.v3.Listener", "config.listener.v3.Listener", "Listeners"),
  service("service.route.v3.Route", "config.route.v3.RouteConfiguration", "Routes"),
  scopesOfV3,
  alias(scopesOfV3),
  service("service.route.v3.VirtualHost", "config.route.v3.VirtualHost", "VirtualHosts", ["delta"]),
  service("service.secret.v3.Secret", "extensions.transport_sockets.tls.v3.Secret", "Secrets"),
  service("service.runtime.v3.Runtime", "service.runtime.v3.Runtime", "Runtime"),
  service("service.extension.v3.ExtensionConfig", "config.core.v3.TypedExtensionConfig", "ExtensionConfigs"),
  service("service.discovery.v2.Aggregated", undefined, "AggregatedResources", streams),
  service("api.v2.Cluster", "api.v2.Cluster", "Clusters"),
  service("api.v2.Endpoint", "api.v2.ClusterLoadAssignment", "Endpoints"),
  service("api.v2.Listener", "api.v2.Listener", "Listeners"),
  service("api.v2.Route", "api.v2.RouteConfiguration", "Routes"),
  scopesOfV2,
  alias(scopesOfV2),
  service("api.v2.VirtualHost", "api.v2.route.VirtualHost", "VirtualHosts", ["delta"]),
  service("service.discovery.v2.Secret", "api.v2.auth.Secret", "Secrets"),
  service("service.discovery.v2.Runtime", "service.discovery.v2.Runtime", "Runtime"),
];

/**
 * The three delta methods of 2018, under their names of that time (B-DLT-18). Their messages have v2's field numbers;
 * such a client skips a response's type and a resource's name as unknown fields.
 */
const incremental: readonly DiscoveryMethod[] = [
  incrementalMethod("/envoy.service.discovery.v2.AggregatedDiscoveryService/IncrementalAggregatedResources", undefined),
  incrementalMethod("/envoy.api.v2.ClusterDiscoveryService/IncrementalClusters", "envoy.api.v2.Cluster"),
  incrementalMethod("/envoy.api.v2.RouteDiscoveryService/IncrementalRoutes", "envoy.api.v2.RouteConfiguration"),
];

const verbs: Readonly<Record<DiscoveryCall, string>> = { sotw: "Stream", delta: "Delta", fetch: "Fetch" };

/** Every discovery method (S-GRP-01, S-GRP-02), without load reporting, client status and health discovery. */
export const discoveryMethods: readonly DiscoveryMethod[] = [...services.flatMap(methodsOf), ...incremental];

const methodByPath: ReadonlyMap<string, DiscoveryMethod> = new Map(
  discoveryMethods.map((method) => [method.path, method]),
);

/** Returns the method at a path, as in the `:path` of a gRPC call; undefined if there is none. */
export function findDiscoveryMethod(path: string): DiscoveryMethod | undefined {
  return methodByPath.get(path);
}

function service(
  stem: string,
  message: string | undefined,
  noun: string,
  calls: readonly DiscoveryCall[] = every,
): DiscoveryService {
  const apiVersion = stem.includes("v2.") ? "v2" : "v3";
  const fullMessage = message === undefined ? undefined : `envoy.${message}`;
  return { service: `envoy.${stem}DiscoveryService`, apiVersion, message: fullMessage, noun, calls };
}

/**
 * The protocol page spells the service of scopes without the "s" in the middle, so some clients may call it so
 * (S-GRP-02).
 */
function alias(scopes: DiscoveryService): DiscoveryService {
  return { ...scopes, service: scopes.service.replace("ScopedRoutes", "ScopedRoute"), needs: "docAliases" };
}

function methodsOf({ service, apiVersion, message, noun, calls, needs }: DiscoveryService): readonly DiscoveryMethod[] {
  const onlyType = message === undefined ? undefined : formatTypeUrl(message);
  return calls.map((call) => ({
    path: `/${service}/${verbs[call]}${noun}`,
    call,
    apiVersion,
    onlyType,
    ...(needs !== undefined && { needs }),
  }));
}

function incrementalMethod(path: string, message: string | undefined): DiscoveryMethod {
  const onlyType = message === undefined ? undefined : formatTypeUrl(message);
  return { path, call: "delta", apiVersion: "v2", onlyType, needs: "incremental2018" };
}
