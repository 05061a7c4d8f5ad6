import { describe, expect, test } from "vitest";
import { api, encode, typed, url, V3 } from "./support/api.ts";

const ADS = { ads: {}, resource_api_version: "V3" };
const wrapped = (name: string, resource: object, more: object = {}): object =>
  typed(V3.wrapper, { name, resource, ...more });

describe("a virtual host", () => {
  test("answers to each of its domains, in lower case, and to the aliases of its wrapper (S-VHD-03)", () => {
    const host = typed(V3.virtualHost, { name: "a/b/web", domains: ["Foo.com", "*.foo.com", "web"] });
    expect(api.readResource(host).input?.aliases).toEqual(["a/b/foo.com", "a/b/*.foo.com"]);
    const named = wrapped("rc/web", { ...host, name: "web" }, { aliases: ["rc/www", "rc/foo.com"] });
    expect(api.readResource(named).input?.aliases).toEqual(["rc/www", "rc/foo.com", "rc/*.foo.com"]);
  });

  test("has terms of its own, in v2 as well; nothing else has", () => {
    const all = api.types.flatMap(({ type, v2Twin }) => (v2Twin === undefined ? [type] : [type, v2Twin]));
    expect(all.filter((type) => api.traits(type)?.terms !== undefined)).toEqual([
      url(V3.virtualHost),
      url("envoy.api.v2.route.VirtualHost"),
    ]);
  });
});

test("a RouteConfiguration with VHDS refers to all of its virtual hosts, and owes them (S-VHD-04)", () => {
  const table = typed(V3.route, { name: "a/b", vhds: { config_source: ADS } });
  expect(api.readResource(table).input?.references).toEqual([{ type: url(V3.virtualHost), name: "a/b/" }]);
  expect(api.readResource(typed(V3.route, { name: "r" })).input?.references).toBeUndefined();
  expect(api.traits(url(V3.route))?.owes).toEqual([url(V3.virtualHost)]);
  expect(api.traits(url("envoy.api.v2.RouteConfiguration"))?.owes).toEqual([url("envoy.api.v2.route.VirtualHost")]);
});

test("a ClusterLoadAssignment refers to its LEDS collections, and owes them (B-LED-01)", () => {
  const leds_collection_name = "xdstp://a/envoy.config.endpoint.v3.LbEndpoint/web/*";
  const assignment = typed(V3.endpoints, {
    cluster_name: "web",
    endpoints: [{ leds_cluster_locality_config: { leds_config: ADS, leds_collection_name } }],
  });
  expect(api.readResource(assignment).input?.references).toEqual([
    { type: url(V3.lbEndpoint), name: leds_collection_name },
  ]);
  expect(api.traits(url(V3.endpoints))?.owes).toEqual([url(V3.lbEndpoint)]);
});

test("routes of Thrift refer to their clusters (B-TRD-01)", () => {
  const routes = [
    { match: { method_name: "" }, route: { cluster: "a" } },
    { match: { method_name: "m" }, route: { weighted_clusters: { clusters: [{ name: "b", weight: 1 }] } } },
  ];
  expect(api.readResource(typed(V3.thriftRoute, { name: "t", routes })).input?.references).toEqual([
    { type: url(V3.cluster), name: "a" },
    { type: url(V3.cluster), name: "b" },
  ]);
});

test("what a client fetches before it uses a resource is told with how long it waits", () => {
  const rds = (name: string, more: object): object => ({
    filters: [
      {
        name: "f",
        typed_config: typed(V3.http, {
          stat_prefix: "s",
          rds: { route_config_name: name, config_source: { ...ADS, ...more } },
        }),
      },
    ],
  });
  const listener = typed(V3.listener, {
    name: "l",
    address: { socket_address: { address: "127.0.0.1", port_value: 1 } },
    filter_chains: [
      rds("usual", {}),
      rds("short", { initial_fetch_timeout: "0.250s" }),
      rds("ever", { initial_fetch_timeout: "0s" }),
    ],
  });
  expect(api.initialFetches(url(V3.listener), encode(listener))).toEqual([
    { type: url(V3.route), name: "usual", timeoutMs: 15_000 },
    { type: url(V3.route), name: "short", timeoutMs: 250 },
    { type: url(V3.route), name: "ever", timeoutMs: 0 },
  ]);
  expect(api.initialFetches(url("acme.Unknown"), new Uint8Array())).toEqual([]);
});
