/** A resource as JSON: what Envoy's configuration files say, with camelCase names. */
export interface Resource {
  readonly "@type": string;
}

/** A cluster of instances on this machine. */
export function cluster(name: string, ports: readonly number[]): Resource {
  const lbEndpoints = ports.map((port) => ({ endpoint: { address: addressOf("127.0.0.1", port) } }));
  return resource("envoy.config.cluster.v3.Cluster", {
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
  const router = resource("envoy.extensions.filters.http.router.v3.Router", {});
  const manager = resource("envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager", {
    statPrefix: name,
    routeConfig: { name, virtualHosts },
    httpFilters: [{ name: "envoy.filters.http.router", typedConfig: router }],
  });
  return resource("envoy.config.listener.v3.Listener", {
    name,
    address: addressOf("0.0.0.0", port),
    filterChains: [{ filters: [{ name: "envoy.filters.network.http_connection_manager", typedConfig: manager }] }],
  });
}

function addressOf(address: string, portValue: number): object {
  return { socketAddress: { address, portValue } };
}

function resource(message: string, fields: object): Resource {
  return { "@type": `type.googleapis.com/${message}`, ...fields };
}
