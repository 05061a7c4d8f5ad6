import type { TypeUrl } from "@xdskit/protocol";
import { WILDCARD } from "@xdskit/protocol/internal";
import { resourceType } from "./resource-type.ts";

/** A field that names another resource. */
export interface ReferenceRule {
  /** The full name of the message with the field. */
  readonly message: string;
  /** The proto name of the field; it holds a string or a list of strings. */
  readonly field: string;
  readonly refersTo: TypeUrl;
  /** What an empty field names. */
  readonly whenEmpty?: string;
  /**
   * The dotted path to the config source in the same message. Only an xDS source makes the field a reference, because a
   * server does not serve what is in a file or the bootstrap.
   */
  readonly source?: string;
}

const HTTP = "envoy.extensions.filters.network.http_connection_manager.v3";
const THRIFT = "envoy.extensions.filters.network.thrift_proxy.v3";
const DUBBO = "envoy.extensions.filters.network.dubbo_proxy.v3";
const REDIS = "envoy.extensions.filters.network.redis_proxy.v3.RedisProxy.PrefixRoutes.Route";
const TCP = "envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy";
const UDP = "envoy.extensions.filters.udp.udp_proxy.v3";

/** Every field of Envoy's API that names a Cluster to send to. */
const CLUSTER_FIELDS: readonly (readonly [message: string, field: string])[] = [
  ["envoy.config.core.v3.GrpcService.EnvoyGrpc", "cluster_name"],
  ["envoy.config.core.v3.HttpUri", "cluster"],
  ["envoy.config.metrics.v3.StatsdSink", "tcp_cluster_name"],
  ["envoy.config.route.v3.RouteAction", "cluster"],
  ["envoy.config.route.v3.RouteAction.RequestMirrorPolicy", "cluster"],
  ["envoy.config.route.v3.WeightedCluster.ClusterWeight", "name"],
  ["envoy.config.trace.v3.DatadogConfig", "collector_cluster"],
  ["envoy.config.trace.v3.LightstepConfig", "collector_cluster"],
  ["envoy.config.trace.v3.ZipkinConfig", "collector_cluster"],
  ["envoy.data.dns.v3.DnsTable.DnsEndpoint", "cluster_name"],
  ["envoy.data.dns.v3.DnsTable.DnsServiceTarget", "cluster_name"],
  ["envoy.extensions.access_loggers.fluentd.v3.FluentdAccessLogConfig", "cluster"],
  ["envoy.extensions.clusters.aggregate.v3.ClusterConfig", "clusters"],
  ["envoy.extensions.filters.http.gcp_authn.v3.GcpAuthnFilterConfig", "cluster"],
  [`${DUBBO}.RouteAction`, "cluster"],
  [`${REDIS}`, "cluster"],
  [`${REDIS}.ReadCommandPolicy`, "cluster"],
  [`${REDIS}.RequestMirrorPolicy`, "cluster"],
  [TCP, "cluster"],
  [`${TCP}.WeightedCluster.ClusterWeight`, "name"],
  [`${THRIFT}.RouteAction`, "cluster"],
  [`${THRIFT}.RouteAction.RequestMirrorPolicy`, "cluster"],
  [`${THRIFT}.WeightedCluster.ClusterWeight`, "name"],
  [`${UDP}.Route`, "cluster"],
  [`${UDP}.UdpProxyConfig`, "cluster"],
  ["envoy.extensions.router.cluster_specifiers.lua.v3.LuaConfig", "default_cluster"],
];

/** Messages that ECDS configures under their own name if they have a `config_discovery`. */
const DISCOVERED_EXTENSIONS = [
  "envoy.config.cluster.v3.Filter",
  "envoy.config.listener.v3.Filter",
  "envoy.config.listener.v3.ListenerFilter",
  "envoy.extensions.filters.http.composite.v3.DynamicConfig",
  `${HTTP}.HttpFilter`,
];

/** Every field that names another resource, except those that catalog entries handle. */
export const referenceRules: readonly ReferenceRule[] = [
  ...CLUSTER_FIELDS.map(([message, field]) => ({ message, field, refersTo: resourceType.cluster })),
  ...DISCOVERED_EXTENSIONS.map((message) => ({
    message,
    field: "name",
    refersTo: resourceType.extensionConfig,
    source: "config_discovery.config_source",
  })),
  {
    message: "envoy.extensions.transport_sockets.tls.v3.SdsSecretConfig",
    field: "name",
    refersTo: resourceType.secret,
    source: "sds_config",
  },
  {
    message: `${HTTP}.Rds`,
    field: "route_config_name",
    refersTo: resourceType.routeConfiguration,
    source: "config_source",
  },
  {
    message: `${HTTP}.ScopedRds`,
    field: "srds_resources_locator",
    refersTo: resourceType.scopedRouteConfiguration,
    whenEmpty: WILDCARD,
    source: "scoped_rds_config_source",
  },
  {
    message: "envoy.config.route.v3.ScopedRouteConfiguration",
    field: "route_configuration_name",
    refersTo: resourceType.routeConfiguration,
  },
  {
    message: `${THRIFT}.Trds`,
    field: "route_config_name",
    refersTo: resourceType.thriftRouteConfiguration,
    source: "config_source",
  },
  {
    message: `${DUBBO}.Drds`,
    field: "route_config_name",
    refersTo: resourceType.dubboRouteConfiguration,
    source: "config_source",
  },
  {
    message: "envoy.config.endpoint.v3.LedsClusterLocalityConfig",
    field: "leds_collection_name",
    refersTo: resourceType.lbEndpoint,
    source: "leds_config",
  },
];
