import type { DescMessage } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { dependencyRules } from "../src/catalog/dependency-rule.ts";
import { createSchema } from "../src/descriptor/schema.ts";
import { api, typed, url, V3 } from "./support/api.ts";

const CORE = "envoy.config.core.v3";
/** What says where something comes from, or goes to. */
const SOURCES: readonly string[] = [`${CORE}.ConfigSource`, `${CORE}.ApiConfigSource`, `${CORE}.ExtensionConfigSource`];

const schema = createSchema();

/** All places of a source in the v3 API, as `message.field`. */
function places(): readonly string[] {
  const messages = [...schema.registry].filter((type): type is DescMessage => type.kind === "message");
  return messages.flatMap(({ typeName, fields }) =>
    // A source in a source is the same one.
    SOURCES.includes(typeName)
      ? []
      : fields
          .filter(({ message }) => SOURCES.includes(message?.typeName ?? ""))
          .map(({ name }) => `${typeName}.${name}`),
  );
}

/** Read by the rule of the message, or of the one around it: what a resource needs. */
const followed: Readonly<Record<string, string>> = {
  "envoy.config.cluster.v3.Cluster.EdsClusterConfig.eds_config": "envoy.config.cluster.v3.Cluster",
  "envoy.config.cluster.v3.Filter.config_discovery": "envoy.config.cluster.v3.Filter",
  "envoy.config.endpoint.v3.LedsClusterLocalityConfig.leds_config":
    "envoy.config.endpoint.v3.LedsClusterLocalityConfig",
  "envoy.config.listener.v3.Filter.config_discovery": "envoy.config.listener.v3.Filter",
  "envoy.config.listener.v3.ListenerFilter.config_discovery": "envoy.config.listener.v3.ListenerFilter",
  "envoy.config.route.v3.Vhds.config_source": "envoy.config.route.v3.RouteConfiguration",
  "envoy.extensions.filters.http.composite.v3.DynamicConfig.config_discovery":
    "envoy.extensions.filters.http.composite.v3.DynamicConfig",
  "envoy.extensions.filters.http.on_demand.v3.OnDemandCds.source":
    "envoy.extensions.filters.http.on_demand.v3.OnDemandCds",
  "envoy.extensions.filters.network.dubbo_proxy.v3.Drds.config_source":
    "envoy.extensions.filters.network.dubbo_proxy.v3.Drds",
  "envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter.config_discovery":
    "envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter",
  "envoy.extensions.filters.network.http_connection_manager.v3.Rds.config_source":
    "envoy.extensions.filters.network.http_connection_manager.v3.Rds",
  "envoy.extensions.filters.network.http_connection_manager.v3.ScopedRds.scoped_rds_config_source":
    "envoy.extensions.filters.network.http_connection_manager.v3.ScopedRoutes",
  "envoy.extensions.filters.network.http_connection_manager.v3.ScopedRoutes.rds_config_source":
    "envoy.extensions.filters.network.http_connection_manager.v3.ScopedRoutes",
  "envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy.OnDemand.odcds_config":
    "envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy.OnDemand",
  "envoy.extensions.filters.network.thrift_proxy.v3.Trds.config_source":
    "envoy.extensions.filters.network.thrift_proxy.v3.Trds",
  "envoy.extensions.transport_sockets.tls.v3.SdsSecretConfig.sds_config":
    "envoy.extensions.transport_sockets.tls.v3.SdsSecretConfig",
};

/** Read elsewhere, and why no resource needs what comes from there. */
const elsewhere: Readonly<Record<string, string>> = {
  "envoy.config.cluster.v3.Cluster.lrs_server":
    "whom load is reported to: `EnvoyApi.loadServer`, `XdsClient.reportLoad`",
  "envoy.config.bootstrap.v3.Bootstrap.hds_config": "the client's bootstrap: `ClientConfig.healthChecks`",
  "envoy.config.bootstrap.v3.Bootstrap.config_sources": "the client's bootstrap: `ClientConfig.authorities`",
  "envoy.config.bootstrap.v3.Bootstrap.default_config_source": "the client's bootstrap: `ClientConfig.defaultSource`",
  "envoy.config.bootstrap.v3.Bootstrap.DynamicResources.lds_config": "the client's bootstrap: `ClientConfig.listeners`",
  "envoy.config.bootstrap.v3.Bootstrap.DynamicResources.cds_config": "the client's bootstrap: `ClientConfig.clusters`",
  "envoy.config.bootstrap.v3.Bootstrap.DynamicResources.ads_config": "the client's bootstrap: `ClientConfig.ads`",
  "envoy.config.bootstrap.v3.ClusterManager.load_stats_config": "the client's bootstrap: `ClientConfig.loadReports`",
  "envoy.config.bootstrap.v3.RuntimeLayer.RtdsLayer.rtds_config":
    "the client's bootstrap: `ClientConfig.runtimeLayers`",
};

