import { Cluster, createXdsClient } from "@xdskit/client";
import { contentDigest, createEnvoyApi } from "@xdskit/envoy-api";
import { createResource } from "@xdskit/protocol";
import { createServer } from "@xdskit/server";

/**
 * A user's program: serves a resource and receives it. Without top-level await, which CommonJS bundles do not support.
 */
async function main(): Promise<void> {
  const api = createEnvoyApi();
  const { input, problems } = api.readResource({
    "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster",
    name: "hello",
    connectTimeout: "1s",
  });
  if (input === undefined) throw new Error(problems.map(({ message }) => message).join("; "));
  const server = createServer({ api, listen: { host: "127.0.0.1", port: 0 } });
  server.commit({ changes: [{ layer: "base", puts: [createResource(input, contentDigest)] }] });
  const { address } = await server.listen();
  const client = await createXdsClient({ server: `${address.host}:${address.port}`, node: "program" });
  const clusters = await client.list(Cluster);
  console.log(clusters.map(({ key, json }) => `${key} ${json.connectTimeout}`).join("\n"));
  await client.close();
  await server.close();
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
