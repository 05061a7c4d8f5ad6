import { parseTypeUrl, type TypeUrl } from "@xdskit/protocol";
import { type Dependency, WILDCARD } from "@xdskit/protocol/internal";
import type { Cluster } from "../../gen/types/envoy/config/cluster/v3/cluster_pb.d.ts";
import type { ConfigSource, ExtensionConfigSource } from "../../gen/types/envoy/config/core/v3/config_source_pb.d.ts";
import type { LedsClusterLocalityConfig } from "../../gen/types/envoy/config/endpoint/v3/endpoint_components_pb.d.ts";
import type { RouteConfiguration } from "../../gen/types/envoy/config/route/v3/route_pb.d.ts";
import type { ScopedRouteConfiguration } from "../../gen/types/envoy/config/route/v3/scoped_route_pb.d.ts";
import type { OnDemandCds } from "../../gen/types/envoy/extensions/filters/http/on_demand/v3/on_demand_pb.d.ts";
import type { ScopedRoutes } from "../../gen/types/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager_pb.d.ts";
import type { TcpProxy_OnDemand } from "../../gen/types/envoy/extensions/filters/network/tcp_proxy/v3/tcp_proxy_pb.d.ts";
import type { SdsSecretConfig } from "../../gen/types/envoy/extensions/transport_sockets/tls/v3/secret_pb.d.ts";
import type { Content } from "../format/content.ts";
import { durationMs } from "./config-source.ts";
import { resourceType } from "./resource-type.ts";
import { scopedRouteConfiguration } from "./scoped-route-configuration.ts";

/** A dependency with the config source of its message; `from` is undefined if the message has none. */
export type Want = Omit<Dependency, "source" | "timeoutMs" | "handsDown"> & {
  readonly from: ConfigSource | "parent" | "roots" | "static" | undefined;
  /** Overrides the timeout of the source. */
  readonly timeoutMs?: number;
  /** The source that the fetched resource uses for dependencies without one. */
  readonly handsDown?: ConfigSource | undefined;
};

/** Finds the dependencies in the own fields of one message type. */
export interface DependencyRule {
  /** The full name of the message. */
  readonly message: string;
  readonly wantsIn: (content: Content) => readonly Want[];
}

const HTTP = "envoy.extensions.filters.network.http_connection_manager.v3";

const AT_ONCE = { warms: true, fetched: "at-once" } as const;

/** Every message with a config source, and what it fetches from there. Many more name Clusters: `referenceRules`. */
export const dependencyRules: readonly DependencyRule[] = [
  rule<Cluster>("envoy.config.cluster.v3.Cluster", wantsOfCluster),
  rule<RouteConfiguration>("envoy.config.route.v3.RouteConfiguration", ({ vhds }) => [
    { ...AT_ONCE, type: resourceType.virtualHost, name: WILDCARD, from: vhds?.configSource },
  ]),
  rule<ScopedRouteConfiguration>("envoy.config.route.v3.ScopedRouteConfiguration", (scope) => [
    { ...scopedRoute(scope), from: "parent" },
  ]),
  rule<ScopedRoutes>(`${HTTP}.ScopedRoutes`, wantsOfScopedRoutes),
  rule<LedsClusterLocalityConfig>(
    "envoy.config.endpoint.v3.LedsClusterLocalityConfig",
    ({ ledsConfig, ledsCollectionName }) => [
      { ...AT_ONCE, type: resourceType.lbEndpoint, name: ledsCollectionName, from: ledsConfig },
    ],
  ),
  rule<SdsSecretConfig>("envoy.extensions.transport_sockets.tls.v3.SdsSecretConfig", ({ name, sdsConfig }) => [
    sdsConfig === undefined
      ? { type: resourceType.secret, name, from: "static", warms: false, fetched: "at-once" }
      : { ...AT_ONCE, type: resourceType.secret, name, from: sdsConfig, outlivesRemoval: true },
  ]),
  rule<OnDemandCds>("envoy.extensions.filters.http.on_demand.v3.OnDemandCds", ({ source, ...on }) => [
    clustersOnDemand(source, on),
  ]),
  rule<TcpProxy_OnDemand>(
    "envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy.OnDemand",
    ({ odcdsConfig, ...on }) => [clustersOnDemand(odcdsConfig, on)],
  ),
  routeTable(`${HTTP}.Rds`, resourceType.routeConfiguration),
  routeTable("envoy.extensions.filters.network.thrift_proxy.v3.Trds", resourceType.thriftRouteConfiguration),
  routeTable("envoy.extensions.filters.network.dubbo_proxy.v3.Drds", resourceType.dubboRouteConfiguration),
  discoveredExtension("envoy.config.cluster.v3.Filter"),
  discoveredExtension("envoy.config.listener.v3.Filter"),
  discoveredExtension("envoy.config.listener.v3.ListenerFilter"),
  discoveredExtension("envoy.extensions.filters.http.composite.v3.DynamicConfig"),
  discoveredExtension(`${HTTP}.HttpFilter`),
];

