import { formatTypeUrl, type TypeTraits, type TypeUrl, virtualHostTerms } from "@xdskit/protocol";
import { encodeFields } from "./encode.ts";

/** The types that cases speak of. `opaque` is one that no catalog knows. */
export type TypeName =
  | "lds"
  | "rds"
  | "srds"
  | "vhds"
  | "cds"
  | "eds"
  | "leds"
  | "sds"
  | "rtds"
  | "ecds"
  | "trds"
  | "opaque";

interface KnownType {
  readonly url: TypeUrl;
  readonly isFullState: boolean;
  readonly owes: readonly TypeUrl[];
  /** The service of its own and the noun in its method names; undefined for a type that only ADS carries. */
  readonly service: { readonly name: string; readonly noun: string } | undefined;
  /** It is spoken in delta only. */
  readonly isDeltaOnly?: true;
}

const vhdsUrl = formatTypeUrl("envoy.config.route.v3.VirtualHost");
const ledsUrl = formatTypeUrl("envoy.config.endpoint.v3.LbEndpoint");
const edsUrl = formatTypeUrl("envoy.config.endpoint.v3.ClusterLoadAssignment");

const types: Readonly<Record<TypeName, KnownType>> = {
  lds: fullState("envoy.config.listener.v3.Listener", "listener.v3.ListenerDiscoveryService", "Listeners"),
  rds: {
    ...named("envoy.config.route.v3.RouteConfiguration", "route.v3.RouteDiscoveryService", "Routes"),
    owes: [vhdsUrl],
  },
  srds: fullState(
    "envoy.config.route.v3.ScopedRouteConfiguration",
    "route.v3.ScopedRoutesDiscoveryService",
    "ScopedRoutes",
  ),
  vhds: {
    ...named("envoy.config.route.v3.VirtualHost", "route.v3.VirtualHostDiscoveryService", "VirtualHosts"),
    isDeltaOnly: true,
  },
  cds: {
    ...fullState("envoy.config.cluster.v3.Cluster", "cluster.v3.ClusterDiscoveryService", "Clusters"),
    owes: [edsUrl],
  },
  eds: {
    ...named("envoy.config.endpoint.v3.ClusterLoadAssignment", "endpoint.v3.EndpointDiscoveryService", "Endpoints"),
    owes: [ledsUrl],
  },
  leds: {
    ...named(
      "envoy.config.endpoint.v3.LbEndpoint",
      "endpoint.v3.LocalityEndpointDiscoveryService",
      "LocalityEndpoints",
    ),
    isDeltaOnly: true,
  },
  sds: named("envoy.extensions.transport_sockets.tls.v3.Secret", "secret.v3.SecretDiscoveryService", "Secrets"),
  rtds: named("envoy.service.runtime.v3.Runtime", "runtime.v3.RuntimeDiscoveryService", "Runtime"),
  ecds: named(
    "envoy.config.core.v3.TypedExtensionConfig",
    "extension.v3.ExtensionConfigDiscoveryService",
    "ExtensionConfigs",
  ),
  trds: withoutService("envoy.extensions.filters.network.thrift_proxy.v3.RouteConfiguration"),
  opaque: withoutService("example.mesh.v1.Policy"),
};

function withoutService(message: string): KnownType {
  return { url: formatTypeUrl(message), isFullState: false, owes: [], service: undefined };
}

function fullState(message: string, service: string, noun: string): KnownType {
  return { ...named(message, service, noun), isFullState: true };
}

function named(message: string, service: string, noun: string): KnownType {
  return {
    url: formatTypeUrl(message),
    isFullState: false,
    owes: [],
    service: { name: `envoy.service.${service}`, noun },
  };
}

/** The type URL of a type that a case names. */
export function urlOf(type: TypeName): TypeUrl {
  return types[type].url;
}

/** The short name of a type URL, or the URL itself when no case has a name for it. */
export function nameOfUrl(url: string): string {
  for (const [name, type] of Object.entries(types)) if (type.url === url) return name;
  return url;
}

/** What a machine that is played in memory knows about types; nothing about `opaque`. */
export function traitsOf(url: TypeUrl): TypeTraits | undefined {
  const name = nameOfUrl(url);
  if (name === url || name === "opaque") return undefined;
  const { isFullState, owes } = types[name as TypeName];
  const kind = name as Exclude<TypeName, "opaque">;
  // A ClusterLoadAssignment with nothing but its name.
  const placeholder = (of: string): Uint8Array => encodeFields([1, of]);
  return {
    type: url,
    kind,
    isFullState,
    owes,
    ...(kind === "eds" ? { placeholder } : {}),
    ...(kind === "vhds" ? { terms: virtualHostTerms } : {}),
  };
}

/** The gRPC path of a stream: aggregated, or of one type. Throws for a per-type stream that does not exist. */
export function pathOf(variant: "sotw" | "delta", only: TypeName | undefined): string {
  const verb = variant === "sotw" ? "Stream" : "Delta";
  if (only === undefined) return `/envoy.service.discovery.v3.AggregatedDiscoveryService/${verb}AggregatedResources`;
  const { service } = types[only];
  if (service === undefined || !hasOwnStream(only, variant)) {
    throw new Error(`there is no ${variant} stream for ${only} alone`);
  }
  return `/${service.name}/${verb}${service.noun}`;
}

/** A stream of this type alone exists. */
export function hasOwnStream(type: TypeName, variant: "sotw" | "delta"): boolean {
  const { service, isDeltaOnly } = types[type];
  return service !== undefined && !(isDeltaOnly && variant === "sotw");
}

const REST_NOUNS: Readonly<Partial<Record<TypeName, string>>> = {
  lds: "listeners",
  rds: "routes",
  srds: "scoped-routes",
  cds: "clusters",
  eds: "endpoints",
  sds: "secrets",
  rtds: "runtime",
  ecds: "extension_configs",
};

/** Where resources of this type are polled. */
export function restPathOf(type: TypeName | undefined): string {
  const noun = type === undefined ? undefined : REST_NOUNS[type];
  if (noun === undefined) throw new Error(`there is no REST for ${type ?? "all types at once"}`);
  return `/v3/discovery:${noun}`;
}

/** Resources of this type may be polled. */
export function hasRest(type: TypeName): boolean {
  return REST_NOUNS[type] !== undefined;
}
