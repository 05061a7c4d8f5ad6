import { contentDigest } from "@xdskit/envoy-api";
import { createResource, type Resource, type TypeUrl } from "@xdskit/protocol";
import { createManagementServer, type ManagementServer } from "@xdskit/server";
import { afterEach, describe, expect, test } from "vitest";
import {
  Cluster,
  ClusterLoadAssignment,
  createXdsClient,
  Listener,
  type Mesh,
  type MeshResource,
  type MeshSnapshot,
  RouteConfiguration,
  Runtime,
  TypedExtensionConfig,
  validator,
  type XdsClient,
  type XdsClientOptions,
} from "../src/index.ts";
import { until } from "./support/fake-listener.ts";
import { bootstrap } from "./support/own-server.ts";
import { testApi } from "./support/sources.ts";

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const ADS = { ads: {}, resourceApiVersion: "V3" };
const HTTP = "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";
const ROUTER = "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router";
const LUA = "type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua";

function read(json: object): Resource {
  const { input, problems } = testApi().readResource(json);
  if (input === undefined) throw new Error(JSON.stringify(problems));
  return createResource(input, contentDigest);
}

const listener = (name: string, route: string, more: object = {}): Resource =>
  read({
    "@type": Listener.typeUrl,
    name,
    apiListener: {
      apiListener: {
        "@type": HTTP,
        statPrefix: "s",
        rds: { routeConfigName: route, configSource: ADS },
        ...more,
      },
    },
  });

const routes = (name: string, ...clusters: readonly string[]): Resource =>
  read({
    "@type": RouteConfiguration.typeUrl,
    name,
    virtualHosts: clusters.map((cluster) => ({
      ...{ name: cluster, domains: [cluster] },
      routes: [{ match: { prefix: "/" }, route: { cluster } }],
    })),
  });

/** A server in a bootstrap of Envoy. */
const clusterOfServer = (name: string, port_value: number): object => {
  const endpoint = { address: { socket_address: { address: "127.0.0.1", port_value } } };
  const load_assignment = { cluster_name: name, endpoints: [{ lb_endpoints: [{ endpoint }] }] };
  return { name, connect_timeout: "1s", type: "STATIC", load_assignment };
};
const sourceAt = (cluster_name: string): object => ({
  resource_api_version: "V3",
  api_config_source: {
    api_type: "GRPC",
    transport_api_version: "V3",
    grpc_services: [{ envoy_grpc: { cluster_name } }],
  },
});

const cluster = (name: string, seconds = 1): Resource =>
  read({
    ...{ "@type": Cluster.typeUrl, name, type: "EDS", connectTimeout: `${seconds}s` },
    edsClusterConfig: { edsConfig: ADS },
  });

const endpoints = (name: string, port = 1): Resource =>
  read({
    "@type": ClusterLoadAssignment.typeUrl,
    clusterName: name,
    endpoints: [
      { lbEndpoints: [{ endpoint: { address: { socketAddress: { address: "10.0.0.1", portValue: port } } } }] },
    ],
  });

/** The names of the proto file as those of JSON. */
function camel(value: object): object {
  const text = JSON.stringify(value).replaceAll(/"([a-z_]+)":/g, (key) =>
    key.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
  );
  return JSON.parse(text) as object;
}

/** A source of a cluster of the bootstrap. */
function ownSource(clusterName: string, apiType = "AGGREGATED_DELTA_GRPC"): object {
  return { apiType, transportApiVersion: "V3", grpcServices: [{ envoyGrpc: { clusterName } }] };
}

interface Served {
  readonly port: number;
  readonly server: ManagementServer;
  readonly address: string;
  put(...puts: readonly Resource[]): void;
  delete(type: TypeUrl, name: string): void;
}

async function serve(...puts: readonly Resource[]): Promise<Served> {
  const server = createManagementServer({ api: testApi(), listen: { port: 0 } });
  server.commit({ changes: [{ layer: "base", puts }] });
  const { address } = await server.start();
  ends.push(() => server.close());
  return {
    server,
    port: address.port,
    address: `${address.host}:${address.port}`,
    put: (...more) => void server.commit({ changes: [{ layer: "base", puts: more }] }),
    delete: (type, name) => void server.commit({ changes: [{ layer: "base", deletes: [{ type, name }] }] }),
  };
}

async function start(options: XdsClientOptions): Promise<XdsClient> {
  const client = await createXdsClient({ api: testApi(), node: "test", ...options });
  ends.push(() => client.close());
  return client;
}

