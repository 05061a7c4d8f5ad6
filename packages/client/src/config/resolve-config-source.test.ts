import { createEnvoyApi } from "@xdskit/envoy-api";
import type { TypeUrl } from "@xdskit/protocol";
import { clientDialect } from "@xdskit/protocol/internal";
import { describe, expect, test } from "vitest";
import { authorityFor, requestedName, sourcesOf } from "./authority.ts";
import type { ClientConfig, SourceConfig } from "./client-config.ts";
import { loadBootstrap } from "./load-bootstrap.ts";
import { type ConfigSourceSite, resolveConfigSource } from "./resolve-config-source.ts";

const api = createEnvoyApi();
const cluster = (name: string, port: number): object => ({
  name,
  http2_protocol_options: {},
  load_assignment: {
    cluster_name: name,
    endpoints: [
      { lb_endpoints: [{ endpoint: { address: { socket_address: { address: "127.0.0.1", port_value: port } } } }] },
    ],
  },
});
const grpc = (...names: readonly string[]): object => ({
  api_type: "GRPC",
  transport_api_version: "V3",
  grpc_services: names.map((cluster_name) => ({ envoy_grpc: { cluster_name } })),
});
const fileOf = (path: string, ...authorities: readonly string[]): object => ({
  path_config_source: { path },
  authorities: authorities.map((name) => ({ name })),
});

function configOf(more: object = {}, defaults: object = {}): ClientConfig {
  const value = {
    dynamic_resources: { ads_config: grpc("first") },
    static_resources: { clusters: [cluster("first", 1), cluster("second", 2)] },
    ...more,
  };
  const { config, problems } = loadBootstrap({ value }, { api, defaults, fileExists: () => true });
  expect(problems).toEqual([]);
  if (config === undefined) throw new Error("expected a configuration");
  return config;
}

const config = configOf();
const resolve = (source: unknown, more: Partial<ConfigSourceSite> = {}): ReturnType<typeof resolveConfigSource> =>
  resolveConfigSource(source, { api, config, self: undefined, fileExists: () => true, ...more });

function resolved(source: unknown, more: Partial<ConfigSourceSite> = {}): SourceConfig | undefined {
  const { resolved: found, problems } = resolve(source, more);
  expect(problems).toEqual([]);
  return found?.source;
}

function told(source: unknown, more: Partial<ConfigSourceSite> = {}): readonly string[] {
  const { resolved: found, problems } = resolve(source, more);
  expect(found).toBeUndefined();
  return problems
    .filter(({ severity }) => severity === "error")
    .map(({ path, message }) => (path === "" ? message : `${path}: ${message}`));
}

describe("ads and self", () => {
  test("C-ADS-02 ads anywhere is the one stream, whatever it says of waiting and versions", () => {
    const nested = resolved({ ads: {}, initial_fetch_timeout: "0s", resource_api_version: "V2" });
    expect(nested).toEqual({ ...config.ads, initialFetchTimeoutMs: 0, resourceApiVersion: "v2" });
    expect(nested?.id).toBe(config.ads?.id);
  });

  test("C-CFG-01 ads without an ads_config is a mistake", () => {
    const without = configOf({ dynamic_resources: {} });
    expect(told({ ads: {} }, { config: without })).toEqual([
      "ads: expected an ads_config in dynamic_resources, which ads stands for",
    ]);
  });

  test("C-CFG-02 self is where the resource came from", () => {
    const self = resolved({ api_config_source: grpc("second") });
    expect(resolved({ self: {} }, { self })).toBe(self);
    expect(told({ self: {} })).toHaveLength(1);
  });

  test("C-ADS-06 a client that is no proxy is sent to ads or self only", () => {
    const { config: ofGrpc } = loadBootstrap(
      { value: { xds_servers: [{ server_uri: "x:1", channel_creds: [{ type: "insecure" }] }] } },
      { api },
    );
    if (ofGrpc === undefined) throw new Error("expected a configuration");
    expect(resolved({ ads: {} }, { config: ofGrpc })?.id).toBe(ofGrpc.ads?.id);
    expect(told(fileOf("/x"), { config: ofGrpc })).toEqual([
      "expected ads or self, which is all that a client that is no proxy is sent to",
    ]);
  });
});

