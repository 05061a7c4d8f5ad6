import { Cluster, createServer } from "@xdskit/server";

function cluster(name, port) {
  const endpoint = { address: { socketAddress: { address: "127.0.0.1", portValue: port } } };
  return Cluster({
    name,
    connectTimeout: "1s",
    loadAssignment: { clusterName: name, endpoints: [{ lbEndpoints: [{ endpoint }] }] },
  });
}

const server = createServer({
  listen: { port: Number(process.env.PORT ?? 18000) },
  nodeMapping: (node) => [`group/${node.cluster}`, "base"], // who sees what
});
server.on("response-acked", ({ node, version }) => console.log(`${node.id} took ${version}`));
server.on("response-nacked", ({ node, error }) => console.log(`${node.id} refused: ${error.message}`));

server.set("base", [cluster("api", 8080)]); // before anybody asks
const { address } = await server.listen();
console.log(`xDS at ${address.host}:${address.port}`);

process.once("SIGTERM", () => server.drain({ graceMs: 1_000 }));
process.once("SIGUSR2", () => server.set("group/canary", [cluster("api", 9090)]));