/** The caller guarantees that the content is of this message. */
function rule<M>(message: string, wantsIn: (content: M) => readonly Want[]): DependencyRule {
  return { message, wantsIn: (content) => wantsIn(content as unknown as M) };
}

const EDS = 3;

/** The client subscribes to the endpoints by service name, or by the cluster's name (C-WRM-14). */
function wantsOfCluster({ name, clusterDiscoveryType, edsClusterConfig }: Cluster): readonly Want[] {
  if (clusterDiscoveryType.case !== "type" || clusterDiscoveryType.value !== EDS) return [];
  return [
    {
      ...AT_ONCE,
      type: resourceType.clusterLoadAssignment,
      name: edsClusterConfig?.serviceName || name,
      from: edsClusterConfig?.edsConfig,
      isAskedAnew: true,
      outlivesRemoval: true,
    },
  ];
}

function wantsOfScopedRoutes({ configSpecifier, rdsConfigSource }: ScopedRoutes): readonly Want[] {
  switch (configSpecifier.case) {
    case "scopedRouteConfigurationsList":
      return configSpecifier.value.scopedRouteConfigurations.map((scope) => ({
        ...scopedRoute(scope),
        from: rdsConfigSource,
      }));
    case "scopedRds": {
      const { srdsResourcesLocator, scopedRdsConfigSource } = configSpecifier.value;
      const name = srdsResourcesLocator || WILDCARD;
      const type = scopedRouteConfiguration.type;
      return [{ ...AT_ONCE, type, name, from: scopedRdsConfigSource, handsDown: rdsConfigSource }];
    }
    default:
      return [];
  }
}

function scopedRoute({ routeConfigurationName, onDemand }: ScopedRouteConfiguration): Omit<Want, "from"> {
  return {
    type: resourceType.routeConfiguration,
    name: routeConfigurationName,
    warms: !onDemand,
    fetched: onDemand ? "demand" : "at-once",
    outlivesRemoval: true,
  };
}

/** Envoy's default for a filter without a timeout, in milliseconds. */
const DEMAND_TIMEOUT_MS = 5_000;

/**
 * Clusters that a filter fetches when a request needs them (C-ODC-01). A named collection without a source is fetched
 * like any Cluster that routes name (`roots`).
 */
function clustersOnDemand(
  source: ConfigSource | undefined,
  { resourcesLocator, timeout }: Pick<OnDemandCds, "resourcesLocator" | "timeout">,
): Want {
  return {
    type: resourceType.cluster,
    name: resourcesLocator || WILDCARD,
    from: source ?? (resourcesLocator === "" ? undefined : "roots"),
    warms: false,
    fetched: "demand",
    timeoutMs: timeout === undefined ? DEMAND_TIMEOUT_MS : durationMs(timeout),
  };
}

function routeTable(message: string, type: TypeUrl): DependencyRule {
  return rule<{ readonly routeConfigName: string; readonly configSource?: ConfigSource }>(
    message,
    ({ routeConfigName, configSource }) => [
      { ...AT_ONCE, type, name: routeConfigName, from: configSource, outlivesRemoval: true },
    ],
  );
}

interface DiscoveredExtension {
  readonly name: string;
  readonly configDiscovery?: ExtensionConfigSource;
  /** Set where discovery is one of several ways to configure it. */
  readonly configType?: { readonly case: string | undefined; readonly value?: unknown };
}

function discoveredExtension(message: string): DependencyRule {
  return rule<DiscoveredExtension>(message, ({ name, configDiscovery, configType }) => {
    const isDiscovered = configType?.case === "configDiscovery";
    const discovery = isDiscovered ? (configType.value as ExtensionConfigSource) : configDiscovery;
    return discovery === undefined ? [] : [extensionWant(name, discovery)];
  });
}

function extensionWant(
  name: string,
  { configSource, defaultConfig, applyDefaultConfigWithoutWarming, typeUrls }: ExtensionConfigSource,
): Want {
  const fallbackType = defaultConfig && parseTypeUrl(defaultConfig.typeUrl);
  const fallback = fallbackType && { type: fallbackType, bytes: defaultConfig.value };
  return {
    type: resourceType.extensionConfig,
    name,
    from: configSource,
    warms: !(applyDefaultConfigWithoutWarming && fallback !== undefined),
    fetched: "at-once",
    extension: { fallback, types: typeUrls.flatMap((text) => parseTypeUrl(text) ?? []) },
  };
}