describe("gRPC", () => {
  test("C-CFG-02 a source of its own, with the defaults of Envoy", () => {
    expect(resolved({ api_config_source: grpc("second"), resource_api_version: "V3" })).toEqual({
      id: expect.stringMatching(/^grpc:second#/),
      kind: "grpc",
      apiVersion: "v3",
      resourceApiVersion: "v3",
      initialFetchTimeoutMs: 15_000,
      dialect: clientDialect(),
      parameters: undefined,
      servers: [config.servers.get("second")],
      variant: "sotw",
      isAggregated: false,
      failover: "cycle",
      nodeIn: "every-request",
      rateLimit: undefined,
      backOff: { baseMs: 500, maxMs: 30_000 },
    });
  });

  test.each([
    ["GRPC", "sotw", false],
    ["DELTA_GRPC", "delta", false],
    ["AGGREGATED_GRPC", "sotw", true],
    ["AGGREGATED_DELTA_GRPC", "delta", true],
  ])("C-XTP-09 %s is %s, aggregated: %s", (api_type, variant, isAggregated) => {
    const source = { api_config_source: { ...grpc("second"), api_type } };
    expect(resolved(source)).toMatchObject({ variant, isAggregated });
  });

  test("C-CFG-08 several services take turns; C-FBK-03 on an aggregated stream the second is for when the first fails", () => {
    const both = grpc("first", "second");
    expect(resolved({ api_config_source: both })).toMatchObject({
      failover: "cycle",
      servers: [{ name: "first" }, { name: "second" }],
    });
    const ads = configOf({ dynamic_resources: { ads_config: both } }).ads;
    expect(ads).toMatchObject({ failover: "fallback", servers: [{ name: "first" }, { name: "second" }] });
  });

  test.each([
    [{}, { maxTokens: 100, tokensPerSecond: 10 }],
    [{ max_tokens: 5 }, { maxTokens: 5, tokensPerSecond: 10 }],
    [
      { max_tokens: 5, fill_rate: 0.5 },
      { maxTokens: 5, tokensPerSecond: 0.5 },
    ],
  ])("C-CFG-07 rate_limit_settings %j", (rate_limit_settings, rateLimit) => {
    expect(resolved({ api_config_source: { ...grpc("first"), rate_limit_settings } })).toMatchObject({ rateLimit });
  });

  test("C-NOD-02 set_node_on_first_message_only", () => {
    const source = { ...grpc("first"), set_node_on_first_message_only: true };
    expect(resolved({ api_config_source: source })).toMatchObject({ nodeIn: "first-request" });
  });

  test.each([
    ["V2", "V2", "v2", "v2"],
    ["V2", "V3", "v2", "v3"],
    ["V3", "V2", "v3", "v2"],
    ["V3", "V3", "v3", "v3"],
    ["AUTO", undefined, "v3", "v3"],
  ])("C-TYP-11 transport %s, resources %s", (transport, resources, apiVersion, resourceApiVersion) => {
    const source = {
      api_config_source: { ...grpc("first"), transport_api_version: transport },
      ...(resources !== undefined && { resource_api_version: resources }),
    };
    expect(resolved(source)).toMatchObject({ apiVersion, resourceApiVersion });
  });

  test("E31 C-TYP-11 AUTO is the version of the message, or what autoVersion says", () => {
    const source = { api_config_source: { ...grpc("first"), transport_api_version: "AUTO" } };
    expect(resolved(source, { version: "v2" })).toMatchObject({ apiVersion: "v2", resourceApiVersion: "v2" });
    const defaults = { autoVersion: "v3" } as const;
    expect(resolved(source, { version: "v2", defaults })).toMatchObject({ apiVersion: "v3", resourceApiVersion: "v3" });
  });

  test("C-CFG-03 cluster_names in the place of grpc_services, as the first releases had them", () => {
    const { resolved: found, problems } = resolve({
      api_config_source: { api_type: "GRPC", cluster_names: ["first"] },
    });
    expect(found?.source).toMatchObject({ kind: "grpc", servers: [{ name: "first" }] });
    expect(problems.map(({ severity, path }) => [severity, path])).toEqual([
      ["warning", "api_config_source.cluster_names"],
    ]);
  });

  test("C-CFG-04 a cluster that is not there has a hint", () => {
    const { problems } = resolve({ apiConfigSource: { ...grpc("fist") } });
    expect(problems).toEqual([
      {
        severity: "error",
        path: "apiConfigSource.grpc_services[0].envoy_grpc.cluster_name",
        message: 'expected the name of a static cluster of the bootstrap, got "fist"',
        hint: 'did you mean "first"?',
      },
    ]);
  });

  test.each([
    [{ api_type: "GRPC" }, "api_config_source.grpc_services: expected at least one server in grpc_services"],
    [
      { ...grpc("first"), api_type: undefined },
      /^api_config_source.api_type: expected one of REST, GRPC,.* got nothing$/,
    ],
    [{ ...grpc("first"), rate_limit_settings: { fill_rate: 0 } }, /fill_rate: expected a fill_rate above 0/],
  ])("C-CFG-01 %j is a mistake", (api_config_source, message) => {
    const problems = told({ api_config_source });
    expect(problems).toEqual([typeof message === "string" ? message : expect.stringMatching(message)]);
  });
});

describe("REST", () => {
  const rest = { api_type: "REST", transport_api_version: "V3", cluster_names: ["first"], refresh_delay: "2s" };

  test("C-RST-15, C-RST-16 a delay, and a timeout of 1 s unless set", () => {
    expect(resolved({ api_config_source: rest })).toEqual({
      id: expect.stringMatching(/^rest:first#/),
      kind: "rest",
      apiVersion: "v3",
      resourceApiVersion: "v3",
      initialFetchTimeoutMs: 15_000,
      dialect: clientDialect(),
      parameters: undefined,
      servers: [config.servers.get("first")],
      refreshDelayMs: 2_000,
      requestTimeoutMs: 1_000,
    });
    const slow = { ...rest, request_timeout: { seconds: 30 }, cluster_names: ["first", "second"] };
    expect(resolved({ api_config_source: slow })).toMatchObject({ requestTimeoutMs: 30_000, servers: [{}, {}] });
  });

  test.each([
    ["C-RST-15 no delay", { refresh_delay: undefined }, "refresh_delay: expected a refresh_delay, which"],
    [
      "C-RST-15 no pause",
      { refresh_delay: "0s" },
      "refresh_delay: expected a refresh_delay of at least 0.001s, got 0s",
    ],
    [
      "C-RST-15 a pause below a millisecond",
      { refresh_delay: "0.0005s" },
      "refresh_delay: expected a refresh_delay of at least 0.001s, got 0.000500s",
    ],
    ["C-RST-16 no time", { request_timeout: "0s" }, "request_timeout: expected a request_timeout above 0, got 0s"],
    ["C-RST-17 no server", { cluster_names: [] }, "cluster_names: expected at least one server"],
    ["C-RST-17 servers of gRPC", grpcServices(), "grpc_services: expected cluster_names for REST"],
  ])("%s is a mistake", (_, change, message) => {
    const problems = told({ api_config_source: { ...rest, ...change } });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(`api_config_source.${message}`);
  });

  test("B-ADS-07 there is no ADS over REST", () => {
    const value = {
      dynamic_resources: { ads_config: rest },
      static_resources: { clusters: [cluster("first", 1)] },
    };
    expect(loadBootstrap({ value }, { api }).problems.map(({ message }) => message)).toEqual([
      "expected GRPC or DELTA_GRPC, got REST: there is no ADS over REST",
    ]);
  });

  test.each([
    ["envoy.config.route.v3.VirtualHost", "expected a source in delta, which is all that VHDS has, got rest"],
    ["envoy.config.endpoint.v3.LbEndpoint", "expected a source in delta, which is all that LEDS has, got rest"],
  ])("B-RST-05, B-DLT-01 %s does not come over REST", (message, problem) => {
    const type: TypeUrl = `type.googleapis.com/${message}`;
    expect(told({ api_config_source: rest }, { type })).toEqual([problem]);
    expect(told({ api_config_source: grpc("first") }, { type })).toHaveLength(1);
    expect(told(fileOf("/x"), { type })).toHaveLength(1);
    expect(resolved({ api_config_source: { ...grpc("first"), api_type: "DELTA_GRPC" } }, { type })).toBeDefined();
  });
});

function grpcServices(): object {
  return { grpc_services: [{ envoy_grpc: { cluster_name: "first" } }] };
}

describe("files", () => {
  test("C-FS-01 path and path_config_source; C-FS-10 a watched directory; C-FS-09 moves only", () => {
    const file = {
      id: "file:/lds.yaml",
      kind: "file",
      path: "/lds.yaml",
      watchedDirectory: undefined,
      isMoveOnly: false,
      resourceApiVersion: "v3",
      initialFetchTimeoutMs: 15_000,
      dialect: clientDialect(),
      parameters: undefined,
    };
    expect(resolved({ path: "/lds.yaml" })).toEqual(file);
    expect(resolved(fileOf("/lds.yaml"))).toEqual(file);
    const watched = { path_config_source: { path: "/lds.yaml", watched_directory: { path: "/" } } };
    const defaults = { isMoveOnly: true };
    expect(resolved(watched, { defaults })).toEqual({
      ...file,
      id: expect.stringMatching(/^file:\/lds.yaml#\w{7}$/),
      watchedDirectory: "/",
      isMoveOnly: true,
    });
  });

  test("C-FS-11 a missing file, or a missing directory, is a mistake", () => {
    const watched = { path_config_source: { path: "/lds.yaml", watched_directory: { path: "/d" } } };
    expect(told(watched, { fileExists: () => false })).toEqual([
      'path_config_source.path: expected a path that exists, got "/lds.yaml"',
      'path_config_source.watched_directory.path: expected a path that exists, got "/d"',
    ]);
  });
});

describe("ids", () => {
  const source = { api_config_source: grpc("second"), resource_api_version: "V3" };

  test("C-CFG-02 equal sources are one: as JSON in any spelling, as bytes, with defaults said or not", () => {
    const { bytes } = api.readMessage("envoy.config.core.v3.ConfigSource", source);
    const spelled = {
      resourceApiVersion: "V3",
      initialFetchTimeout: "15s",
      apiConfigSource: {
        grpcServices: [{ envoyGrpc: { clusterName: "second" } }],
        transportApiVersion: "V3",
        apiType: "GRPC",
      },
    };
    expect(resolved(bytes)).toEqual(resolved(source));
    expect(resolved(spelled)).toEqual(resolved(source));
  });

  test("C-CFG-02 what differs in anything is another one", () => {
    const others = [
      source,
      { ...source, initial_fetch_timeout: "1s" },
      { ...source, resource_api_version: "V2" },
      { ...source, api_config_source: grpc("first") },
      { ...source, api_config_source: grpc("first", "second") },
      { ...source, api_config_source: { ...grpc("second"), api_type: "DELTA_GRPC" } },
      { ...source, api_config_source: { ...grpc("second"), api_type: "AGGREGATED_GRPC" } },
      fileOf("/a"),
      fileOf("/b"),
    ];
    expect(new Set(others.map((each) => resolved(each)?.id)).size).toBe(others.length);
  });

  test("C-XTP-09 the stream for two authorities at equal sources is one, at others there are two", () => {
    const aggregated = (name: string): object => ({
      api_config_source: { ...grpc(name), api_type: "AGGREGATED_GRPC" },
    });
    const { authorities } = configOf({
      config_sources: [
        { ...aggregated("first"), authorities: [{ name: "a" }] },
        { ...aggregated("second"), authorities: [{ name: "b" }] },
        { ...aggregated("second"), authorities: [{ name: "c" }], initial_fetch_timeout: "1s" },
      ],
    });
    const [a, b, c] = authorities.map(({ source: { id } }) => id);
    expect([a === b, b === c]).toEqual([false, true]);
  });

  test.each([undefined, null, 5, "x", [], {}, { ads: {}, self: {} }, new Uint8Array([255]), { ads: 1 }, { path: "" }])(
    "%j is a mistake and nothing is thrown",
    (value) => {
      expect(told(value)).not.toEqual([]);
    },
  );
});

describe("names", () => {
  const federated = configOf({
    node: { id: "edge" },
    node_context_params: ["id"],
    config_sources: [fileOf("/east", "east", "both"), fileOf("/west", "west", "both")],
    default_config_source: fileOf("/any"),
  });
  const pathOf = (source: SourceConfig | undefined): unknown => (source?.kind === "file" ? source.path : source);
  const nameAt = (authority: string): string => `xdstp://${authority}/envoy.config.cluster.v3.Cluster/a`;
  const peer = resolve(fileOf("/peer", "east")).resolved;

  test("C-XTP-08 the peer's authorities, then config_sources in order, then the default, else nothing", () => {
    if (peer === undefined) throw new Error("expected a source");
    const found = (name: string, at = peer, among = federated): unknown => pathOf(authorityFor(name, among, at));
    expect([found(nameAt("east")), found(nameAt("west")), found(nameAt("both")), found(nameAt("north"))]).toEqual([
      "/peer",
      "/west",
      "/east",
      "/any",
    ]);
    expect(pathOf(authorityFor(nameAt("east"), federated))).toBe("/east");
    expect(found(nameAt("north"), peer, config)).toBeUndefined();
    expect(found("plain")).toBe("/peer");
    expect(pathOf(authorityFor("plain", federated))).toBe("/any");
  });

  test("C-XTP-03, C-XTP-12 a name goes out without directives, with the node's parameters", () => {
    expect(requestedName(`${nameAt("east")}?b=2&a=1#alt=${nameAt("west")}`, federated)).toBe(
      `${nameAt("east")}?a=1&b=2&xds.node.id=edge`,
    );
    expect(requestedName(`${nameAt("east")}?xds.node.id=mine`, federated)).toBe(`${nameAt("east")}?xds.node.id=mine`);
    expect(requestedName("plain#x", federated)).toBe("plain#x");
  });

  test("C-XTP-11 alternatives follow the name, each at its own source", () => {
    const name = `${nameAt("east")}#entry=x,alt=${encodeURIComponent(nameAt("west"))},alt=${nameAt("north")},alt=%zz`;
    expect(sourcesOf(name, federated).map((each) => [pathOf(each.source), each.name])).toEqual([
      ["/east", `${nameAt("east")}?xds.node.id=edge`],
      ["/west", `${nameAt("west")}?xds.node.id=edge`],
      ["/any", `${nameAt("north")}?xds.node.id=edge`],
    ]);
  });
});
