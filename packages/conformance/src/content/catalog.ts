import { type ApiVersion, formatTypeUrl, type TypeUrl } from "@xdskit/protocol";
import { type TypeTraits, virtualHostTerms } from "@xdskit/protocol/internal";
import { encodeFields } from "./encode.ts";

/** The types of the cases. `opaque` is unknown to every catalog; `cds.v2` is the type of v2. */
export type TypeName = TypeOfV3 | TypeOfV2;

/** Types that also exist in v2. */
export type TwinName = "lds" | "rds" | "srds" | "vhds" | "cds" | "eds" | "sds" | "rtds";

export type TypeOfV2 = `${TwinName}.v2`;

export type TypeOfV3 =
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
  /** The gRPC service and the noun in its method names; undefined for a type that only ADS carries. */
  readonly service: { readonly name: string; readonly noun: string } | undefined;
  /** The type is served over delta only. */
  readonly isDeltaOnly?: true;
}

const vhdsUrl = formatTypeUrl("envoy.config.route.v3.VirtualHost");
const ledsUrl = formatTypeUrl("envoy.config.endpoint.v3.LbEndpoint");
const edsUrl = formatTypeUrl("envoy.config.endpoint.v3.ClusterLoadAssignment");

const ofV3: Readonly<Record<TypeOfV3, KnownType>> = {
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

/** All types of v3. */
export const typesOfV3: readonly TypeOfV3[] = Object.keys(ofV3) as TypeOfV3[];

/** The v2 message of each type, and its service. */
const inV2: Readonly<Record<TwinName, readonly [message: string, service: string]>> = {
  lds: ["envoy.api.v2.Listener", "envoy.api.v2.ListenerDiscoveryService"],
  rds: ["envoy.api.v2.RouteConfiguration", "envoy.api.v2.RouteDiscoveryService"],
  srds: ["envoy.api.v2.ScopedRouteConfiguration", "envoy.api.v2.ScopedRoutesDiscoveryService"],
  vhds: ["envoy.api.v2.route.VirtualHost", "envoy.api.v2.VirtualHostDiscoveryService"],
  cds: ["envoy.api.v2.Cluster", "envoy.api.v2.ClusterDiscoveryService"],
  eds: ["envoy.api.v2.ClusterLoadAssignment", "envoy.api.v2.EndpointDiscoveryService"],
  sds: ["envoy.api.v2.auth.Secret", "envoy.service.discovery.v2.SecretDiscoveryService"],
  rtds: ["envoy.service.discovery.v2.Runtime", "envoy.service.discovery.v2.RuntimeDiscoveryService"],
};

const types: ReadonlyMap<string, KnownType> = new Map<string, KnownType>([
  ...Object.entries(ofV3),
  ...Object.entries(inV2).map(([name, [message, service]]): [string, KnownType] => {
    const twin = ofV3[name as TwinName];
    const noun = twin.service?.noun ?? "";
    // A v2 Cluster owes its endpoints too, and a RouteConfiguration its virtual hosts; v2 has no LEDS.
    const owes = twin.owes.flatMap((url) =>
      Object.entries(ofV3).flatMap(([of, one]) => (one.url === url && isTwin(of) ? [formatTypeUrl(inV2[of][0])] : [])),
    );
    return [`${name}.v2`, { ...twin, url: formatTypeUrl(message), owes, service: { name: service, noun } }];
  }),
]);

function isTwin(name: string): name is TwinName {
  return Object.hasOwn(inV2, name);
}

function known(type: TypeName): KnownType {
  const found = types.get(type);
  if (found === undefined) throw new Error(`no type ${type}`);
  return found;
}

/** The v3 name of a type: `cds` for `cds` and `cds.v2`. */
export function inV3(type: TypeName): TypeOfV3 {
  return (type.endsWith(".v2") ? type.slice(0, -3) : type) as TypeOfV3;
}

function twinOf(type: TypeOfV3, isOfV2: boolean): TypeUrl | undefined {
  if (!isTwin(type)) return undefined;
  return isOfV2 ? ofV3[type].url : formatTypeUrl(inV2[type][0]);
}

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

/** The type URL of a case's type. */
export function urlOf(type: TypeName): TypeUrl {
  return known(type).url;
}

/** The case's name of a type URL, or the URL itself if it has none. */
export function nameOfUrl(url: string): string {
  for (const [name, type] of types) if (type.url === url) return name;
  return url;
}

/** The traits for the machine in memory; undefined for `opaque` and unknown types. */
export function traitsOf(url: TypeUrl): TypeTraits | undefined {
  const name = nameOfUrl(url);
  if (name === url || name === "opaque") return undefined;
  const { isFullState, owes } = known(name as TypeName);
  const kind = inV3(name as TypeName) as Exclude<TypeOfV3, "opaque">;
  const twin = twinOf(kind, kind !== name);
  // An empty ClusterLoadAssignment with only its name.
  const placeholder = (of: string): Uint8Array => encodeFields([1, of]);
  return {
    type: url,
    kind,
    isFullState,
    owes,
    ...(twin === undefined ? {} : { twin }),
    ...(kind === "eds" ? { placeholder } : {}),
    ...(kind === "vhds" ? { terms: virtualHostTerms } : {}),
  };
}

/** The gRPC path of an aggregated or per-type stream. Throws if the type has no such stream. */
export function pathOf(variant: "sotw" | "delta", only: TypeName | undefined, api: ApiVersion = "v3"): string {
  const verb = variant === "sotw" ? "Stream" : "Delta";
  if (only === undefined)
    return `/envoy.service.discovery.${api}.AggregatedDiscoveryService/${verb}AggregatedResources`;
  const { service } = known(methodType(only, api));
  if (service === undefined || !hasOwnStream(only, variant)) {
    throw new Error(`there is no ${variant} stream for ${only} alone`);
  }
  return `/${service.name}/${verb}${service.noun}`;
}

/** The type whose method is used in an API version: itself, or its v2 counterpart. */
export function methodType(type: TypeName, api: ApiVersion): TypeName {
  const name = inV3(type);
  return api === "v2" && isTwin(name) ? `${name}.v2` : name;
}

/** Whether the type has a stream of its own in this variant. */
export function hasOwnStream(type: TypeName, variant: "sotw" | "delta"): boolean {
  const { service, isDeltaOnly } = known(type);
  return service !== undefined && !(isDeltaOnly && variant === "sotw");
}

/** Whether the messages of a type hold their own names; those of others are in the wrappers of delta only. */
export function hasNameInside(type: TypeName): boolean {
  return type !== "leds" && type !== "opaque";
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

/** The REST path of a type. Throws if it has none. */
export function restPathOf(type: TypeName | undefined, api: ApiVersion): string {
  const noun = type === undefined ? undefined : REST_NOUNS[inV3(type)];
  if (noun === undefined) throw new Error(`there is no REST for ${type ?? "all types at once"}`);
  return `/${api}/discovery:${noun}`;
}

/** Whether the type can be polled over REST. */
export function hasRest(type: TypeName): boolean {
  return REST_NOUNS[type] !== undefined;
}
