/** Every discovery method a client may call, by its path (requirements 1.1). */
import { formatTypeUrl, type TypeUrl } from "@xdskit/protocol";

/** How a method is spoken: State of the World or delta over a stream, or State of the World in one request and answer. */
export type DiscoveryCall = "sotw" | "delta" | "fetch";

/** One method of a discovery service. */
export interface DiscoveryMethod {
  /** Such as `/envoy.service.cluster.v3.ClusterDiscoveryService/StreamClusters`. */
  readonly path: string;
  readonly call: DiscoveryCall;
  /** The type that the method serves; undefined on an aggregated stream. */
  readonly onlyType: TypeUrl | undefined;
}

interface DiscoveryService {
  readonly service: string;
  readonly message: string | undefined;
  /** What follows `Stream`, `Delta` or `Fetch` in the names of the methods. */
  readonly noun: string;
  readonly calls: readonly DiscoveryCall[];
}

const every: readonly DiscoveryCall[] = ["sotw", "delta", "fetch"];

const services: readonly DiscoveryService[] = [
  service("discovery.v3.Aggregated", undefined, "AggregatedResources", ["sotw", "delta"]),
  service("cluster.v3.Cluster", "envoy.config.cluster.v3.Cluster", "Clusters", every),
  service("endpoint.v3.Endpoint", "envoy.config.endpoint.v3.ClusterLoadAssignment", "Endpoints", every),
  service("endpoint.v3.LocalityEndpoint", "envoy.config.endpoint.v3.LbEndpoint", "LocalityEndpoints", ["delta"]),
  service("listener.v3.Listener", "envoy.config.listener.v3.Listener", "Listeners", every),
  service("route.v3.Route", "envoy.config.route.v3.RouteConfiguration", "Routes", every),
  service("route.v3.ScopedRoutes", "envoy.config.route.v3.ScopedRouteConfiguration", "ScopedRoutes", every),
  // The protocol page spells the service without its "s", so somebody will call it so (S-GRP-02).
  service("route.v3.ScopedRoute", "envoy.config.route.v3.ScopedRouteConfiguration", "ScopedRoutes", every),
  service("route.v3.VirtualHost", "envoy.config.route.v3.VirtualHost", "VirtualHosts", ["delta"]),
  service("secret.v3.Secret", "envoy.extensions.transport_sockets.tls.v3.Secret", "Secrets", every),
  service("runtime.v3.Runtime", "envoy.service.runtime.v3.Runtime", "Runtime", every),
  service("extension.v3.ExtensionConfig", "envoy.config.core.v3.TypedExtensionConfig", "ExtensionConfigs", every),
];

const verbs: Readonly<Record<DiscoveryCall, string>> = { sotw: "Stream", delta: "Delta", fetch: "Fetch" };

/** Every discovery method (S-GRP-01, S-GRP-02). Load reporting, client status and health discovery are not among them. */
export const discoveryMethods: readonly DiscoveryMethod[] = services.flatMap(methodsOf);

const methodByPath: ReadonlyMap<string, DiscoveryMethod> = new Map(
  discoveryMethods.map((method) => [method.path, method]),
);

/** The method at this path, as in the `:path` of a gRPC call; undefined if it is none of ours. */
export function findDiscoveryMethod(path: string): DiscoveryMethod | undefined {
  return methodByPath.get(path);
}

function service(
  stem: string,
  message: string | undefined,
  noun: string,
  calls: readonly DiscoveryCall[],
): DiscoveryService {
  return { service: `envoy.service.${stem}DiscoveryService`, message, noun, calls };
}

function methodsOf({ service, message, noun, calls }: DiscoveryService): readonly DiscoveryMethod[] {
  const onlyType = message === undefined ? undefined : formatTypeUrl(message);
  return calls.map((call) => ({ path: `/${service}/${verbs[call]}${noun}`, call, onlyType }));
}
