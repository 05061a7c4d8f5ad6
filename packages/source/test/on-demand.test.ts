import { createEnvoyApi } from "@xdskit/envoy-api";
import { createDirectorySource, type Load, roleOf } from "@xdskit/source";
import { describe, expect, test } from "vitest";
import { temporaryDirectory } from "./support/temporary-directory.ts";

const api = createEnvoyApi();
const ADS = { ads: {}, resource_api_version: "V3" };

async function load(files: Readonly<Record<string, readonly object[]>>): Promise<Load> {
  const texts = Object.entries(files).map(([file, resources]) => [file, `${JSON.stringify({ resources })}\n`] as const);
  return await createDirectorySource({ directory: temporaryDirectory(Object.fromEntries(texts)), api }).load();
}

const typed = (message: string, fields: object): object => ({ "@type": `type.googleapis.com/${message}`, ...fields });
const host = (name: string): object => typed("envoy.config.route.v3.VirtualHost", { name, domains: ["a.com"] });
const table = (config: object = {}): object =>
  typed("envoy.config.route.v3.RouteConfiguration", { name: "rc", vhds: { config_source: { ...ADS, ...config } } });
const listener = (config: object): object =>
  typed("envoy.config.listener.v3.Listener", {
    name: "l",
    address: { socket_address: { address: "127.0.0.1", port_value: 1 } },
    filter_chains: [
      {
        filters: [
          {
            name: "http",
            typed_config: typed("envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager", {
              stat_prefix: "s",
              rds: { route_config_name: "rc", config_source: { ...ADS, ...config } },
            }),
          },
        ],
      },
    ],
  });

describe("a folder on-demand", () => {
  test.each([
    ["on-demand/a.yaml", "base", true],
    ["deep/on-demand/er/a.yaml", "base", true],
    ["groups/g/on-demand/a.yaml", "group/g", true],
    ["nodes/n/on-demand/a.yaml", "node/n", true],
    ["nodes/on-demand/a.yaml", "node/on-demand", undefined],
    ["on-demand.yaml", "base", undefined],
  ])("%s: layer %s, on demand: %s", (path, layer, isOnDemand) => {
    expect(roleOf(path)).toEqual({ kind: "resources", layer, format: "yaml", ...(isOnDemand && { isOnDemand }) });
  });

  test("holds what no wildcard covers", async () => {
    const { state } = await load({ "a.json": [host("rc/base")], "on-demand/b.json": [host("rc/more")] });
    expect(state?.layers.get("base")?.map(({ name, onDemand }) => [name, onDemand])).toEqual([
      ["rc/base", false],
      ["rc/more", true],
    ]);
  });
});

describe("what a start would wait for", () => {
  const messages = ({ problems }: Load): readonly (readonly [string, string])[] =>
    problems.map(({ code, message }) => [code, message]);

  test.each([
    [{}, "waits 15s for it"],
    [{ initial_fetch_timeout: "3.5s" }, "waits 3.5s for it"],
    [{ initial_fetch_timeout: "0s" }, "waits for it for ever"],
  ])("a route configuration that is in no file, with %j: a client %s", async (config, says) => {
    expect(messages(await load({ "a.json": [listener(config)] }))).toEqual([
      [
        "REFERENCE_DANGLING",
        `Listener "l" needs RouteConfiguration "rc", which is not defined: a client that starts ${says}`,
      ],
    ]);
  });

  const baseless =
    'RouteConfiguration "rc" has its virtual hosts from VHDS, and none whose name begins with "rc/" is sent at first';

  test("a route configuration that is filled on demand, without a virtual host that is sent at first", async () => {
    const others = { "b.json": [host("other/a")], "on-demand/c.json": [host("rc/a")] };
    expect(messages(await load({ "a.json": [table()], ...others }))).toContainEqual([
      "ROUTE_BASE_HOSTS_MISSING",
      `${baseless}: an Envoy that starts waits 15s for one`,
    ]);
    expect(messages(await load({ "a.json": [table({ initial_fetch_timeout: "0s" })], ...others }))).toContainEqual([
      "ROUTE_BASE_HOSTS_MISSING",
      `${baseless}: an Envoy that starts waits for one for ever`,
    ]);
    const codes = (await load({ "a.json": [table()], "b.json": [host("rc/a")] })).problems.map(({ code }) => code);
    expect(codes).not.toContain("ROUTE_BASE_HOSTS_MISSING");
  });

  test("a LEDS collection is answered at once, and a member of it satisfies the reference", async () => {
    const path = "xdstp://a/envoy.config.endpoint.v3.LbEndpoint/web";
    const leds_cluster_locality_config = { leds_config: ADS, leds_collection_name: `${path}/*?y=2&x=1` };
    const assignment = typed("envoy.config.endpoint.v3.ClusterLoadAssignment", {
      cluster_name: "web",
      endpoints: [{ leds_cluster_locality_config }],
    });
    const member = typed("envoy.service.discovery.v3.Resource", {
      name: `${path}/one?x=1&y=2`,
      resource: typed("envoy.config.endpoint.v3.LbEndpoint", {}),
    });
    expect(messages(await load({ "a.json": [assignment] }))).toEqual([
      ["REFERENCE_DANGLING", `ClusterLoadAssignment "web" needs LbEndpoint "${path}/*?x=1&y=2", which is not defined`],
    ]);
    expect(messages(await load({ "a.json": [assignment, member] }))).toEqual([]);
  });
});
