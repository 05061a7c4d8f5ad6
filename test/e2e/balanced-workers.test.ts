import { connectPeer, type WirePeer } from "@xdskit/conformance";
import { encodeDeltaRequest } from "@xdskit/envoy-api/internal";
import { anonymousNode } from "@xdskit/protocol";
import type { NodesAnswer } from "@xdskit/server";
import { expect, test } from "vitest";
import { EtcdMember } from "../../packages/store-etcd/test/support/etcd.ts";
import { describeWith } from "./support/peers.ts";
import { staticCluster } from "./support/resource.ts";
import { startXdsServer, type XdsServer } from "./support/server.ts";
import { createSite } from "./support/site.ts";
import { createStack, type Stack } from "./support/stack.ts";
import { until } from "./support/wait.ts";

const DELTA_ADS = "/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources";
const CLUSTER = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const CLIENTS = 40;
/** A connection is asked to leave once it is a minute old, and others were counted twice. */
const MOVED_WITHIN_MS = 100_000;

/** One client, on a connection of its own, that has the clusters. */
async function subscribe(stack: Stack, port: number, id: string): Promise<WirePeer> {
  const peer = await connectPeer({ address: `127.0.0.1:${port}` });
  stack.use({ [Symbol.asyncDispose]: () => peer.close() });
  const stream = peer.open(DELTA_ADS);
  stream.send(encodeDeltaRequest({ node: { ...anonymousNode, id }, typeUrl: CLUSTER }));
  await stream.messages[Symbol.asyncIterator]().next();
  return peer;
}

async function nodesOf(server: XdsServer): Promise<number> {
  return ((await server.admin("/api/v1/nodes?limit=0")) as NodesAnswer).total;
}

describeWith("etcd", "the connections of a server with workers", () => {
  test("go to another one with workers that has just started, a few at a time", { timeout: 180_000 }, async () => {
    await using stack = createStack();
    const member = await EtcdMember.start();
    stack.use({ [Symbol.asyncDispose]: () => member.end() });
    const flags = ["--store", `etcd://${member.endpoint}/mesh`, "--state-dir", "off", "--workers", "2"];
    const site = stack.use(createSite({ "clusters.json": [staticCluster("one", [9])] }));
    const first = stack.use(await startXdsServer({ site, flags }));
    const empty = stack.use(createSite());
    const moved: Promise<WirePeer>[] = [];
    // Where those go that are asked to leave; at the end, nowhere.
    let goal: number | undefined;
    for (let client = 0; client < CLIENTS; client++) {
      const id = `node-${client}`;
      const peer = await subscribe(stack, first.port, id);
      void peer.leaving.then(() => {
        if (goal !== undefined) moved.push(subscribe(stack, goal, id));
      });
    }
    const other = stack.use(await startXdsServer({ site: empty, isFollower: true, flags }));
    goal = other.port;
    stack.use({
      [Symbol.dispose]: () => {
        goal = undefined;
      },
    });
    const metric = "xds_server_store_moved_connections_total";
    await until({ says: "connections have moved", withinMs: MOVED_WITHIN_MS, everyMs: 500 }, () => moved.length >= 4);
    await until({ says: "each is counted", withinMs: 10_000, everyMs: 100 }, async () => {
      const counts = [await first.metric(metric), await nodesOf(other), (await Promise.all(moved)).length];
      return new Set(counts).size === 1;
    });
    expect(moved.length).toBeLessThan(CLIENTS);
    expect(await other.metric(metric)).toBe(0);
  });
});
