import { createEnvoyApi } from "@xdskit/envoy-api";
import { clientDialect } from "@xdskit/protocol/internal";
import { expect, test } from "vitest";
import type { FlatOptions } from "../options/flat-options.ts";
import { configOfFile, configOfServers } from "../options/server-config.ts";
import type { GrpcSource } from "./client-config.ts";
import { loadBootstrap } from "./load-bootstrap.ts";
import { namedGrpcSource } from "./source-id.ts";

const ADDRESS = "127.0.0.1:18000";

function idOf(options: FlatOptions = {}, ...servers: readonly string[]): string | undefined {
  return configOfServers(options, servers.length === 0 ? [ADDRESS] : servers).defaultSource?.id;
}

test("an id says how a source is spoken to, and where; nothing more where nothing more was said", () => {
  expect([
    idOf(),
    idOf({ variant: "delta" }),
    idOf({ isAggregated: false }),
    idOf({ apiVersion: "v2", variant: "delta" }),
    idOf({ rest: true }),
    idOf({}, "a:1", "b:2"),
    configOfFile({}, "/etc/xds/cds.yaml").defaultSource?.id,
  ]).toEqual([
    "ads:127.0.0.1:18000",
    "ads-delta:127.0.0.1:18000",
    "grpc:127.0.0.1:18000",
    "ads-delta-v2:127.0.0.1:18000",
    "rest:127.0.0.1:18000",
    "ads:a:1,b:2",
    "file:/etc/xds/cds.yaml",
  ]);
});

test("what is unusual stands in a digest, each its own, and none tells a secret", () => {
  const unusual: readonly FlatOptions[] = [
    { tls: true },
    { tls: { key: "secret" } },
    { headers: { authorization: "secret" } },
    { keepalive: false },
    { backOff: { baseMs: 1, maxMs: 2 } },
    { dialect: { ttl: false } },
    { parameters: { a: "b" } },
    { isAggregated: false, initialFetchTimeoutMs: 1 },
    { isAggregated: false, resourceApiVersion: "v2" },
    { rest: { refreshDelayMs: 5 } },
  ];
  const ids = unusual.map((options) => idOf(options));
  for (const id of ids) expect(id).toMatch(/^(?:ads|grpc|rest):127\.0\.0\.1:18000#\w{7}$/);
  expect(new Set(ids).size).toBe(unusual.length);
  expect(ids.join(" ")).not.toContain("secret");
  const moveOnly = configOfFile({ isMoveOnly: true }, "/a").defaultSource?.id;
  expect(moveOnly).toMatch(/^file:\/a#\w{7}$/);
});

test("C-ADS-02 what an aggregated stream is asked for does not count, for it is one stream", () => {
  expect([idOf({ initialFetchTimeoutMs: 1 }), idOf({ resourceApiVersion: "v2" })]).toEqual([idOf(), idOf()]);
});

test("an id is the same in every process and release, in whatever order its parts stand", () => {
  const source: Omit<GrpcSource, "id"> = {
    ...{ kind: "grpc", apiVersion: "v3", resourceApiVersion: "v3", variant: "sotw", isAggregated: true },
    ...{ failover: "cycle", nodeIn: "first-request", rateLimit: undefined, initialFetchTimeoutMs: 15_000 },
    ...{ backOff: { baseMs: 500, maxMs: 30_000 }, dialect: clientDialect(), parameters: undefined, servers: [] },
  };
  const whole = namedGrpcSource({
    ...source,
    dialect: Object.fromEntries(Object.entries(source.dialect).toReversed()) as never,
  });
  expect(whole.id).toBe("ads:#2ipd7i7");
});

test("of an Envoy's bootstrap it names the cluster", () => {
  const endpoint = { address: { socket_address: { address: "127.0.0.1", port_value: 1 } } };
  const load_assignment = { cluster_name: "xds_server", endpoints: [{ lb_endpoints: [{ endpoint }] }] };
  const value = {
    static_resources: { clusters: [{ name: "xds_server", type: "STATIC", load_assignment }] },
    dynamic_resources: {
      ads_config: {
        api_type: "DELTA_GRPC",
        transport_api_version: "V3",
        grpc_services: [{ envoy_grpc: { cluster_name: "xds_server" } }],
      },
    },
  };
  const { config } = loadBootstrap({ value }, { api: createEnvoyApi() });
  expect(config?.ads?.id).toMatch(/^ads-delta:xds_server#\w{7}$/);
});
