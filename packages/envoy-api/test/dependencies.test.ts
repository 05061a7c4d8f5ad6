import type { Dependency } from "@xdskit/protocol/internal";
import { describe, expect, test } from "vitest";
import { api, encode, typed, url, V3 } from "./support/api.ts";

const ADS = { ads: {}, resource_api_version: "V3" };
const SELF = { self: {}, resource_api_version: "V3" };
const OWN = {
  resource_api_version: "V3",
  initial_fetch_timeout: "0s",
  api_config_source: {
    api_type: "DELTA_GRPC",
    transport_api_version: "V3",
    grpc_services: [{ envoy_grpc: { cluster_name: "xds" } }],
  },
};
const FILE = { path_config_source: { path: "/etc/xds/rds.yaml" }, resource_api_version: "V3" };
const SOURCE = "envoy.config.core.v3.ConfigSource";
const TLS = "envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext";

const ads = { source: { kind: "ads" }, timeoutMs: 15_000 } as const;
const atOnce = { warms: true, fetched: "at-once" } as const;
const plainCluster = (name: string): Dependency => ({
  type: url(V3.cluster),
  name,
  source: { kind: "roots" },
  timeoutMs: 0,
  warms: false,
  fetched: "at-once",
});
const routes = (name: string): Pick<Dependency, "type" | "name" | "outlivesRemoval"> => ({
  type: url(V3.route),
  name,
  outlivesRemoval: true,
});

function of(message: string, fields: object): readonly Dependency[] {
  return api.dependencies(url(message), encode(typed(message, fields)));
}

function encodedSource(value: object): Uint8Array {
  const { bytes } = api.readMessage(SOURCE, value);
  if (bytes === undefined) throw new Error("expected a source that can be read");
  return bytes;
}

function chain(http: object): object {
  return { filters: [{ name: "f", typed_config: typed(V3.http, { stat_prefix: "s", ...http }) }] };
}

const rds = (name: string, config_source: object = ADS): object => ({
  rds: { route_config_name: name, config_source },
});
const address = { socket_address: { address: "127.0.0.1", port_value: 1 } };
const listener = (fields: object): readonly Dependency[] => of(V3.listener, { name: "l", address, ...fields });

