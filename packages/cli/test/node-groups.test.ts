import type { NodeAnswer, ProgressAnswer, StragglerAnswer } from "@xdskit/server";
import { afterEach, describe, expect, test } from "vitest";
import { groupNodes, nodeStates } from "../src/commands/node-groups.ts";
import { clusters, Serving, Site, until } from "./serving.ts";

function nodeAnswer(id: string, layers: readonly string[] = ["base"]): NodeAnswer {
  return { id, cluster: "", userAgent: "", layers, streams: [], types: [] };
}

function behind(id: string, type: Partial<StragglerAnswer["types"][number]>): StragglerAnswer {
  return { id, cluster: "", userAgent: "", types: [{ type: "t", state: "not-sent", ...type }] };
}

const none = { total: 0, nodes: [] };

describe("nodes are counted", () => {
  test("by how far they are with the newest revision, the largest group first", () => {
    const progress: ProgressAnswer = {
      ...{ revision: 1, head: 1, state: "pending", nodes: 5, deployed: 2, disconnected: none },
      pending: { total: 2, nodes: [behind("b", {}), behind("c", { waits: { for: "endpoints", name: "x" } })] },
      nacked: { total: 1, nodes: [behind("d", { state: "nacked" })] },
    };
    const items = ["a", "b", "c", "d", "e"].map((id) => nodeAnswer(id));
    expect(groupNodes(items, "state", nodeStates(progress)).map(({ value, nodes }) => [value, nodes])).toEqual([
      ["deployed", 2],
      ["nacked", 1],
      ["pending", 1],
      ["waiting", 1],
    ]);
  });

  test("by the groups that they are in", () => {
    const items = [
      nodeAnswer("a", ["node/a", "group/canary", "base"]),
      nodeAnswer("b", ["group/canary", "group/eu", "base"]),
      nodeAnswer("c"),
      nodeAnswer("d"),
    ];
    expect(groupNodes(items, "group", () => "deployed").map(({ value, nodes }) => [value, nodes])).toEqual([
      ["", 2],
      ["canary", 1],
      ["canary,eu", 1],
    ]);
  });
});

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

test("xds nodes GLOB --group-by state asks the server who has the newest revision", async () => {
  const site = await Site.make({ "clusters.yaml": clusters("one") });
  cleanups.push(() => site.remove());
  const serving = await Serving.start(site);
  cleanups.push(() => serving.stop());
  for (const node of ["edge-1", "edge-2", "other"]) {
    const client = await serving.connect(node);
    cleanups.push(() => client.close());
  }
  await until("all have ACKed", async () => (await serving.xds("wait", "--min-nodes", "3")).code === 0);
  expect(await serving.xds("nodes", "edge-*", "--group-by", "state")).toEqual({
    code: 0,
    stdout: "STATE     NODES  NACKED\ndeployed  2\n",
    stderr: "",
  });
});
