import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { run } from "../src/run.ts";
import { CapturedIo } from "./captured-io.ts";
import { clusters, Serving, Site, until } from "./serving.ts";

const cleanups: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const groups = "groups:\n  - name: canary\n    match: { metadata: { stage: canary } }\n";

/** Everybody has `one`; nodes of the stage canary have `canary` too. */
async function serve(): Promise<Serving> {
  const site = await Site.make({ "clusters.yaml": clusters("one"), "xdskit.yaml": groups });
  cleanups.push(() => site.remove());
  await mkdir(join(site.directory, "groups/canary"), { recursive: true });
  await site.write("groups/canary/clusters.yaml", clusters("canary"));
  const serving = await Serving.start(site);
  cleanups.push(() => serving.stop());
  await until("it is ready", () => serving.isReady());
  return serving;
}

async function connect(serving: Serving, ...flags: readonly string[]): Promise<void> {
  const io = new CapturedIo({ env: { XDS_SERVER: serving.address } });
  const watching = run(["watch", "cds", ...flags], io);
  cleanups.push(() => {
    io.interrupt("SIGTERM");
    return watching;
  });
  await until("it has its answer", () => io.stdout.text.includes("name: one"));
}

function named(yaml: string): readonly string[] {
  return [...yaml.matchAll(/^name: (.*)$/gm)].map(([, name = ""]) => name);
}

test("xds get --node shows what a connected node sees, by the metadata that it sent, and does not pose as it", async () => {
  const serving = await serve();
  await connect(serving, "--node", "edge-1", "--metadata", "stage=canary");
  const { code, stdout, stderr } = await serving.xds("get", "cds", "--node", "edge-1");
  expect([code, named(stdout), stderr]).toEqual([0, ["canary", "one"], ""]);
  const asJson = JSON.parse((await serving.xds("get", "cds", "one", "--node", "edge-1", "-o", "json")).stdout);
  expect(asJson).toEqual([{ "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", name: "one" }]);
  expect(await serving.ask("/api/v1/streams?node=edge-1")).toMatchObject({ total: 1 });
  expect(await serving.xds("get", "cds", "absent", "--node", "edge-1")).toEqual({
    code: 1,
    stdout: "",
    stderr: 'xds: this node has no resource "absent" of type cds\n',
  });
});

test("xds get --node says that it does not know a node, and takes what the flags say of it", async () => {
  const serving = await serve();
  const unknown = await serving.xds("get", "cds", "--node", "new-1");
  expect([unknown.code, named(unknown.stdout), unknown.stderr]).toEqual([
    0,
    ["one"],
    'xds: node "new-1" is not connected; this is what a node gets that has this id and nothing else\n',
  ]);
  const described = await serving.xds("get", "cds", "--node", "new-1", "--metadata", "stage=canary");
  expect([named(described.stdout), described.stderr]).toEqual([["canary", "one"], ""]);

  const asked = await serving.xds("get", "cds", "--node", "new-2", "--admin", serving.admin);
  expect([asked.code, asked.stdout]).toEqual([1, ""]);
  expect(asked.stderr).toContain('node "new-2" is not connected\nhint: describe it by cluster, metadata and locality');
  const flags = ["--admin", serving.admin, "--metadata", "stage=canary"];
  expect(named((await serving.xds("get", "cds", "--node", "new-2", ...flags)).stdout)).toEqual(["canary", "one"]);
});

test("xds get --admin needs a node, and goes with no other way to ask", async () => {
  const io = new CapturedIo();
  expect([await run(["get", "cds", "--admin", "127.0.0.1:1"], io), io.stderr.text]).toEqual([
    2,
    "xds: --admin: say whose resources, by --node\n",
  ]);
  const both = new CapturedIo();
  expect(await run(["get", "cds", "--node", "a", "--admin", "127.0.0.1:1", "--sotw"], both)).toBe(2);
});
