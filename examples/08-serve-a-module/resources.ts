import {
  Cluster,
  HttpConnectionManager,
  Listener,
  type MessageTypes,
  Router,
  type TypedMessage,
} from "@xdskit/envoy-api/resources";

/** What this example makes. */
export type Resource =
  | TypedMessage<"envoy.config.cluster.v3.Cluster">
  | TypedMessage<"envoy.config.listener.v3.Listener">;

/** A cluster of instances on this machine. */
export function cluster(name: string, ports: readonly number[]): Resource {
  const lbEndpoints = ports.map((port) => ({ endpoint: { address: addressOf("127.0.0.1", port) } }));
  return Cluster({
    name,
    type: "STATIC",
    connectTimeout: "1s",
    loadAssignment: { clusterName: name, endpoints: [{ lbEndpoints }] },
  });
}

/** A port whose HTTP requests all go to one cluster. */
export function listener(name: string, port: number, clusterName: string): Resource {
  const virtualHosts = [
    { name, domains: ["*"], routes: [{ match: { prefix: "/" }, route: { cluster: clusterName } }] },
  ];
  const manager = HttpConnectionManager({
    statPrefix: name,
    routeConfig: { name, virtualHosts },
    httpFilters: [{ name: "envoy.filters.http.router", typedConfig: Router({}) }],
  });
  return Listener({
    name,
    address: addressOf("0.0.0.0", port),
    filterChains: [{ filters: [{ name: "envoy.filters.network.http_connection_manager", typedConfig: manager }] }],
  });
}

function addressOf(address: string, portValue: number): MessageTypes["envoy.config.core.v3.Address"] {
  return { socketAddress: { address, portValue } };
}