async function next(mesh: Mesh): Promise<MeshSnapshot> {
  const { value, done } = await mesh.next();
  if (done === true) throw new Error("expected a snapshot, got the end");
  return value;
}

/** The first snapshot from now on that is as it is wanted. */
async function nextWith(mesh: Mesh, isWanted: (snapshot: MeshSnapshot) => boolean): Promise<MeshSnapshot> {
  for (;;) {
    const snapshot = await next(mesh);
    if (isWanted(snapshot)) return snapshot;
  }
}

/** A snapshot in a few words. */
function words(snapshot: MeshSnapshot): Readonly<Record<string, string>> {
  const { listeners, routes: tables, clusters } = snapshot;
  return Object.fromEntries([
    ...[...listeners.values(), ...tables.values()].map(({ name, state }) => [name, state] as const),
    ...[...clusters.values()].map(
      ({ name, state, endpoints: assigned }) => [name, `${state} ${portOf(assigned?.json)}`] as const,
    ),
  ]);
}

function portOf(json: object | undefined): unknown {
  const port = /"portValue":(\d+)/.exec(JSON.stringify(json ?? {}));
  return port?.[1] ?? "nowhere";
}

function held(client: XdsClient): readonly string[] {
  return client
    .dump()
    .map(({ key }) => key)
    .sort();
}

