import { expect, test } from "vitest";
import { Cluster, Listener, type MeshSnapshot, RouteConfiguration, STATIC_SOURCE } from "../src/index.ts";
import { ADS, endpoints, HTTP, nextWith, routes } from "./support/mesh.ts";
import { bootstrap, read, serve, start } from "./support/own-server.ts";

const TLS = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext";

const adsConfig = {
  api_type: "AGGREGATED_DELTA_GRPC",
  transport_api_version: "V3",
  grpc_services: [{ envoy_grpc: { cluster_name: "live" } }],
};

/** A bootstrap with clusters for the servers `live` and `dead`, and more. */
function bootstrapWith(
  port: number,
  {
    clusters = [],
    ...more
  }: { clusters?: readonly object[]; listeners?: readonly object[]; secrets?: readonly object[] },
  dynamic: object = { cds_config: ADS, lds_config: ADS },
): Readonly<Record<string, unknown>> {
  const whole = bootstrap(port, { ads_config: adsConfig, ...dynamic });
  const servers = (whole["static_resources"] as { readonly clusters: readonly object[] }).clusters;
  return { ...whole, static_resources: { clusters: [...servers, ...clusters], ...more } };
}

const listener = (name: string, route: string): object => ({
  ...(name === "" ? {} : { name }),
  address: { socket_address: { address: "127.0.0.1", port_value: 10_000 } },
  filter_chains: [
    {
      filters: [
        {
          name: "http",
          typed_config: { "@type": HTTP, stat_prefix: "s", rds: { route_config_name: route, config_source: ADS } },
        },
      ],
    },
  ],
});
const plain = (name: string, seconds = 1): object => ({
  name,
  type: "ORIGINAL_DST",
  connect_timeout: `${seconds}s`,
  lb_policy: "CLUSTER_PROVIDED",
});
const discovered = (name: string): object => ({ name, type: "EDS", eds_cluster_config: { eds_config: ADS } });
const withSecret = (name: string, secret: string): object => ({
  ...plain(name),
  transport_socket: {
    name: "tls",
    typed_config: {
      "@type": TLS,
      common_tls_context: { validation_context_sds_secret_config: { name: secret } },
    },
  },
});
const secret = (name: string): object => ({ name, validation_context: { trusted_ca: { inline_string: "ca" } } });

const given = (type: string, value: object): ReturnType<typeof read> => read({ "@type": type, ...value });

/** Where each thing comes from, and how it stands. */
function stands({ all }: MeshSnapshot): Readonly<Record<string, string>> {
  return Object.fromEntries(
    [...all.values()]
      .filter(({ name }) => name !== "live" && name !== "dead")
      .map(({ type, name, source, state }) => [
        `${type.split(".").at(-1)} ${name}`,
        `${source === STATIC_SOURCE ? "static" : "given"}, ${state}`,
      ]),
  );
}

test("C-CFG-02 a mesh follows what stands in the bootstrap, and finds static clusters by their names", async () => {
  const { port } = await serve(
    routes("r", "own", "given", "ghost"),
    given(Cluster.typeUrl, { name: "given", type: "EDS", edsClusterConfig: { edsConfig: ADS } }),
    ...[endpoints("given"), endpoints("found")],
  );
  const client = await start({
    bootstrap: bootstrapWith(port, {
      listeners: [listener("in", "r")],
      clusters: [plain("own"), discovered("found"), withSecret("secure", "ca")],
      secrets: [secret("ca"), secret("unused")],
    }),
  });
  const mesh = client.mesh();
  const snapshot = await mesh.ready;
  expect(stands(snapshot)).toEqual({
    "Listener in": "static, ready",
    "RouteConfiguration r": "given, ready",
    "Cluster own": "static, ready",
    "Cluster found": "static, ready",
    "ClusterLoadAssignment found": "given, ready",
    "Cluster secure": "static, ready",
    "Secret ca": "static, ready",
    "Cluster given": "given, ready",
    "ClusterLoadAssignment given": "given, ready",
  });
  expect(snapshot.dangling).toEqual([
    {
      from: { type: RouteConfiguration.typeUrl, name: "r" },
      to: { type: Cluster.typeUrl, name: "ghost" },
      why: "absent",
    },
  ]);
  expect(snapshot.clusters.get("found")?.endpoints?.json.clusterName).toBe("found");
  expect(await mesh.demandCluster("own")).toBe("found");
  // They are no xDS: nobody else is told of them.
  const names = new Set([...client.dump()].map(({ key }) => key));
  expect(["in", "own", "found", "secure", "ca"].filter((name) => names.has(name))).toEqual(["found"]);
});

test("C-WRM-01 a static Listener waits for its routes", async () => {
  const { port, put } = await serve();
  const client = await start({ bootstrap: bootstrapWith(port, { listeners: [listener("", "r")] }) });
  const mesh = client.mesh();
  const name = "static_resources.listeners[0]";
  const waiting = await nextWith(mesh, ({ listeners }) => listeners.get(name)?.state === "warming");
  expect(waiting.listeners.get(name)?.resource).toBeUndefined();
  put(routes("r", "live"));
  const warm = await nextWith(mesh, ({ listeners }) => listeners.get(name)?.state === "ready");
  expect([warm.isComplete, warm.dangling]).toEqual([true, []]);
});

