import { formatTypeUrl, type TypeUrl } from "@xdskit/protocol";

/** The types that other resources refer to. */
export type ReferredType =
  | "cluster"
  | "clusterLoadAssignment"
  | "lbEndpoint"
  | "routeConfiguration"
  | "scopedRouteConfiguration"
  | "virtualHost"
  | "secret"
  | "extensionConfig"
  | "thriftRouteConfiguration"
  | "dubboRouteConfiguration";

/** Their type URLs (requirements 1.3). */
export const resourceType: Readonly<Record<ReferredType, TypeUrl>> = {
  cluster: formatTypeUrl("envoy.config.cluster.v3.Cluster"),
  clusterLoadAssignment: formatTypeUrl("envoy.config.endpoint.v3.ClusterLoadAssignment"),
  lbEndpoint: formatTypeUrl("envoy.config.endpoint.v3.LbEndpoint"),
  routeConfiguration: formatTypeUrl("envoy.config.route.v3.RouteConfiguration"),
  scopedRouteConfiguration: formatTypeUrl("envoy.config.route.v3.ScopedRouteConfiguration"),
  virtualHost: formatTypeUrl("envoy.config.route.v3.VirtualHost"),
  secret: formatTypeUrl("envoy.extensions.transport_sockets.tls.v3.Secret"),
  extensionConfig: formatTypeUrl("envoy.config.core.v3.TypedExtensionConfig"),
  thriftRouteConfiguration: formatTypeUrl("envoy.extensions.filters.network.thrift_proxy.v3.RouteConfiguration"),
  dubboRouteConfiguration: formatTypeUrl("envoy.extensions.filters.network.dubbo_proxy.v3.RouteConfiguration"),
};
