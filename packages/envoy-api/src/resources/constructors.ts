import { constructorOf, type MessageConstructor } from "./message.ts";

// Resources, each by the API that serves it

/** `envoy.config.listener.v3.Listener` (LDS). */
export const Listener: MessageConstructor<"envoy.config.listener.v3.Listener"> = constructorOf(
  "envoy.config.listener.v3.Listener",
);
/** `envoy.config.route.v3.RouteConfiguration` (RDS). */
export const RouteConfiguration: MessageConstructor<"envoy.config.route.v3.RouteConfiguration"> = constructorOf(
  "envoy.config.route.v3.RouteConfiguration",
);
/** `envoy.config.route.v3.ScopedRouteConfiguration` (SRDS). */
export const ScopedRouteConfiguration: MessageConstructor<"envoy.config.route.v3.ScopedRouteConfiguration"> =
  constructorOf("envoy.config.route.v3.ScopedRouteConfiguration");
/** `envoy.config.route.v3.VirtualHost` (VHDS). */
export const VirtualHost: MessageConstructor<"envoy.config.route.v3.VirtualHost"> = constructorOf(
  "envoy.config.route.v3.VirtualHost",
);
/** `envoy.config.cluster.v3.Cluster` (CDS). */
export const Cluster: MessageConstructor<"envoy.config.cluster.v3.Cluster"> = constructorOf(
  "envoy.config.cluster.v3.Cluster",
);
/** `envoy.config.endpoint.v3.ClusterLoadAssignment` (EDS). */
export const ClusterLoadAssignment: MessageConstructor<"envoy.config.endpoint.v3.ClusterLoadAssignment"> =
  constructorOf("envoy.config.endpoint.v3.ClusterLoadAssignment");
/** `envoy.config.endpoint.v3.LbEndpoint` (LEDS). */
export const LbEndpoint: MessageConstructor<"envoy.config.endpoint.v3.LbEndpoint"> = constructorOf(
  "envoy.config.endpoint.v3.LbEndpoint",
);
/** `envoy.extensions.transport_sockets.tls.v3.Secret` (SDS). */
export const Secret: MessageConstructor<"envoy.extensions.transport_sockets.tls.v3.Secret"> = constructorOf(
  "envoy.extensions.transport_sockets.tls.v3.Secret",
);
/** `envoy.service.runtime.v3.Runtime` (RTDS). */
export const Runtime: MessageConstructor<"envoy.service.runtime.v3.Runtime"> = constructorOf(
  "envoy.service.runtime.v3.Runtime",
);
/** `envoy.config.core.v3.TypedExtensionConfig` (ECDS). */
export const TypedExtensionConfig: MessageConstructor<"envoy.config.core.v3.TypedExtensionConfig"> = constructorOf(
  "envoy.config.core.v3.TypedExtensionConfig",
);
/** `envoy.extensions.filters.network.thrift_proxy.v3.RouteConfiguration` (TRDS). */
export const ThriftRouteConfiguration: MessageConstructor<"envoy.extensions.filters.network.thrift_proxy.v3.RouteConfiguration"> =
  constructorOf("envoy.extensions.filters.network.thrift_proxy.v3.RouteConfiguration");

// Network filters

/** `envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager`. */
export const HttpConnectionManager: MessageConstructor<"envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager"> =
  constructorOf("envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager");
/** `envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy`. */
export const TcpProxy: MessageConstructor<"envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy"> = constructorOf(
  "envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy",
);
/** `envoy.extensions.filters.network.redis_proxy.v3.RedisProxy`. */
export const RedisProxy: MessageConstructor<"envoy.extensions.filters.network.redis_proxy.v3.RedisProxy"> =
  constructorOf("envoy.extensions.filters.network.redis_proxy.v3.RedisProxy");
/** `envoy.extensions.filters.network.thrift_proxy.v3.ThriftProxy`. */
export const ThriftProxy: MessageConstructor<"envoy.extensions.filters.network.thrift_proxy.v3.ThriftProxy"> =
  constructorOf("envoy.extensions.filters.network.thrift_proxy.v3.ThriftProxy");

// HTTP filters