test("a static Cluster or Listener stays what it is, whatever a server gives under its name", async () => {
  const { port, put } = await serve(
    given(Cluster.typeUrl, { name: "own", type: "EDS", edsClusterConfig: { edsConfig: ADS } }),
    given(Listener.typeUrl, listener("in", "other")),
    routes("r", "own"),
  );
  const client = await start({
    bootstrap: bootstrapWith(port, { listeners: [listener("in", "r")], clusters: [plain("own", 7)] }),
  });
  const mesh = client.mesh();
  const before = {
    "Listener in": "static, ready",
    "RouteConfiguration r": "given, ready",
    "Cluster own": "static, ready",
  };
  expect(stands(await mesh.ready)).toEqual(before);
  put(given(Cluster.typeUrl, plain("own", 9)), given(Cluster.typeUrl, plain("new")));
  const after = await nextWith(mesh, ({ clusters }) => clusters.has("new"));
  expect(stands(after)).toEqual({ ...before, "Cluster new": "given, ready" });
  expect(after.clusters.get("own")?.resource?.json.connectTimeout).toBe("7s");
});

test("a bootstrap without dynamic resources is a mesh as well; a secret that it does not have leads nowhere", async () => {
  const { port } = await serve(routes("r", "secure"), given(Cluster.typeUrl, plain("unasked")));
  const client = await start({
    bootstrap: bootstrapWith(port, { listeners: [listener("in", "r")], clusters: [withSecret("secure", "ac")] }, {}),
  });
  const snapshot = await client.mesh().ready;
  expect(stands(snapshot)).toEqual({
    "Listener in": "static, ready",
    "RouteConfiguration r": "given, ready",
    "Cluster secure": "static, ready",
    "Secret ac": "static, absent",
  });
  expect(snapshot.dangling.map(({ from, to, why }) => [from?.name, to.name, why])).toEqual([
    ["secure", "ac", "absent"],
  ]);
});

test("nothing but static resources needs no server at all, and nothing at all is an error", async () => {
  const own = await start({
    bootstrap: { static_resources: { clusters: [plain("own")] }, node: { id: "n", cluster: "c" } },
  });
  expect(stands(await own.mesh().ready)).toEqual({ "Cluster own": "static, ready" });
  const none = await start({ bootstrap: { static_resources: {}, node: { id: "n", cluster: "c" } } });
  expect(() => none.mesh()).toThrow(expect.objectContaining({ code: "TYPE_UNSUPPORTED" }));
});

test("what is resolved by its name finds static Clusters and Listeners", async () => {
  const { port } = await serve(
    given(Listener.typeUrl, listener("given", "g")),
    ...[routes("g", "found", "more"), given(Cluster.typeUrl, plain("more"))],
    ...[routes("r", "found"), endpoints("found")],
  );
  const own = { listeners: [listener("in", "r")], clusters: [discovered("found")] };
  const resolved = async (name: string | undefined): Promise<unknown> => {
    const client = await start({ bootstrap: bootstrapWith(port, own) });
    return stands(await client.resolve(Listener, name).ready);
  };
  const found = { "Cluster found": "static, ready", "ClusterLoadAssignment found": "given, ready" };
  const ofStatic = { "Listener in": "static, ready", "RouteConfiguration r": "given, ready" };
  expect(await resolved("in")).toEqual({ ...ofStatic, ...found });
  const ofGiven = {
    "Listener given": "given, ready",
    "RouteConfiguration g": "given, ready",
    "Cluster more": "given, ready",
  };
  expect(await resolved("given")).toEqual({ ...ofGiven, ...found });
  expect(await resolved(undefined)).toEqual({ ...ofStatic, ...ofGiven, ...found });
});

test("C-TYP-11 static resources of v2 are followed in v2", async () => {
  const source = { ads: {} };
  const { port } = await serve(endpoints("found"));
  const whole = bootstrap(port, { ads_config: { ...adsConfig, transport_api_version: "V2", api_type: "GRPC" } });
  const servers = (whole["static_resources"] as { readonly clusters: readonly object[] }).clusters;
  const found = { name: "found", type: "EDS", connect_timeout: "1s", eds_cluster_config: { eds_config: source } };
  const common_tls_context = { validation_context_sds_secret_config: { name: "ca" } };
  const typed_config = { "@type": "type.googleapis.com/envoy.api.v2.auth.UpstreamTlsContext", common_tls_context };
  const secure = { ...plain("secure"), transport_socket: { name: "tls", typed_config } };
  const validation_context_sds_secret_config = { name: "older-ca" };
  const older = {
    ...plain("older"),
    tls_context: { common_tls_context: { validation_context_sds_secret_config } },
  };
  const clusters = [...servers, found, secure, older];
  const client = await start({
    bootstrap: {
      ...{ node: whole["node"], static_resources: { clusters, secrets: [secret("ca"), secret("older-ca")] } },
      dynamic_resources: { ...(whole["dynamic_resources"] as object), cds_config: source },
    },
  });
  const snapshot = await client.mesh().ready;
  expect(stands(snapshot)).toEqual({
    "Cluster found": "static, ready",
    "ClusterLoadAssignment found": "given, ready",
    "Cluster secure": "static, ready",
    "Secret ca": "static, ready",
    "Cluster older": "static, ready",
    "Secret older-ca": "static, ready",
  });
  expect(snapshot.clusters.get("found")?.type).toContain("envoy.api.v2.Cluster");
});
