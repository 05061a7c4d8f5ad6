import type { ClusterJson } from "@xdskit/envoy-api/types/envoy/config/cluster/v3/cluster";
import type { TypedExtensionConfigJson } from "@xdskit/envoy-api/types/envoy/config/core/v3/extension";
import type { ClusterLoadAssignmentJson } from "@xdskit/envoy-api/types/envoy/config/endpoint/v3/endpoint";
import type { LbEndpointJson } from "@xdskit/envoy-api/types/envoy/config/endpoint/v3/endpoint_components";
import type { ListenerJson } from "@xdskit/envoy-api/types/envoy/config/listener/v3/listener";
import type { RouteConfigurationJson } from "@xdskit/envoy-api/types/envoy/config/route/v3/route";
import type { VirtualHostJson } from "@xdskit/envoy-api/types/envoy/config/route/v3/route_components";
import type { ScopedRouteConfigurationJson } from "@xdskit/envoy-api/types/envoy/config/route/v3/scoped_route";
import type { RouteConfigurationJson as ThriftRouteConfigurationJson } from "@xdskit/envoy-api/types/envoy/extensions/filters/network/thrift_proxy/v3/route";
import type { SecretJson } from "@xdskit/envoy-api/types/envoy/extensions/transport_sockets/tls/v3/secret";
import type { RuntimeJson } from "@xdskit/envoy-api/types/envoy/service/runtime/v3/rtds";
import { formatTypeUrl, type TypeUrl } from "@xdskit/protocol";
import { aName, argumentCheck, isObject, problemsError, rule } from "../argument.ts";

/**
 * A resource type, with the type of its canonical JSON. At a source with v2 resources, its v2 twin is requested; a type
 * URL in its place is requested unchanged.
 */
export interface ResourceType<Json = unknown> {
  readonly typeUrl: TypeUrl;
  /** The shape of its JSON, for the compiler only. */
  readonly json?: Json;
}

/** A resource type with known JSON, or any type by its URL. */
export type TypeOrUrl<Json = unknown> = ResourceType<Json> | TypeUrl;

const aType = rule("a type such as Cluster, or its URL", (value) => {
  const url = isObject(value) ? value["typeUrl"] : value;
  return typeof url === "string" && url.includes("/");
});

/**
 * The URL of a type.
 *
 * @throws {XdsClientError} `ARGUMENT_INVALID` if the argument is neither a type nor a type URL
 */
export function typeUrlOf(type: TypeOrUrl): TypeUrl {
  const problems = aType(type);
  if (problems.length > 0) throw problemsError("ARGUMENT_INVALID", "type", problems);
  return typeof type === "string" ? type : type.typeUrl;
}

const checkResourceType = argumentCheck("resourceType", { messageName: aName });

/**
 * Makes a resource type from a message name, for types without a constant here, such as your own.
 *
 * @throws {XdsClientError} `ARGUMENT_INVALID` if it is no name
 */
export function resourceType<Json = unknown>(messageName: string): ResourceType<Json> {
  checkResourceType(messageName);
  return { typeUrl: formatTypeUrl(messageName) };
}

/** `envoy.config.listener.v3.Listener` (LDS). */
export const Listener: ResourceType<ListenerJson> = resourceType("envoy.config.listener.v3.Listener");
/** `envoy.config.route.v3.RouteConfiguration` (RDS). */
export const RouteConfiguration: ResourceType<RouteConfigurationJson> = resourceType(
  "envoy.config.route.v3.RouteConfiguration",
);
/** `envoy.config.route.v3.ScopedRouteConfiguration` (SRDS). */
export const ScopedRouteConfiguration: ResourceType<ScopedRouteConfigurationJson> = resourceType(
  "envoy.config.route.v3.ScopedRouteConfiguration",
);
/** `envoy.config.route.v3.VirtualHost` (VHDS). */
export const VirtualHost: ResourceType<VirtualHostJson> = resourceType("envoy.config.route.v3.VirtualHost");
/** `envoy.config.cluster.v3.Cluster` (CDS). */
export const Cluster: ResourceType<ClusterJson> = resourceType("envoy.config.cluster.v3.Cluster");
/** `envoy.config.endpoint.v3.ClusterLoadAssignment` (EDS). */
export const ClusterLoadAssignment: ResourceType<ClusterLoadAssignmentJson> = resourceType(
  "envoy.config.endpoint.v3.ClusterLoadAssignment",
);
/** `envoy.config.endpoint.v3.LbEndpoint` (LEDS). */
export const LbEndpoint: ResourceType<LbEndpointJson> = resourceType("envoy.config.endpoint.v3.LbEndpoint");
/** `envoy.extensions.transport_sockets.tls.v3.Secret` (SDS). */
export const Secret: ResourceType<SecretJson> = resourceType("envoy.extensions.transport_sockets.tls.v3.Secret");
/** `envoy.service.runtime.v3.Runtime` (RTDS). */
export const Runtime: ResourceType<RuntimeJson> = resourceType("envoy.service.runtime.v3.Runtime");
/** `envoy.config.core.v3.TypedExtensionConfig` (ECDS). */
export const TypedExtensionConfig: ResourceType<TypedExtensionConfigJson> = resourceType(
  "envoy.config.core.v3.TypedExtensionConfig",
);
/** `envoy.extensions.filters.network.thrift_proxy.v3.RouteConfiguration` (TRDS). */
export const ThriftRouteConfiguration: ResourceType<ThriftRouteConfigurationJson> = resourceType(
  "envoy.extensions.filters.network.thrift_proxy.v3.RouteConfiguration",
);
