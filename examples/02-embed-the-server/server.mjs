import { contentDigest, createEnvoyApi } from "@xdskit/envoy-api";
import { createResource } from "@xdskit/protocol";
import { createManagementServer } from "@xdskit/server";

const api = createEnvoyApi();

/** JSON, as Envoy documents it, becomes a resource; what is wrong with it is told at once. */
function cluster(name, port) {
  const address = { socket_address: { address: "127.0.0.1", port_value: port } };
  const { input, problems } = api.readResource({
    "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster",
    name,
    connect_timeout: "1s",
    load_assignment: { cluster_name: name, endpoints: [{ lb_endpoints: [{ endpoint: { address } }] }] },
  });
  if (input === undefined) throw new Error(problems.map(({ message }) => message).join("; "));
  return createResource(input, contentDigest);
}

const server = createManagementServer({
  api,
  listen: { port: Number(process.env.PORT ?? 18000) },
  placement: (node) => [`group/${node.cluster}`, "base"], // who sees what
});
server.on("response-acked", ({ node, version }) => console.log(`${node.id} took ${version}`));
server.on("response-nacked", ({ node, error }) => console.log(`${node.id} refused: ${error.message}`));

server.commit({ changes: [{ layer: "base", puts: [cluster("api", 8080)] }] }); // before anybody asks
const { address } = await server.start();
console.log(`xDS at ${address.host}:${address.port}`);

process.once("SIGTERM", () => server.drain({ graceMs: 1_000 }));
process.once("SIGUSR2", () => server.commit({ changes: [{ layer: "group/canary", puts: [cluster("api", 9090)] }] }));
