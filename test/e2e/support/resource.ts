/** The Envoy resources that the scenarios are made of, as an operator would write them. */

const typed = (name: string): string => `type.googleapis.com/${name}`;
const ROUTER = {
  name: "envoy.filters.http.router",
  typed_config: { "@type": typed("envoy.extensions.filters.http.router.v3.Router") },
};
const ADS = { resource_api_version: "V3", ads: {} };

export interface ClusterSettings {
  readonly name: string;
  /** Where its endpoints come from; the aggregated stream if absent. */
  readonly source?: object;
  readonly serviceName?: string;
  readonly connectTimeoutMs?: number;
  readonly more?: object;
}

/** A Cluster that finds its endpoints by EDS. */
export function cluster(settings: ClusterSettings): object {
  return {
    "@type": typed("envoy.config.cluster.v3.Cluster"),
    name: settings.name,
    type: "EDS",
    connect_timeout: `${(settings.connectTimeoutMs ?? 1000) / 1000}s`,
    lb_policy: "ROUND_ROBIN",
    eds_cluster_config: {
      eds_config: settings.source ?? ADS,
      ...(settings.serviceName === undefined ? {} : { service_name: settings.serviceName }),
    },
    ...settings.more,
  };
}

/** A Cluster that carries its endpoints itself. */
export function staticCluster(name: string, ports: readonly number[], more: object = {}): object {
  return {
    "@type": typed("envoy.config.cluster.v3.Cluster"),
    name,
    type: "STATIC",
    connect_timeout: "1s",
    load_assignment: { cluster_name: name, endpoints: [{ lb_endpoints: ports.map(lbEndpoint) }] },
    ...more,
  };
}

/** The ClusterLoadAssignment of a cluster: one locality with these ports of 127.0.0.1, none for no ports. */
export function endpoints(name: string, ports: readonly number[]): object {
  const locality = { region: "here", zone: "a" };
  return {
    "@type": typed("envoy.config.endpoint.v3.ClusterLoadAssignment"),
    cluster_name: name,
    endpoints: ports.length === 0 ? [] : [{ locality, load_balancing_weight: 1, lb_endpoints: ports.map(lbEndpoint) }],
  };
}

export interface ListenerSettings {
  readonly name: string;
  readonly port: number;
  /** The RouteConfiguration that it asks for. */
  readonly routes: string;
  readonly source?: object;
  readonly statPrefix?: string;
  /** HTTP filters before the router. */
  readonly filters?: readonly object[];
  readonly transportSocket?: object;
  /** Fields of the HttpConnectionManager, in place of RDS where they say so. */
  readonly manager?: object;
  /** The access logs of the HttpConnectionManager. */
  readonly accessLog?: readonly object[];
  readonly more?: object;
}

/** A Listener on 127.0.0.1 that serves HTTP by a RouteConfiguration. */
export function listener(settings: ListenerSettings): object {
  return {
    "@type": typed("envoy.config.listener.v3.Listener"),
    name: settings.name,
    address: { socket_address: { address: "127.0.0.1", port_value: settings.port } },
    filter_chains: [
      {
        filters: [{ name: "envoy.filters.network.http_connection_manager", typed_config: httpManager(settings) }],
        ...(settings.transportSocket === undefined ? {} : { transport_socket: settings.transportSocket }),
      },
    ],
    ...settings.more,
  };
}

/** A Listener for a gRPC client: its name is what stands behind `xds:///`. */
export function apiListener(name: string, routes: string): object {
  return {
    "@type": typed("envoy.config.listener.v3.Listener"),
    name,
    api_listener: { api_listener: httpManager({ name, routes }) },
  };
}

/** The typed configuration of an HttpConnectionManager. */
function httpManager(
  settings: Pick<ListenerSettings, "name" | "routes" | "source" | "statPrefix" | "filters" | "manager" | "accessLog">,
): object {
  const byRds = { rds: { route_config_name: settings.routes, config_source: settings.source ?? ADS } };
  return {
    "@type": typed("envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager"),
    stat_prefix: settings.statPrefix ?? settings.name,
    ...(settings.manager ?? byRds),
    ...(settings.accessLog === undefined ? {} : { access_log: settings.accessLog }),
    http_filters: [...(settings.filters ?? []), ROUTER],
  };
}

/** A route of a RouteConfiguration. */
export interface Route {
  /** Matches by the start of the path; "/" if absent. */
  readonly prefix?: string;
  readonly cluster: string;
  readonly more?: object;
}

/** A RouteConfiguration with one virtual host, for every domain unless some are named. */
export function routes(
  name: string,
  list: readonly Route[],
  more: object = {},
  domains: readonly string[] = ["*"],
): object {
  return {
    "@type": typed("envoy.config.route.v3.RouteConfiguration"),
    name,
    virtual_hosts: [
      {
        name: "all",
        domains,
        routes: list.map((route) => ({
          match: { prefix: route.prefix ?? "/" },
          route: { cluster: route.cluster },
          ...route.more,
        })),
      },
    ],
    ...more,
  };
}

/** Everything that a gRPC client needs to call one service. */
export function grpcService(name: string, ports: readonly number[]): object[] {
  return [
    apiListener(name, `routes-${name}`),
    routes(`routes-${name}`, [{ cluster: `cluster-${name}` }]),
    cluster({ name: `cluster-${name}` }),
    endpoints(`cluster-${name}`, ports),
  ];
}

/** A service whose route names a cluster of another name. */
export function serviceOn(service: string, clusterName: string, port: number): object[] {
  return [
    apiListener(service, `routes-${service}`),
    routes(`routes-${service}`, [{ cluster: clusterName }]),
    cluster({ name: clusterName }),
    endpoints(clusterName, [port]),
  ];
}

/** Valid for Envoy; no gRPC client takes a cluster of this type. */
export function refusedCluster(name: string): object {
  return {
    "@type": typed("envoy.config.cluster.v3.Cluster"),
    name,
    type: "STATIC",
    connect_timeout: "1s",
  };
}

/**
 * Everything that a client needs to call one service under names that junction-core takes: of a Listener a host with its port, of a Cluster the
 * same, and of a virtual host the host alone.
 */
export function junctionService(host: string, clusterHost: string, ports: readonly number[]): object[] {
  const clusterName = junctionName(clusterHost);
  const table = `routes-${host.split(".")[0]}`;
  return [
    apiListener(junctionName(host), table),
    routes(table, [{ cluster: clusterName }], {}, [host, junctionName(host)]),
    cluster({ name: clusterName, serviceName: clusterName }),
    endpoints(clusterName, ports),
  ];
}

/** The name of a host's Listener or Cluster. */
export function junctionName(host: string): string {
  return `${host}:80`;
}

function lbEndpoint(port: number): object {
  return { endpoint: { address: { socket_address: { address: "127.0.0.1", port_value: port } } } };
}