describe("a Listener", () => {
  test("C-WRM-01 waits for the routes of every filter chain, wherever it stands, each once", () => {
    expect(
      listener({
        filter_chains: [
          { filter_chain_match: { destination_port: 1 }, ...chain(rds("a")) },
          { filter_chain_match: { destination_port: 2 }, ...chain(rds("a")) },
        ],
        default_filter_chain: chain(rds("b", { ...ADS, initial_fetch_timeout: "0.250s" })),
        api_listener: { api_listener: typed(V3.http, { stat_prefix: "s", ...rds("c", SELF) }) },
      }),
    ).toEqual([
      { ...routes("a"), ...ads, ...atOnce },
      { ...routes("b"), ...ads, ...atOnce, timeoutMs: 250 },
      { ...routes("c"), ...ads, ...atOnce, source: { kind: "self" } },
    ]);
  });

  test("C-CFG-02 takes its routes from a source of its own, or a file", () => {
    expect(
      listener({ filter_chains: [chain(rds("own", OWN))], default_filter_chain: chain(rds("file", FILE)) }),
    ).toEqual([
      { ...routes("own"), ...atOnce, source: { kind: "api", bytes: encodedSource(OWN) }, timeoutMs: 0 },
      { ...routes("file"), ...atOnce, source: { kind: "path", bytes: encodedSource(FILE) }, timeoutMs: 15_000 },
    ]);
  });

  test("hands the source of routes down to the scopes that it fetches", () => {
    const scoped_routes = {
      name: "s",
      scope_key_builder: { fragments: [{ header_value_extractor: { name: "h", index: 0 } }] },
      rds_config_source: SELF,
      scoped_rds: { scoped_rds_config_source: ADS },
    };
    expect(listener({ filter_chains: [chain({ scoped_routes })] })).toEqual([
      {
        ...ads,
        ...atOnce,
        type: url(V3.scope),
        name: "*",
        handsDown: { source: { kind: "self" }, timeoutMs: 15_000 },
      },
    ]);
  });

  test("C-ODC-03 fetches the routes of scopes that stand in it, of some only on demand", () => {
    const scope = (name: string, more: object = {}): object => ({
      name,
      route_configuration_name: name,
      key: { fragments: [{ string_key: name }] },
      ...more,
    });
    const scoped_routes = {
      name: "s",
      scope_key_builder: { fragments: [{ header_value_extractor: { name: "h", index: 0 } }] },
      rds_config_source: ADS,
      scoped_route_configurations_list: { scoped_route_configurations: [scope("a"), scope("b", { on_demand: true })] },
    };
    expect(listener({ filter_chains: [chain({ scoped_routes })] })).toEqual([
      { ...routes("a"), ...ads, ...atOnce },
      { ...routes("b"), ...ads, warms: false, fetched: "demand" },
    ]);
  });

  test("C-ECD-02 waits for its extension configs, unless a default is used meanwhile", () => {
    const router = typed(V3.router, {});
    const filter = (name: string, more: object): object => ({
      name,
      config_discovery: { config_source: ADS, type_urls: [url(V3.router)], ...more },
    });
    const http_filters = [
      filter("waited", {}),
      filter("default", { default_config: router }),
      filter("now", { default_config: router, apply_default_config_without_warming: true }),
      filter("no-default", { apply_default_config_without_warming: true }),
    ];
    const { bytes } = api.readMessage(V3.router, {});
    const extension = (name: string, fallback: object | undefined, warms: boolean): object => ({
      ...ads,
      type: url(V3.extension),
      name,
      warms,
      fetched: "at-once",
      extension: { fallback, types: [url(V3.router)] },
    });
    const fallback = { type: url(V3.router), bytes };
    expect(listener({ filter_chains: [chain({ route_config: { name: "r" }, http_filters })] })).toEqual([
      extension("waited", undefined, true),
      extension("default", fallback, true),
      extension("now", fallback, false),
      extension("no-default", undefined, true),
    ]);
  });
});

describe("a Cluster", () => {
  const cluster = (fields: object): readonly Dependency[] => of(V3.cluster, { name: "c", ...fields });
  const endpoints = { ...atOnce, type: url(V3.endpoints), isAskedAnew: true, outlivesRemoval: true } as const;

  test("C-WRM-14 asks for its endpoints by its service name, or its own", () => {
    const eds = (eds_cluster_config: object): readonly Dependency[] => cluster({ type: "EDS", eds_cluster_config });
    expect(eds({ eds_config: ADS, service_name: "e" })).toEqual([{ ...endpoints, ...ads, name: "e" }]);
    expect(eds({ eds_config: OWN })).toEqual([
      { ...endpoints, name: "c", source: { kind: "api", bytes: encodedSource(OWN) }, timeoutMs: 0 },
    ]);
    expect(cluster({ type: "STRICT_DNS" })).toEqual([]);
  });

  test("waits for its secrets, and has those of the bootstrap", () => {
    const common_tls_context = {
      tls_certificate_sds_secret_configs: [{ name: "key", sds_config: ADS }, { name: "static" }],
      validation_context_sds_secret_config: { name: "ca", sds_config: ADS },
    };
    const transport_socket = { name: "tls", typed_config: typed(TLS, { common_tls_context }) };
    const secret = { ...ads, ...atOnce, type: url(V3.secret), outlivesRemoval: true };
    expect(cluster({ transport_socket })).toEqual([
      { ...secret, name: "key" },
      {
        type: url(V3.secret),
        name: "static",
        source: { kind: "static" },
        timeoutMs: 0,
        warms: false,
        fetched: "at-once",
      },
      { ...secret, name: "ca" },
    ]);
  });

  test("C-LRS-01 says whom its load is reported to", () => {
    const encoded = (fields: object): Uint8Array => encode(typed(V3.cluster, { name: "c", ...fields }));
    expect(api.loadServer(url(V3.cluster), encoded({ lrs_server: SELF }))).toEqual({ kind: "self" });
    expect(api.loadServer(url(V3.cluster), encoded({}))).toBeUndefined();
    expect(api.loadServer(url(V3.route), encode(typed(V3.route, { name: "r" })))).toBeUndefined();
  });

  test("names the clusters that it is made of", () => {
    const aggregate = typed("envoy.extensions.clusters.aggregate.v3.ClusterConfig", { clusters: ["a", "b"] });
    expect(cluster({ cluster_type: { name: "aggregate", typed_config: aggregate } })).toEqual([
      plainCluster("a"),
      plainCluster("b"),
    ]);
  });
});