/** `envoy.extensions.filters.http.router.v3.Router`. */
export const Router: MessageConstructor<"envoy.extensions.filters.http.router.v3.Router"> = constructorOf(
  "envoy.extensions.filters.http.router.v3.Router",
);
/** `envoy.extensions.filters.http.cors.v3.Cors`. */
export const Cors: MessageConstructor<"envoy.extensions.filters.http.cors.v3.Cors"> = constructorOf(
  "envoy.extensions.filters.http.cors.v3.Cors",
);
/** `envoy.extensions.filters.http.ext_authz.v3.ExtAuthz`. */
export const ExtAuthz: MessageConstructor<"envoy.extensions.filters.http.ext_authz.v3.ExtAuthz"> = constructorOf(
  "envoy.extensions.filters.http.ext_authz.v3.ExtAuthz",
);
/** `envoy.extensions.filters.http.fault.v3.HTTPFault`. */
export const HttpFault: MessageConstructor<"envoy.extensions.filters.http.fault.v3.HTTPFault"> = constructorOf(
  "envoy.extensions.filters.http.fault.v3.HTTPFault",
);
/** `envoy.extensions.filters.http.health_check.v3.HealthCheck`. */
export const HealthCheck: MessageConstructor<"envoy.extensions.filters.http.health_check.v3.HealthCheck"> =
  constructorOf("envoy.extensions.filters.http.health_check.v3.HealthCheck");
/** `envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication`. */
export const JwtAuthentication: MessageConstructor<"envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication"> =
  constructorOf("envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication");
/** `envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit`. */
export const LocalRateLimit: MessageConstructor<"envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit"> =
  constructorOf("envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit");
/** `envoy.extensions.filters.http.lua.v3.Lua`. */
export const Lua: MessageConstructor<"envoy.extensions.filters.http.lua.v3.Lua"> = constructorOf(
  "envoy.extensions.filters.http.lua.v3.Lua",
);
/** `envoy.extensions.filters.http.ratelimit.v3.RateLimit`. */
export const RateLimit: MessageConstructor<"envoy.extensions.filters.http.ratelimit.v3.RateLimit"> = constructorOf(
  "envoy.extensions.filters.http.ratelimit.v3.RateLimit",
);
/** `envoy.extensions.filters.http.rbac.v3.RBAC`. */
export const Rbac: MessageConstructor<"envoy.extensions.filters.http.rbac.v3.RBAC"> = constructorOf(
  "envoy.extensions.filters.http.rbac.v3.RBAC",
);
/** `envoy.extensions.filters.http.wasm.v3.Wasm`. */
export const Wasm: MessageConstructor<"envoy.extensions.filters.http.wasm.v3.Wasm"> = constructorOf(
  "envoy.extensions.filters.http.wasm.v3.Wasm",
);

// Listener filters

/** `envoy.extensions.filters.listener.original_dst.v3.OriginalDst`. */
export const OriginalDst: MessageConstructor<"envoy.extensions.filters.listener.original_dst.v3.OriginalDst"> =
  constructorOf("envoy.extensions.filters.listener.original_dst.v3.OriginalDst");
/** `envoy.extensions.filters.listener.proxy_protocol.v3.ProxyProtocol`. */
export const ProxyProtocol: MessageConstructor<"envoy.extensions.filters.listener.proxy_protocol.v3.ProxyProtocol"> =
  constructorOf("envoy.extensions.filters.listener.proxy_protocol.v3.ProxyProtocol");
/** `envoy.extensions.filters.listener.tls_inspector.v3.TlsInspector`. */
export const TlsInspector: MessageConstructor<"envoy.extensions.filters.listener.tls_inspector.v3.TlsInspector"> =
  constructorOf("envoy.extensions.filters.listener.tls_inspector.v3.TlsInspector");

// Transport sockets, protocol options, access logs

/** `envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext`. */
export const DownstreamTlsContext: MessageConstructor<"envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext"> =
  constructorOf("envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext");
/** `envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext`. */
export const UpstreamTlsContext: MessageConstructor<"envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext"> =
  constructorOf("envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext");
/** `envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer`. */
export const RawBuffer: MessageConstructor<"envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer"> =
  constructorOf("envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer");
/** `envoy.extensions.upstreams.http.v3.HttpProtocolOptions`. */
export const HttpProtocolOptions: MessageConstructor<"envoy.extensions.upstreams.http.v3.HttpProtocolOptions"> =
  constructorOf("envoy.extensions.upstreams.http.v3.HttpProtocolOptions");
/** `envoy.extensions.access_loggers.file.v3.FileAccessLog`. */
export const FileAccessLog: MessageConstructor<"envoy.extensions.access_loggers.file.v3.FileAccessLog"> = constructorOf(
  "envoy.extensions.access_loggers.file.v3.FileAccessLog",
);
/** `envoy.extensions.access_loggers.stream.v3.StdoutAccessLog`. */
export const StdoutAccessLog: MessageConstructor<"envoy.extensions.access_loggers.stream.v3.StdoutAccessLog"> =
  constructorOf("envoy.extensions.access_loggers.stream.v3.StdoutAccessLog");
