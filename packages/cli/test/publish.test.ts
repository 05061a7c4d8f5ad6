import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { run } from "../src/run.ts";
import { CapturedIo } from "./captured-io.ts";
import { clusters, Serving, Site, until } from "./serving.ts";

let site: Site;
let folder: string;
let store: string;
const many = Array.from({ length: 30 }, (_, index) => `c${index}`);

beforeEach(async () => {
  site = await Site.make({ "clusters.yaml": clusters(...many) });
  folder = await mkdtemp(join(tmpdir(), "xds-store-"));
  store = `file:${join(folder, "ledger")}`;
});
afterEach(async () => {
  await site.remove();
  await rm(folder, { recursive: true, force: true });
});

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function xds(...args: readonly string[]): Promise<Ran> {
  const io = new CapturedIo();
  const code = await run(args, io);
  return { code, out: io.stdout.text, err: io.stderr.text };
}

const publish = (...flags: readonly string[]): Promise<Ran> =>
  xds("publish", site.directory, "--validation", "off", "--store", store, ...flags);

describe("xds publish", () => {
  test("publishes, says when there is nothing to do, and what a fuse holds", async () => {
    expect(await publish("-m", "first", "--author", "ann")).toMatchObject({
      ...{ code: 0, out: "published as 1: 30 resources in 1 file\n" },
    });
    expect(await publish()).toMatchObject({ code: 0, out: "nothing to publish: 1 has the same\n" });
    await site.write("clusters.yaml", clusters("c0"));
    const held = await publish();
    expect([held.code, held.out.split("\n")[0]]).toEqual([
      6,
      "held as 2: nothing of it is sent until it is approved (xds approve 2)",
    ]);
    expect(JSON.parse((await publish("-o", "json")).out)).toMatchObject({
      ...{ kind: "held", number: 2, trips: [{ fuse: "resources-removed" }] },
    });
  });

  test("of broken files publishes nothing", async () => {
    await site.write("clusters.yaml", "- {");
    const { code, err } = await publish();
    expect([code, err.includes("nothing was published")]).toEqual([3, true]);
  });

  test("with -o json tells the problems, too", async () => {
    await site.write("clusters.yaml", clusters("c0"));
    const warned = await publish("-o", "json");
    expect(JSON.parse(warned.out)).toMatchObject({ kind: "applied", problems: [{ severity: "warning" }] });
    await site.write("clusters.yaml", "- {");
    const { code, out, err } = await publish("-o", "json");
    expect([code, err]).toEqual([3, expect.stringMatching(/^xds: .*: 1 error; nothing was published\n$/)]);
    expect(JSON.parse(out)).toMatchObject({
      kind: "source-broken",
      problems: [{ severity: "error", file: "clusters.yaml", line: 1 }],
    });
  });

  test.each([
    ["no store", [], 2, "expected a store to publish to"],
    ["an unknown store", ["--store", "redis://a"], 2, "expected etcd://HOST:PORT,…/PREFIX or file:DIR"],
    ["parameters of etcd", ["--store", "file:nowhere?ca=x"], 2, 'only a store on etcd takes parameters after "?"'],
    [
      "a fuse that looks at connected nodes",
      ["--no-fuses-last-listener"],
      2,
      "unknown option '--no-fuses-last-listener'",
    ],
    ["an empty list of hosts", ["--store", "etcd:///mesh"], 2, "expected HOST:PORT after etcd://"],
  ])("with %s says what it needs", async (_, flags, code, message) => {
    const ran = await xds("publish", site.directory, "--validation", "off", ...flags);
    expect([ran.code, ran.err.includes(message)]).toEqual([code, true]);
  });

  test("to a store that cannot be used says why", async () => {
    await writeFile(join(folder, "ledger"), "a file");
    const { code, err } = await publish();
    expect([code, err]).toEqual([69, expect.stringContaining("the store cannot be used")]);
  });
});

test("xds store adopt of a server that shares no store is refused", async () => {
  const serving = await Serving.start(site, ["--state-dir", "off"]);
  const { code, stderr } = await serving.xds("store", "adopt");
  await serving.stop();
  expect([code, stderr]).toEqual([1, expect.stringContaining("this server shares no store")]);
});

describe("xds serve --store", () => {
  test("serves what was published, without a source of its own", async () => {
    await publish("-m", "first", "--author", "ann");
    const serving = await Serving.start(undefined, ["--store", store, "--state-dir", "off"]);
    try {
      await until("it is ready", async () => (await serving.ask("/api/v1/server"))["ready"] === true);
      expect((await serving.ask("/api/v1/resources?limit=1"))["total"]).toBe(30);
      expect(await serving.ask("/api/v1/revisions/1")).toMatchObject({ author: "ann", message: "first" });
    } finally {
      await serving.stop();
    }
  });

  test("with a directory publishes it", async () => {
    const serving = await Serving.start(site, ["--store", store, "--state-dir", "off"]);
    await until("it is published", async () => (await serving.ask("/api/v1/server"))["revision"] === 1);
    await serving.stop();
    expect(await publish()).toMatchObject({ code: 0, out: "nothing to publish: 1 has the same\n" });
  });

  test("without either says what it needs", async () => {
    const { code, err } = await xds("serve");
    expect([code, err]).toEqual([2, expect.stringContaining("expected a directory to serve, or a store to follow")]);
  });
});
