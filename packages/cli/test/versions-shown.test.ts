import { Cluster, createXdsClient } from "@xdskit/client";
import { expect, onTestFinished, test } from "vitest";
import { clusters, Serving, Site, until } from "./serving.ts";

async function serve(): Promise<Serving> {
  const site = await Site.make({ "clusters.yaml": clusters("a", "b") });
  onTestFinished(() => site.remove());
  const serving = await Serving.start(site);
  onTestFinished(async () => void (await serving.stop()));
  await until("it is ready", () => serving.isReady());
  return serving;
}

test("get prints the response version that nodes shows as ACKed", async () => {
  const serving = await serve();
  await using client = await createXdsClient({ server: serving.address, node: { id: "edge-1" } });
  client.watch(Cluster, undefined, { onChange: () => {} });
  await until("it is ACKed", async () => JSON.stringify(await serving.ask("/api/v1/nodes")).includes('"ackedAt"'));
  const { stdout: table } = await serving.xds("get", "cds", "-o", "table");
  const { stdout: node } = await serving.xds("nodes", "edge-1", "--admin", serving.admin);
  const acked = /^cds +acked +\* +(\S+)/m.exec(node)?.[1];
  expect(table.split("\n").slice(-2)).toEqual([`2 resources, response version ${acked}`, ""]);
});

test("S-RST-12 a poll that nobody repeats owes no ACK, and is nobody to wait for", async () => {
  const serving = await serve();
  const poll = await fetch(`http://${serving.address}/v3/discovery:clusters`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{"node":{"id":"curl"}}',
  });
  expect(poll.status).toBe(200);
  const { stdout } = await serving.xds("deliveries", "--admin", serving.admin);
  expect(stdout).toMatch(/^curl +cds +sent +\S{16} .*\n1 sent\n$/m);
  expect((await serving.xds("wait", "--min-nodes", "0")).stdout).toContain("0 of 0 nodes have it");
});