describe.each([{ variant: "sotw" }, { variant: "delta" }] as const)("$variant", ({ variant }) => {
  test("C-SUB-21 a Listener is resolved to its routes, their clusters and endpoints", async () => {
    const served = await serve(
      listener("in", "r"),
      routes("r", "a", "b"),
      cluster("a"),
      endpoints("a", 1),
      cluster("b"),
      endpoints("b", 2),
    );
    const client = await start({ server: served.address, variant });
    const mesh = client.resolve(Listener, "in");
    const first = await mesh.ready;
    expect(words(first)).toEqual({ in: "ready", r: "ready", a: "ready 1", b: "ready 2" });
    expect([first.isComplete, first.dangling, await next(mesh)]).toEqual([true, [], first]);
    served.put(endpoints("a", 7));
    const second = await nextWith(mesh, ({ clusters }) => portOf(clusters.get("a")?.endpoints?.json) === "7");
    expect(words(first)).toEqual({ in: "ready", r: "ready", a: "ready 1", b: "ready 2" });
    expect(second.revision).toBeGreaterThan(first.revision);
  });

  test("routes to another cluster are seen only with that cluster and its endpoints, and the old one is let go", async () => {
    const served = await serve(listener("in", "r"), routes("r", "a"), cluster("a"), endpoints("a", 1));
    const client = await start({ server: served.address, variant });
    const mesh = client.resolve(Listener, "in");
    await next(mesh);
    const seen: unknown[] = [];
    served.put(cluster("b"), endpoints("b", 2), routes("r", "b"));
    const last = await nextWith(mesh, (snapshot) => {
      seen.push(snapshot.dangling, snapshot.isComplete);
      return snapshot.clusters.has("b");
    });
    expect(words(last)).toEqual({ in: "ready", r: "ready", b: "ready 2" });
    expect(new Set(seen.map((one) => JSON.stringify(one)))).toEqual(new Set(["[]", "true"]));
    expect(held(client)).toEqual(["b", "b", "in", "r"]);
  });

  test("a mesh that is closed by who hears of it asks for nothing more", async () => {
    const nowhere = { routeConfigName: "r", configSource: sourceAt("nowhere") };
    const onAds = { name: "x", configDiscovery: { configSource: ADS, typeUrls: [LUA] } };
    const served = await serve(listener("in", "", { rds: nowhere, httpFilters: [onAds] }));
    const client = await start({ server: served.address, variant });
    const mesh = client.resolve(Listener, "in", {
      onReport: ({ kind }) => {
        if (kind === "source-unresolved") mesh.close();
      },
    });
    await expect(mesh.ready).rejects.toMatchObject({ code: "CLOSED" });
    expect(client.dump()).toEqual([]);
  });

  test("what is asked of a mesh by who hears of it comes after what he heard of", async () => {
    const served = await serve(listener("in", "r"), routes("r", "a"), cluster("a"), endpoints("a", 1));
    const client = await start({ server: served.address, variant });
    const mesh = client.resolve(Listener, "in", {
      snapshots: "every",
      onReport: (report) => {
        if (report.kind === "answered" && report.type === ClusterLoadAssignment.typeUrl)
          mesh.demandCluster("late").catch(() => {});
      },
    });
    const { clusters, isComplete } = await nextWith(mesh, (snapshot) => snapshot.clusters.has("late"));
    expect([clusters.get("late")?.state, isComplete]).toEqual(["requested", false]);
  });

  test("C-WRM-13 C-WRM-02 a proxy asks for Listeners when its Clusters are warm, and sees updates warm", async () => {
    const served = await serve(listener("in", "r"), routes("r", "a"), cluster("a"), endpoints("a", 1));
    const asked: string[] = [];
    const client = await start({
      ...{ server: served.address, variant, mode: "proxy" },
      onReport: (report) => {
        if (report.kind === "request-sent" && report.as === "initial") asked.push(report.type.split(".").at(-1) ?? "");
      },
    });
    const mesh = client.mesh();
    expect(words(await mesh.ready)).toEqual({ in: "ready", r: "ready", a: "ready 1" });
    expect(asked).toEqual(["Cluster", "ClusterLoadAssignment", "Listener", "RouteConfiguration"]);
    served.put(cluster("a", 2));
    const json = ({ clusters }: MeshSnapshot): unknown => clusters.get("a")?.resource?.json.connectTimeout;
    await nextWith(mesh, (snapshot) => json(snapshot) === "2s" && snapshot.isComplete);
    served.delete(Listener.typeUrl, "in");
    const last = await nextWith(mesh, ({ listeners, routes: tables }) => listeners.size + tables.size === 0);
    expect(words(last)).toEqual({ a: "ready 1" });
  });

  test("C-ACK-15 where Clusters are acknowledged when they are warm, they are", async () => {
    const served = await serve(cluster("a"), endpoints("a"));
    const acked: string[] = [];
    served.server.on("response-acked", ({ type }) => acked.push(type.split(".").at(-1) ?? ""));
    const client = await start({ server: served.address, variant, dialect: { cdsAckWhenWarm: true } });
    const mesh = client.mesh();
    await mesh.ready;
    await until("Clusters are acknowledged", () => acked.includes("Cluster"));
    served.put(cluster("dns"), endpoints("dns"));
    await until("they are again", () => acked.filter((type) => type === "Cluster").length === 2);
    expect(acked.indexOf("ClusterLoadAssignment")).toBeLessThan(acked.indexOf("Cluster"));
  });

  test("names that lead nowhere are told, with the reason", async () => {
    const served = await serve(listener("in", "r"), routes("r", "a", "ghost"), cluster("a"), endpoints("a"));
    const client = await start({ server: served.address, variant, initialFetchTimeoutMs: 300 });
    const { dangling } = await client.resolve(Listener, "in").ready;
    const ghost = {
      from: { type: RouteConfiguration.typeUrl, name: "r" },
      to: { type: Cluster.typeUrl, name: "ghost" },
    };
    expect(dangling).toEqual([{ ...ghost, why: "absent" }]);
    const proxy = client.mesh();
    expect((await proxy.ready).dangling).toEqual([{ ...ghost, why: "absent" }]);
    const nothing = await nextWith(client.resolve(Listener, "out"), ({ listeners }) => {
      return listeners.get("out")?.state === "absent";
    });
    const to = { type: Listener.typeUrl, name: "out" };
    expect(nothing.dangling).toEqual([{ from: undefined, to, why: "absent" }]);
  });

  test("what was refused leads nowhere, and is told as that", async () => {
    const served = await serve(listener("in", "r"), routes("r", "a"), cluster("a", 90));
    const patience = ({ json }: { readonly json: { readonly connectTimeout?: string } }): string | undefined =>
      json.connectTimeout === "90s" ? "too long" : undefined;
    const client = await start({ server: served.address, variant, validators: [validator(Cluster, patience)] });
    const mesh = client.resolve(Listener, "in", { snapshots: "every" });
    const refused = await nextWith(mesh, ({ clusters }) => clusters.get("a")?.state === "error");
    const to = { type: Cluster.typeUrl, name: "a" };
    expect(refused.dangling).toEqual([{ from: { type: RouteConfiguration.typeUrl, name: "r" }, to, why: "error" }]);
    const own = await nextWith(client.resolve(Cluster, "a", { snapshots: "every" }), ({ dangling }) =>
      dangling.some(({ why }) => why === "error"),
    );
    expect(own.dangling).toEqual([{ from: undefined, to, why: "error" }]);
  });
});