test("C-WRM-06 routes name clusters that nobody waits for, and have virtual hosts", () => {
  const virtual_hosts = [
    { name: "v", domains: ["*"], routes: [{ match: { prefix: "/" }, route: { cluster: "c" } }] },
    { name: "w", domains: ["w"], routes: [{ match: { prefix: "/" }, route: { cluster: "c" } }] },
  ];
  expect(of(V3.route, { name: "r", virtual_hosts, vhds: { config_source: ADS } })).toEqual([
    { ...ads, ...atOnce, type: url(V3.virtualHost), name: "*" },
    plainCluster("c"),
  ]);
});

test("C-ODC-03 a scope names routes whose source only its listener knows", () => {
  const scope = (more: object): readonly Dependency[] =>
    of(V3.scope, { name: "s", route_configuration_name: "r", key: { fragments: [{ string_key: "k" }] }, ...more });
  const parent = { source: { kind: "parent" }, timeoutMs: 0 } as const;
  expect(scope({})).toEqual([{ ...routes("r"), ...parent, ...atOnce }]);
  expect(scope({ on_demand: true })).toEqual([{ ...routes("r"), ...parent, warms: false, fetched: "demand" }]);
});

test("B-LED-01 a ClusterLoadAssignment has collections of endpoints", () => {
  const leds_collection_name = "xdstp://a/envoy.config.endpoint.v3.LbEndpoint/web/*";
  const endpoints = [{ leds_cluster_locality_config: { leds_config: ADS, leds_collection_name } }];
  expect(of(V3.endpoints, { cluster_name: "web", endpoints })).toEqual([
    { ...ads, ...atOnce, type: url(V3.lbEndpoint), name: leds_collection_name },
  ]);
});

test("B-TRD-01 a Thrift proxy waits for its routes", () => {
  const thrift = typed("envoy.extensions.filters.network.thrift_proxy.v3.ThriftProxy", {
    stat_prefix: "t",
    trds: { route_config_name: "t", config_source: ADS },
  });
  expect(listener({ filter_chains: [{ filters: [{ name: "f", typed_config: thrift }] }] })).toEqual([
    { ...ads, ...atOnce, type: url(V3.thriftRoute), name: "t", outlivesRemoval: true },
  ]);
});

test("a Cluster of v2 wants endpoints of v2, and what has no dependencies has none", () => {
  const cluster = typed("envoy.api.v2.Cluster", {
    name: "c",
    type: "EDS",
    eds_cluster_config: { eds_config: { ads: {} } },
  });
  expect(api.dependencies(url("envoy.api.v2.Cluster"), encode(cluster))).toEqual([
    {
      ...ads,
      ...atOnce,
      type: url("envoy.api.v2.ClusterLoadAssignment"),
      name: "c",
      isAskedAnew: true,
      outlivesRemoval: true,
    },
  ]);
  expect(of(V3.runtime, { name: "r", layer: {} })).toEqual([]);
  expect(api.dependencies(url("example.Unknown"), new Uint8Array([1]))).toEqual([]);
  expect(api.dependencies(url(V3.cluster), new Uint8Array([1]))).toEqual([]);
});

test("C-ECD-04 tells what an extension config configures, be it written as JSON", () => {
  const configured = (typed_config: object | undefined): unknown =>
    api.configuredType(
      url(V3.extension),
      encode(typed(V3.extension, { name: "e", ...(typed_config !== undefined && { typed_config }) })),
    );
  expect(configured(typed(V3.router, {}))).toBe(url(V3.router));
  const struct = typed("xds.type.v3.TypedStruct", { type_url: url(V3.router), value: {} });
  expect(configured(struct)).toBe(url(V3.router));
  expect(api.configuredType(url(V3.cluster), new Uint8Array())).toBeUndefined();
});
