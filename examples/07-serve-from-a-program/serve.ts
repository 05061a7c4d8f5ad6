import { Cluster, createServer, HttpConnectionManager, Listener, Router } from "@xdskit/server";

const { PORT = "18000", LISTENER_PORT = "10000", BACKEND_PORT = "8081" } = process.env;

function cluster(name: string, port: number): ReturnType<typeof Cluster> {
  const endpoint = { address: { socketAddress: { address: "127.0.0.1", portValue: port } } };
  return Cluster({
    name,
    connectTimeout: "1s",
    loadAssignment: { clusterName: name, endpoints: [{ lbEndpoints: [{ endpoint }] }] },
  });
}

const http = HttpConnectionManager({
  statPrefix: "http",
  routeConfig: {
    name: "main",
    virtualHosts: [{ name: "all", domains: ["*"], routes: [{ match: { prefix: "/" }, route: { cluster: "hello" } }] }],
  },
  httpFilters: [{ name: "envoy.filters.http.router", typedConfig: Router({}) }],
});

const server = createServer({
  listen: { port: Number(PORT) },
  // Nodes of the cluster "canary" see the layer "group/canary" on top of "base".
  nodeMapping: (node) => (node.cluster === "canary" ? ["group/canary", "base"] : ["base"]),
});
server.on("response-acked", () => {
  for (const { id, types } of server.nodes()) {
    console.log(id, types.map(({ shortName, state }) => `${shortName}:${state}`).join(" "));
  }
});

const { revision, changed } = server.set("base", [
  cluster("hello", Number(BACKEND_PORT)),
  Listener({
    name: "http",
    address: { socketAddress: { address: "127.0.0.1", portValue: Number(LISTENER_PORT) } },
    filterChains: [{ filters: [{ name: "envoy.filters.network.http_connection_manager", typedConfig: http }] }],
  }),
]);
console.log(`revision ${revision}: ${changed.map(({ kind, name }) => `${kind} ${name}`).join(", ")}`);
server.update((tx) =>
  tx
    .layer("group/canary")
    .put(cluster("hello", Number(BACKEND_PORT) + 1))
    .delete(Cluster, "old"),
);

for (const { name, code, message } of server.check()) console.log(`${name}: ${message} [${code}]`);

const { address } = await server.listen();
console.log(`xDS at ${address.host}:${address.port}`);
process.once("SIGTERM", () => void server.drain({ graceMs: 1_000 }));