test("C-ODC-01 a cluster that nothing refers to is there once it was asked for, one that does not exist is absent, silence ends", async () => {
  const served = await serve(cluster("a"), endpoints("a", 5));
  const client = await start({ server: served.address, variant: "delta" });
  const mesh = client.resolve(Listener, "in", { snapshots: "every" });
  expect(await mesh.demandCluster("a")).toBe("found");
  await nextWith(mesh, ({ clusters }) => clusters.get("a")?.state === "ready");
  expect(await mesh.demandCluster("ghost")).toBe("absent");
  await until("nobody wants the ghost any more", () => !held(client).includes("ghost"));
  const silent = await start({ server: "127.0.0.1:1", variant: "delta" });
  const waiting = silent.resolve(Listener, "in");
  expect(await waiting.demandCluster("a", { timeoutMs: 20 })).toBe("timeout");
  const stopping = new AbortController();
  const pending = waiting.demandCluster("a", { signal: stopping.signal });
  stopping.abort(new Error("enough"));
  await expect(pending).rejects.toThrow("enough");
});

test("C-ODC-01 a filter says where a Cluster comes from that a request needs, and how long that waits", async () => {
  const onDemand = (name: string, source: object, more: object = {}): Resource => {
    const odcds = { source, timeout: "0.050s" };
    const config = { "@type": "type.googleapis.com/envoy.extensions.filters.http.on_demand.v3.OnDemand", odcds };
    return listener(name, "r", { httpFilters: [{ name: "on_demand", typedConfig: config }], ...more });
  };
  const dead = { apiConfigSource: ownSource("dead"), resourceApiVersion: "V3" };
  const roots = [onDemand("own", ADS), onDemand("quiet", dead), listener("plain", "r"), routes("r")];
  const served = await serve(...roots, cluster("a"), endpoints("a", 5));
  const boot = bootstrap(served.port, {
    ads_config: ownSource("live", "DELTA_GRPC"),
    lds_config: { ads: {}, resource_api_version: "V3" },
  });
  const client = await createXdsClient({ api: testApi(), bootstrap: boot });
  ends.push(() => client.close());
  const mesh = client.mesh();
  const { listeners } = await mesh.ready;
  const by = (name: string): { readonly by: MeshResource } => {
    const found = listeners.get(name);
    if (found === undefined) throw new Error(`expected a listener ${name}`);
    return { by: found };
  };
  expect(await mesh.demandCluster("a", by("own"))).toBe("found");
  expect(mesh.current?.clusters.get("a")?.state).toBe("ready");
  expect(await mesh.demandCluster("ghost", by("own"))).toBe("absent");
  expect(await mesh.demandCluster("a", by("plain"))).toBe("absent");
  expect(await mesh.demandCluster("late", by("quiet"))).toBe("timeout");
  // It stays, as long as a version of the filter does that says where it is.
  served.put(onDemand("own", ADS, { serverName: "changed" }));
  await nextWith(mesh, (one) => JSON.stringify(one.listeners.get("own")?.resource?.json).includes("changed"));
  expect(mesh.current?.clusters.get("a")?.state).toBe("ready");
  served.delete(Listener.typeUrl, "own");
  await nextWith(mesh, ({ clusters }) => !clusters.has("a"));
  await until("nobody wants it any more", () => !held(client).includes("a"));
});