test("C-CFG-02 every place of a config source in the API is read by somebody", () => {
  expect(places().toSorted()).toEqual([...Object.keys(followed), ...Object.keys(elsewhere)].toSorted());
  const rules = new Set(dependencyRules.map(({ message }) => message));
  expect([...new Set(Object.values(followed))].filter((message) => !rules.has(message))).toEqual([]);
  const used = new Set(Object.values(followed));
  // Scopes say what they need, and never from whom.
  expect([...rules].filter((message) => !used.has(message))).toEqual([
    "envoy.config.route.v3.ScopedRouteConfiguration",
  ]);
});

const SELF = { self: {}, resource_api_version: "V3" };
const ON_DEMAND = "envoy.extensions.filters.http.on_demand.v3";
const clusters = { type: url(V3.cluster), warms: false, fetched: "demand" } as const;

function dependenciesOf(message: string, fields: object): unknown {
  const { input, problems } = api.readResource(typed(message, fields));
  if (input === undefined) throw new Error(JSON.stringify(problems));
  return api.dependencies(url(message), input.bytes);
}

test("C-ODC-01 Clusters on demand come from where a filter says, for as long as it says", () => {
  const filter = (odcds: object): object => ({
    filters: [
      {
        name: "h",
        typed_config: typed(V3.http, {
          stat_prefix: "s",
          route_config: {},
          http_filters: [{ name: "on_demand", typed_config: typed(`${ON_DEMAND}.OnDemand`, { odcds }) }],
        }),
      },
    ],
  });
  const address = { socket_address: { address: "127.0.0.1", port_value: 1 } };
  const listener = (odcds: object): unknown =>
    dependenciesOf(V3.listener, { name: "l", address, filter_chains: [filter(odcds)] });
  const self = { source: { kind: "self" }, timeoutMs: 5_000 };
  expect(listener({ source: SELF })).toEqual([{ ...clusters, ...self, name: "*" }]);
  const collection = `xdstp://a/${V3.cluster}/*`;
  expect(listener({ source: SELF, resources_locator: collection, timeout: "1.500s" })).toEqual([
    { ...clusters, ...self, name: collection, timeoutMs: 1_500 },
  ]);
  expect(listener({ resources_locator: collection })).toEqual([
    { ...clusters, source: { kind: "roots" }, name: collection, timeoutMs: 5_000 },
  ]);
});

test("C-ODC-01 routes may say otherwise, and so may a TcpProxy", () => {
  const per = { odcds: { source: SELF } };
  const host = {
    ...{ name: "h", domains: ["*"] },
    typed_per_filter_config: { on_demand: typed(`${ON_DEMAND}.PerRouteConfig`, per) },
  };
  const self = { source: { kind: "self" }, timeoutMs: 5_000, name: "*" };
  expect(dependenciesOf(V3.route, { name: "r", virtual_hosts: [host] })).toEqual([{ ...clusters, ...self }]);
  const proxy = typed("envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy", {
    ...{ stat_prefix: "s", cluster: "late", on_demand: { odcds_config: SELF, timeout: "2s" } },
  });
  const address = { socket_address: { address: "127.0.0.1", port_value: 1 } };
  const chain = { filters: [{ name: "t", typed_config: proxy }] };
  expect(dependenciesOf(V3.listener, { name: "l", address, filter_chains: [chain] })).toEqual([
    { type: url(V3.cluster), name: "late", source: { kind: "roots" }, timeoutMs: 0, warms: false, fetched: "at-once" },
    { ...clusters, ...self, timeoutMs: 2_000 },
  ]);
});
