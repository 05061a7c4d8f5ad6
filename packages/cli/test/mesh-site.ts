import { Site } from "./serving.ts";

const HTTP = "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";

/** A listener whose routes come by RDS, over TLS with a certificate that comes by SDS. */
export function listener(name: string, routes: string, port = 10_000): string {
  return `- "@type": type.googleapis.com/envoy.config.listener.v3.Listener
  name: ${name}
  address: { socket_address: { address: 127.0.0.1, port_value: ${port} } }
  filter_chains:
  - filters:
    - name: http
      typed_config:
        "@type": ${HTTP}
        stat_prefix: ${name}
        rds: { route_config_name: ${routes}, config_source: { ads: {}, resource_api_version: V3 } }
        http_filters:
        - name: router
          typed_config: { "@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router }
    transport_socket:
      name: tls
      typed_config:
        "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext
        common_tls_context:
          tls_certificate_sds_secret_configs:
          - { name: cert, sds_config: { ads: {}, resource_api_version: V3 } }
`;
}

/** A table that sends everything to the clusters, a host each. */
export function routes(name: string, ...clusters: readonly string[]): string {
  const hosts = clusters.map((cluster) => {
    const route = `{ match: { prefix: / }, route: { cluster: ${cluster} } }`;
    return `  - { name: ${cluster}, domains: [${cluster}.example], routes: [${route}] }\n`;
  });
  return `- "@type": type.googleapis.com/envoy.config.route.v3.RouteConfiguration
  name: ${name}
  virtual_hosts:
${hosts.join("")}`;
}

/** A cluster with endpoints by EDS. */
export function edsCluster(name: string): string {
  return `- "@type": type.googleapis.com/envoy.config.cluster.v3.Cluster
  name: ${name}
  type: EDS
  connect_timeout: 1s
  eds_cluster_config: { eds_config: { ads: {}, resource_api_version: V3 } }
`;
}

/** Its endpoints, one for each port. */
export function endpoints(name: string, ...ports: readonly number[]): string {
  const all = ports.map(
    (port) => `{ endpoint: { address: { socket_address: { address: 127.0.0.1, port_value: ${port} } } } }`,
  );
  const localities = ports.length === 0 ? "[]" : `[{ lb_endpoints: [${all.join(", ")}] }]`;
  return `- "@type": type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment
  cluster_name: ${name}
  endpoints: ${localities}
`;
}

/** A certificate with its private key. */
export function secret(name: string): string {
  return `- "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret
  name: ${name}
  tls_certificate:
    certificate_chain: { inline_string: chain }
    private_key: { inline_string: very private }
`;
}

/** All of that, and nothing is missing. */
export function wholeSite(): Promise<Site> {
  return Site.make({
    "listeners.yaml": listener("ingress", "main"),
    "routes.yaml": routes("main", "a", "b"),
    "clusters.yaml": edsCluster("a") + edsCluster("b"),
    "endpoints.yaml": endpoints("a", 1, 2) + endpoints("b", 3),
    "secrets.yaml": secret("cert"),
  });
}
