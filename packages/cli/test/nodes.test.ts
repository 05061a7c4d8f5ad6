import { afterEach, beforeEach, expect, test } from "vitest";
import { clusters, Serving, Site, until } from "./serving.ts";

const cleanups: (() => Promise<unknown>)[] = [];
let serving: Serving;

beforeEach(async () => {
  const site = await Site.make({ "clusters.yaml": clusters("one") });
  cleanups.push(() => site.remove());
  serving = await Serving.start(site);
  cleanups.push(() => serving.stop());
  await until("it is ready", () => serving.isReady());
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function connect(node: string): Promise<void> {
  const client = await serving.connect(node);
  cleanups.push(() => client.close());
}

test("filters that select none of the connected nodes are no failure, and say what none of them does", async () => {
  await connect("edge-1");
  for (const [argv, says] of [
    [["edge-*", "--nacked"], 'no node matching "edge-*" NACKed anything'],
    [["edge-1", "--nacked", "--type", "cds"], 'no node matching "edge-1" NACKed cds'],
    [["--type", "sds"], "no node subscribes to sds"],
    [["--type", "sds", "--group-by", "version"], "no node subscribes to sds"],
    [
      ["--cluster", "web", "--user-agent", "envoy*"],
      'no node is in a cluster matching "web" and has a user agent matching "envoy*"',
    ],
  ] as const)
    expect(await serving.xds("nodes", ...argv)).toEqual({ code: 0, stdout: "", stderr: `xds: ${says}\n` });
  const { code, stdout } = await serving.xds("nodes", "edge-*", "--nacked", "-o", "json");
  expect([code, JSON.parse(stdout)]).toEqual([0, { items: [], total: 0 }]);
});

test("nodes that are named and not connected are a failure, with or without filters", async () => {
  const nobody = { code: 0, stdout: "", stderr: "xds: no node is connected\n" };
  expect(await serving.xds("nodes")).toEqual(nobody);
  expect(await serving.xds("nodes", "--type", "sds")).toEqual(nobody);
  await connect("edge-1");
  const stderr = 'xds: no node matching "zz*" is connected\n';
  expect(await serving.xds("nodes", "zz*")).toEqual({ code: 1, stdout: "", stderr });
  expect(await serving.xds("nodes", "zz*", "--nacked")).toEqual({ code: 1, stdout: "", stderr });
  const { code, stdout } = await serving.xds("nodes", "zz*", "--nacked", "-o", "json");
  expect([code, JSON.parse(stdout)]).toEqual([1, { items: [], total: 0 }]);
});

test("xds wait --nodes says of which nodes none is connected", async () => {
  await connect("edge-1");
  const waited = (...argv: readonly string[]) => serving.xds("wait", "--timeout", "0s", ...argv);
  expect(await waited("--nodes", "zz*")).toMatchObject({
    code: 5,
    stdout: 'revision 1: no node matching "zz*" is connected: 0 of 0 nodes have it\n',
  });
  await until("edge-1 has it", async () => (await waited()).code === 0);
  expect((await waited("--nodes", "edge-*", "--min-nodes", "2")).stdout).toBe(
    'revision 1: only 1 of the required 2 nodes matching "edge-*" is connected: 1 of 1 node has it\n',
  );
});