test("C-CFG-02 a proxy fetches the layers of its runtime from where the bootstrap says", async () => {
  const layer = read({ "@type": Runtime.typeUrl, name: "limits", layer: { most: 7 } });
  const served = await serve(layer, cluster("a"), endpoints("a"));
  const rtds = (cluster_name: string): object => ({
    resource_api_version: "V3",
    api_config_source: {
      api_type: "GRPC",
      transport_api_version: "V3",
      grpc_services: [{ envoy_grpc: { cluster_name } }],
    },
  });
  const layers = [
    { name: "own", static_layer: { a: 1 } },
    { name: "fetched", rtds_layer: { name: "limits", rtds_config: rtds("live") } },
  ];
  const dynamic = { ads_config: ownSource("live", "GRPC"), cds_config: { ads: {}, resource_api_version: "V3" } };
  const boot = { ...bootstrap(served.port, dynamic), layered_runtime: { layers } };
  const client = await createXdsClient({ api: testApi(), bootstrap: boot });
  ends.push(() => client.close());
  expect(client.config.runtimeLayers.map(({ name, source }) => [name, source.kind])).toEqual([["limits", "grpc"]]);
  const { runtimes, clusters } = await client.mesh().ready;
  expect([...runtimes.values()].map(({ name, source }) => [name, source])).toEqual([
    ["limits", expect.stringMatching(/^grpc:live#/)],
  ]);
  expect(runtimes.get("limits")?.resource?.json.layer).toEqual({ most: 7 });
  expect([...clusters.keys()]).toEqual(["live", "dead", "a"]);
  expect((await client.get(Runtime, "limits")).json.layer).toEqual({ most: 7 });
});

test("C-VHD-02 a virtual host is fetched for the first request that needs it", async () => {
  const table = read({ "@type": RouteConfiguration.typeUrl, name: "r", vhds: { configSource: ADS } });
  const host = read({
    ...{ "@type": "type.googleapis.com/envoy.config.route.v3.VirtualHost", name: "r/web", domains: ["a.example"] },
  });
  const served = await serve(listener("in", "r"), table, host);
  const client = await start({ server: served.address, variant: "delta" });
  const mesh = client.resolve(Listener, "in");
  await mesh.ready;
  expect(await mesh.demandHost("r", "A.example")).toBe("found");
  expect(await mesh.demandHost("r", "other.example")).toBe("absent");
  expect(await mesh.demandHost("none", "a.example")).toBe("absent");
  expect([...(mesh.current?.virtualHosts.keys() ?? [])]).toEqual(["r/web"]);
});

test("C-ECD-04 an extension config that does not fit is refused, and the server hears why", async () => {
  const filter = { name: "x", configDiscovery: { configSource: ADS, typeUrls: [ROUTER] } };
  const extension = (typedConfig: object): Resource =>
    read({ "@type": TypedExtensionConfig.typeUrl, name: "x", typedConfig });
  const served = await serve(
    ...[listener("in", "r", { httpFilters: [filter] }), routes("r"), extension({ "@type": LUA, inlineCode: "x" })],
  );
  const nacks: string[] = [];
  served.server.on("response-nacked", ({ error }) => nacks.push(error.message));
  const client = await start({ server: served.address });
  const mesh = client.resolve(Listener, "in", { snapshots: "every" });
  const refused = await nextWith(mesh, ({ extensions }) => extensions.get("x")?.state === "error");
  expect([refused.extensions.get("x")?.error?.code, refused.listeners.get("in")?.state]).toEqual([
    "REJECTED",
    "warming",
  ]);
  await until("the server heard of it", () => nacks.length > 0);
  expect(nacks[0]).toContain(`expected one of ${ROUTER}, got ${LUA}`);
  served.put(extension({ "@type": ROUTER }));
  await nextWith(mesh, ({ listeners }) => listeners.get("in")?.state === "ready");
});

describe("where things come from", () => {
  /** A bootstrap of an Envoy with an aggregated stream to one server, and another server that resources may name. */
  const envoyBootstrap = (aggregated: string, other: string): Record<string, unknown> => {
    const serverAt = (name: string, at: string): object => ({
      name,
      type: "STATIC",
      typed_extension_protocol_options: {
        "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
          "@type": "type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
          explicit_http_config: { http2_protocol_options: {} },
        },
      },
      load_assignment: {
        cluster_name: name,
        endpoints: [{ lb_endpoints: [{ endpoint: { address: { socket_address: addressOf(at) } } }] }],
      },
    });
    const ads = { ads: {}, resource_api_version: "V3" };
    return {
      node: { id: "n", cluster: "c" },
      dynamic_resources: { lds_config: ads, cds_config: ads, ads_config: grpcTo("one") },
      static_resources: { clusters: [serverAt("one", aggregated), serverAt("two", other)] },
    };
  };
  const addressOf = (at: string): object => ({ address: at.split(":")[0], port_value: Number(at.split(":")[1]) });
  const grpcTo = (name: string): object => ({
    api_type: "DELTA_GRPC",
    transport_api_version: "V3",
    grpc_services: [{ envoy_grpc: { cluster_name: name } }],
  });

  test("C-CFG-02 C-SUB-21 a proxy takes endpoints from another server, and the routes of scopes from where its Listener says", async () => {
    const other = await serve(endpoints("far", 9), routes("r", "far"));
    const fromOther = { apiConfigSource: { ...camel(grpcTo("two")) }, resourceApiVersion: "V3" };
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
    const client = await start({ bootstrap: envoyBootstrap(served.address, other.address) });
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

  test("C-ADS-06 a client with a bootstrap of gRPC refuses sources other than ads", async () => {
    const own = { apiConfigSource: camel(grpcTo("two")), resourceApiVersion: "V3" };
    const served = await serve(listener("in", "r", { rds: { routeConfigName: "r", configSource: own } }));
    const nacks: string[] = [];
    served.server.on("response-nacked", ({ error }) => nacks.push(error.message));
    const client = await start({
      bootstrap: {
        xds_servers: [
          { server_uri: served.address, channel_creds: [{ type: "insecure" }], server_features: ["xds_v3"] },
        ],
        node: { id: "n" },
      },
    });
    const mesh = client.resolve(Listener, "in", { snapshots: "every" });
    const refused = await nextWith(mesh, ({ listeners }) => listeners.get("in")?.state === "error");
    expect(refused.listeners.get("in")?.error?.message).toContain("expected ads or self");
    await until("the server heard of it", () => nacks.length > 0);
    expect(nacks[0]).toContain("got api_config_source");
  });

  test("what happens in a mesh is told", async () => {
    const served = await serve(listener("in", "r"), routes("r", "a"), cluster("a"), endpoints("a"));
    const client = await start({ server: served.address });
    const told: string[] = [];
    const mesh = client.resolve(Listener, "in", { onReport: ({ kind }) => void told.push(kind) });
    await mesh.ready;
    expect(told.filter((kind) => kind === "warmed")).toHaveLength(2);
    expect(told.filter((kind) => kind !== "warmed")).toEqual(["answered", "answered", "answered", "answered"]);
  });

  test("several Listeners are one mesh, and what a program of gRPC dials is one of them", async () => {
    const served = await serve(listener("in/a", "r"), listener("b", "r"), listener("c", "r"), routes("r", "a"));
    const client = await start({
      bootstrap: {
        xds_servers: [
          { server_uri: served.address, channel_creds: [{ type: "insecure" }], server_features: ["xds_v3"] },
        ],
        client_default_listener_resource_name_template: "in/%s",
        authorities: {
          other: { client_listener_resource_name_template: "xdstp://other/envoy.config.listener.v3.Listener/%s" },
        },
        node: { id: "n" },
      },
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
    const bootstrap = {
      static_resources: {
        clusters: [clusterOfServer("live", Number(served.address.split(":")[1])), clusterOfServer("dead", 1)],
      },
      dynamic_resources: { cds_config: sourceAt("dead"), lds_config: sourceAt("live") },
      node: { id: "n", cluster: "c" },
    };
    const client = await start({ bootstrap, mode: "proxy" });
    const mesh = client.mesh({ listeners: "at-once" });
    const { listeners } = await nextWith(mesh, (snapshot) => snapshot.listeners.size > 0);
    expect([...listeners.keys()]).toEqual(["in"]);
  });
});

describe("the end", () => {
  test("a mesh that is closed leaves no subscription, no waiting, and its promise is rejected", async () => {
    const served = await serve(listener("in", "r"), routes("r", "a"), cluster("a"), endpoints("a"));
    const client = await start({ server: served.address });
    const mesh = client.resolve(Listener, "in");
    await mesh.ready;
    await next(mesh);
    const pending = mesh.next();
    mesh.close();
    mesh.close();
    expect([await pending, await mesh.next()]).toEqual([
      { done: true, value: undefined },
      { done: true, value: undefined },
    ]);
    await until("nothing is wanted", () => held(client).length === 0);
    await expect(mesh.demandCluster("a")).rejects.toMatchObject({ code: "CLOSED" });
    const late = client.resolve(Listener, "other");
    late.close();
    await expect(late.ready).rejects.toMatchObject({ code: "CLOSED" });
  });

  test("it ends with the loop, the signal, and the client", async () => {
    const served = await serve(listener("in", "r"), routes("r", "a"), cluster("a"), endpoints("a"));
    const client = await start({ server: served.address });
    for await (const { clusters } of client.resolve(Listener, "in")) {
      expect([...clusters.keys()]).toEqual(["a"]);
      break;
    }
    await until("nothing is wanted", () => held(client).length === 0);
    const stopping = new AbortController();
    const stopped = client.resolve(Listener, "in", { signal: stopping.signal });
    stopping.abort();
    expect(await stopped.next()).toEqual({ done: true, value: undefined });
    const last = client.mesh();
    const pending = last.next();
    await client.close();
    expect((await pending).done).toBe(true);
    expect(() => client.mesh()).toThrow("closed");
  });
});
