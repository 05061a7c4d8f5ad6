import type { NodeHistoryAnswer } from "@xdskit/server";
import { afterEach, beforeEach, expect, test } from "vitest";
import { clusters, Serving, Site, until } from "./serving.ts";

let site: Site;
let state: Site;
let serving: Serving;

beforeEach(async () => {
  site = await Site.make({ "a.yaml": clusters("one") });
  state = await Site.make();
});
afterEach(async () => {
  await serving.stop();
  await site.remove();
  await state.remove();
});

async function start(): Promise<void> {
  serving = await Serving.start(site, ["--state-dir", state.directory]);
  await until("it is ready", () => serving.isReady());
}

async function pastOf(node: string, ...words: readonly string[]): Promise<readonly (readonly [number, string])[]> {
  const { stdout } = await serving.xds("history", "--node", node, "-o", "json", ...words);
  const { items } = JSON.parse(stdout) as NodeHistoryAnswer;
  return items.map(({ number, time }) => [number, time]);
}

test("says what a node had when and by whose change, after a restart too", async () => {
  await start();
  const node = "region/edge-1";
  expect(await serving.xds("history", "--node", node)).toEqual({
    ...{ code: 1, stdout: "", stderr: `xds: nothing is recorded of node ${node}\n` },
  });
  let client = await serving.connect(node);
  await until("the node has 1", async () => (await pastOf(node)).length === 1);
  await site.write("a.yaml", clusters("one", "two"));
  await until("the node has 2", async () => (await pastOf(node)).length === 2);
  await client.close();
  await serving.stop();
  await start();
  client = await serving.connect(node);
  await site.write("a.yaml", clusters("one", "two", "three"));
  await until("the node has 3", async () => (await pastOf(node)).length === 3);
  await client.close();
  const past = await pastOf(node);
  expect(past.map(([number]) => number)).toEqual([3, 2, 1]);
  const [third = "", second = "", first = ""] = past.map(([, time]) => time);
  expect(await pastOf(node, "--at", second)).toEqual([[2, second]]);
  expect(await pastOf(node, "--at", new Date(Date.parse(third) - 1).toISOString())).toEqual([[2, second]]);
  expect(await pastOf(node, "--at", new Date(Date.parse(first) - 1).toISOString())).toEqual([]);
  const { stdout } = await serving.xds("history", "--node", node, "--limit", "2");
  expect(stdout).toMatch(
    /^NUMBER +SINCE +AGE +KIND +BY +CHANGES *(?:MESSAGE)?\n3 +\S+Z +\d+s +revision +\S+ +[+]1.*\n2 .*\nand 1 more: --limit 3\n$/,
  );
  expect(await serving.xds("history", "--node", node, "--at", "yesterday")).toMatchObject({ code: 2 });
  expect(await serving.xds("history", "--at", first)).toMatchObject({ code: 2 });
}, 60_000);
