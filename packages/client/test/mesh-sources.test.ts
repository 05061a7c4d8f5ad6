/** Where the resources of a mesh come from: several servers, and what a bootstrap says of that. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Resource } from "@xdskit/protocol";
import { expect, test } from "vitest";
import { Cluster, ClusterLoadAssignment, Listener, Runtime } from "../src/index.ts";
import { folder } from "./support/ends.ts";
import { ADS, cluster, endpoints, grpcTo, HTTP, listener, nextWith, portOf, routes, sourceAt } from "./support/mesh.ts";
import { bootstrap, bootstrapOf, read, serve, start } from "./support/own-server.ts";
import { until } from "./support/until.ts";

/** Of a gRPC client with one server. */
function grpcBootstrap(server_uri: string, more: object = {}): Readonly<Record<string, unknown>> {
  const server = { server_uri, channel_creds: [{ type: "insecure" }], server_features: ["xds_v3"] };
  return { xds_servers: [server], node: { id: "n" }, ...more };
}

test("C-CFG-02 a proxy fetches the layers of its runtime from where the bootstrap says", async () => {
  const layer = read({ "@type": Runtime.typeUrl, name: "limits", layer: { most: 7 } });
  const served = await serve(layer, cluster("a"), endpoints("a"));
  const layers = [
    { name: "own", static_layer: { a: 1 } },
    { name: "fetched", rtds_layer: { name: "limits", rtds_config: sourceAt("live") } },
  ];
  const dynamic = { ads_config: grpcTo("live"), cds_config: ADS };
  const boot = { ...bootstrap(served.port, dynamic), layered_runtime: { layers } };
  const client = await start({ bootstrap: boot });
  expect(client.config.runtimeLayers.map(({ name, source }) => [name, source.kind])).toEqual([["limits", "grpc"]]);
  const { runtimes, clusters } = await client.mesh().ready;
  expect([...runtimes.values()].map(({ name, source }) => [name, source])).toEqual([
    ["limits", expect.stringMatching(/^grpc:live#/)],
  ]);
  expect(runtimes.get("limits")?.resource?.json.layer).toEqual({ most: 7 });
  expect([...clusters.keys()]).toEqual(["live", "dead", "a"]);
  expect((await client.get(Runtime, "limits")).json.layer).toEqual({ most: 7 });
});

test("C-CFG-02 C-SUB-21 a proxy takes endpoints from another server, and the routes of scopes from where its Listener says", async () => {
  const other = await serve(endpoints("far", 9), routes("r", "far"));
  const fromOther = sourceAt("other");
  const far = read({
    ...{ "@type": Cluster.typeUrl, name: "far", type: "EDS", connectTimeout: "1s" },
    edsClusterConfig: { edsConfig: fromOther },
  });
  const scope = read({
    ...{ "@type": "type.googleapis.com/envoy.config.route.v3.ScopedRouteConfiguration", name: "s" },
    ...{ routeConfigurationName: "r", key: { fragments: [{ stringKey: "k" }] } },
  });
  const scopedRoutes = {
    name: "s",
    scopeKeyBuilder: { fragments: [{ headerValueExtractor: { name: "h", index: 0 } }] },
    rdsConfigSource: fromOther,
    scopedRds: { scopedRdsConfigSource: ADS },
  };
  const scoped = read({
    ...{ "@type": Listener.typeUrl, name: "in" },
    apiListener: { apiListener: { "@type": HTTP, statPrefix: "s", scopedRoutes } },
  });
  const served = await serve(far, scope, scoped);
  const dynamic = { lds_config: ADS, cds_config: ADS, ads_config: grpcTo("live", "DELTA_GRPC") };
  const client = await start({ bootstrap: bootstrapOf({ live: served.port, other: other.port }, dynamic) });
  const mesh = client.mesh();
  const { clusters, scopedRoutes: scopes, routes: tables, listeners } = await mesh.ready;
  expect(portOf(clusters.get("far")?.endpoints?.json)).toBe("9");
  expect([scopes.get("s")?.state, tables.get("r")?.state, listeners.get("in")?.state]).toEqual([
    "ready",
    "ready",
    "ready",
  ]);
  expect(tables.get("r")?.source).not.toBe(scopes.get("s")?.source);
});

/** Sources of endpoints that do not resend them when a Cluster of an ADS stream changes. */
const elsewhere: readonly (readonly [string, () => Promise<{ readonly port?: number; readonly source: object }>])[] = [
  [
    "a stream of another server",
    async () => ({ port: (await serve(endpoints("far", 9))).port, source: sourceAt("other") }),
  ],
  [
    "a file",
    () => {
      const path = join(folder(), "eds.json");
      const assignment = { "@type": ClusterLoadAssignment.typeUrl, cluster_name: "far" };
      writeFileSync(path, JSON.stringify({ version_info: "1", resources: [assignment] }));
      return Promise.resolve({ source: { resource_api_version: "V3", path_config_source: { path } } });
    },
  ],
];

test.each(elsewhere)("C-WRM-04 a changed Cluster does not wait for its endpoints from %s", async (_, place) => {
  const { port = 1, source } = await place();
  const far = (seconds: number): Resource =>
    read({
      ...{ "@type": Cluster.typeUrl, name: "far", type: "EDS", connect_timeout: `${seconds}s` },
      // Without a timeout, so a Cluster that waits never changes.
      eds_cluster_config: { eds_config: { ...source, initial_fetch_timeout: "0s" } },
    });
  const served = await serve(far(1));
  const dynamic = { cds_config: ADS, ads_config: grpcTo("live", "DELTA_GRPC") };
  const mesh = (await start({ bootstrap: bootstrapOf({ live: served.port, other: port }, dynamic) })).mesh();
  const before = await mesh.ready;
  expect(before.clusters.get("far")?.resource?.json.connectTimeout).toBe("1s");
  served.put(far(2));
  const after = await nextWith(mesh, ({ clusters }) => clusters.get("far")?.resource?.json.connectTimeout === "2s");
  expect(after.clusters.get("far")?.endpoints).toBe(before.clusters.get("far")?.endpoints);
});

test("of ever new sources of endpoints the last hundred are remembered after they are used", async () => {
  // A source with another timeout is another one.
  const far = (seconds: number): Resource =>
    read({
      ...{ "@type": Cluster.typeUrl, name: "far", type: "EDS", connect_timeout: `${seconds}s` },
      eds_cluster_config: { eds_config: { ...sourceAt("other"), initial_fetch_timeout: `${seconds}s` } },
    });
  const served = await serve(far(100));
  const other = await serve(endpoints("far"));
  const dynamic = { cds_config: ADS, ads_config: grpcTo("live", "DELTA_GRPC") };
  const client = await start({ bootstrap: bootstrapOf({ live: served.port, other: other.port }, dynamic) });
  const mesh = client.mesh();
  await mesh.ready;
  for (let seconds = 101; seconds < 250; seconds++) {
    served.put(far(seconds));
    await nextWith(mesh, ({ clusters }) => clusters.get("far")?.resource?.json.connectTimeout === `${seconds}s`);
  }
  const isOfAds = (source: string): boolean => source.startsWith("ads");
  await until("the last of them is not used any more", () => client.stats().sources.length === 102);
  const { sources, subscriptions } = client.stats();
  expect(sources.map(({ connectedState, source }) => connectedState && !isOfAds(source)).filter(Boolean)).toEqual([
    true,
  ]);
  expect(subscriptions.filter(({ source }) => !isOfAds(source))).toHaveLength(101);
});

test("C-ADS-06 a client with a bootstrap of gRPC refuses sources other than ads", async () => {
  const rds = { route_config_name: "r", config_source: sourceAt("other") };
  const served = await serve(listener("in", "r", { rds }));
  const nacks: string[] = [];
  served.server.on("response-nacked", ({ error }) => nacks.push(error.message));
  const client = await start({ bootstrap: grpcBootstrap(served.address) });
  const mesh = client.resolve(Listener, "in", { snapshots: "every" });
  const refused = await nextWith(mesh, ({ listeners }) => listeners.get("in")?.state === "error");
  expect(refused.listeners.get("in")?.error?.message).toContain("expected ads or self");
  await until("the server heard of it", () => nacks.length > 0);
  expect(nacks[0]).toContain("got api_config_source");
});

test("several Listeners are one mesh, and what a program of gRPC dials is one of them", async () => {
  const served = await serve(listener("in/a", "r"), listener("b", "r"), listener("c", "r"), routes("r", "a"));
  const client = await start({
    bootstrap: grpcBootstrap(served.address, {
      client_default_listener_resource_name_template: "in/%s",
      authorities: {
        other: { client_listener_resource_name_template: "xdstp://other/envoy.config.listener.v3.Listener/%s" },
      },
    }),
  });
  const mesh = client.resolve(Listener, ["xds:///a", "xdstp://other/envoy.config.listener.v3.Listener/b"], {
    snapshots: "every",
  });
  const { listeners } = await nextWith(mesh, ({ routes: tables }) => tables.get("r")?.state === "ready");
  expect([...listeners.keys()].sort()).toEqual(["in/a", "xdstp://other/envoy.config.listener.v3.Listener/b"]);
  expect(() => client.resolve(Listener, "xds://nobody/a")).toThrow(
    expect.objectContaining({ code: "TYPE_UNSUPPORTED" }),
  );
});

test("Listeners that are asked for at once do not wait for Clusters", async () => {
  const served = await serve(listener("in", "r"), routes("r", "a"));
  const dynamic = { cds_config: sourceAt("dead"), lds_config: sourceAt("live") };
  const client = await start({ bootstrap: bootstrap(served.port, dynamic), mode: "proxy" });
  const mesh = client.mesh({ listeners: "at-once" });
  const { listeners } = await nextWith(mesh, (snapshot) => snapshot.listeners.size > 0);
  expect([...listeners.keys()]).toEqual(["in"]);
});
