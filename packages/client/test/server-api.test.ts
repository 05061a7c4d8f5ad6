import { Cluster, createXdsClient } from "@xdskit/client";
import { createServer, Cluster as ServedCluster } from "@xdskit/server";
import { afterAll, expect, test, vi } from "vitest";

const server = createServer();

afterAll(() => server.close());

test("set reaches a client, which reads the same types, and nodes() tells that it ACKed", async () => {
  expect(ServedCluster).toBe(Cluster);
  const hello = Cluster({ name: "hello", connectTimeout: "1s" });
  const { revision } = server.set("base", [hello]);
  const { address } = await server.listen();
  await using client = await createXdsClient({
    server: `${address.host}:${address.port}`,
    node: { id: "node-1", cluster: "edge" },
  });
  const changes = client.watch(Cluster, "hello")[Symbol.asyncIterator]();
  expect(await changes.next()).toMatchObject({ value: { kind: "added", resource: { json: hello } } });
  const [node] = await vi.waitFor(() => {
    const nodes = [...server.nodes()];
    expect(nodes[0]?.types[0]?.state).toBe("acked");
    return nodes;
  }, 10_000);
  expect(node).toMatchObject({
    id: "node-1",
    cluster: "edge",
    layers: ["base"],
    streams: [{ variant: "sotw", apiVersion: "v3" }],
    types: [
      { type: Cluster.typeUrl, shortName: "cds", names: 1, sentRevision: revision, doesNotExist: [], pending: [] },
    ],
  });
  server.update((tx) => tx.layer("base").delete(Cluster, "hello"));
  expect(await changes.next()).toMatchObject({ value: { kind: "does-not-exist" } });
});
