/** The Envoy resources of the scenarios, as an operator would write them. */

const typed = (name: string): string => `type.googleapis.com/${name}`;
const ROUTER = {
  name: "envoy.filters.http.router",
  typed_config: { "@type": typed("envoy.extensions.filters.http.router.v3.Router") },
};
const ADS = { resource_api_version: "V3", ads: {} };

export interface ClusterSettings {
  readonly name: string;
  /** The config source of its endpoints. @default ADS */
  readonly source?: object;
  readonly serviceName?: string;
  readonly connectTimeoutMs?: number;
  readonly more?: object;
}

/** A Cluster with EDS. */
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

/** A Cluster with static endpoints. */
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

/** An aggregate Cluster: the first of its members with healthy endpoints gets the traffic. */
export function aggregateCluster(name: string, members: readonly string[]): object {
  const config = { "@type": typed("envoy.extensions.clusters.aggregate.v3.ClusterConfig"), clusters: members };
  return {
    "@type": typed("envoy.config.cluster.v3.Cluster"),
    name,
    connect_timeout: "1s",
    lb_policy: "CLUSTER_PROVIDED",
    cluster_type: { name: "envoy.clusters.aggregate", typed_config: config },
  };
}

/** A ClusterLoadAssignment: one locality with these ports of 127.0.0.1, or none without ports. */
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
  /** The name of its RouteConfiguration. */
  readonly routes: string;
  readonly source?: object;
  readonly statPrefix?: string;
  /** HTTP filters before the router. */
  readonly filters?: readonly object[];
  readonly transportSocket?: object;
  /** Fields of the HttpConnectionManager, instead of RDS. */
  readonly manager?: object;
  /** The access logs of the HttpConnectionManager. */
  readonly accessLog?: readonly object[];
  readonly more?: object;
}

/** A Listener on 127.0.0.1 that serves HTTP with a RouteConfiguration. */
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

/** A Listener for gRPC clients, named after the target in `xds:///`. */
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
  /** A path prefix. @default "/" */
  readonly prefix?: string;
  readonly cluster: string;
  readonly more?: object;
}

/** A RouteConfiguration with one virtual host, by default for every domain. */
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

/** A service whose route refers to a cluster with a name of its own. */
export function serviceOn(service: string, clusterName: string, port: number): object[] {
  return [
    apiListener(service, `routes-${service}`),
    routes(`routes-${service}`, [{ cluster: clusterName }]),
    cluster({ name: clusterName }),
    endpoints(clusterName, [port]),
  ];
}

/** A cluster that is valid for Envoy and that every gRPC client NACKs. */
export function refusedCluster(name: string): object {
  return {
    "@type": typed("envoy.config.cluster.v3.Cluster"),
    name,
    type: "STATIC",
    connect_timeout: "1s",
  };
}

/**
 * The resources of a service with names that junction-core accepts: host and port for a Listener or Cluster, the host
 * alone for a virtual host.
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
