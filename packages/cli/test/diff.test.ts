import { execFileSync } from "node:child_process";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { compareSides, type DiffItem } from "../src/commands/diff/compare.ts";
import { run } from "../src/run.ts";
import { CapturedIo } from "./captured-io.ts";
import { clusters, Serving, Site, until } from "./serving.ts";

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function makeSite(files: Readonly<Record<string, string>>): Promise<Site> {
  const site = await Site.make({});
  cleanups.push(() => site.remove());
  for (const [name, text] of Object.entries(files)) {
    await mkdir(join(site.directory, name, ".."), { recursive: true });
    await site.write(name, text);
  }
  return site;
}

async function serve(site: Site): Promise<Serving> {
  const serving = await Serving.start(site);
  cleanups.push(() => serving.stop());
  await until("it is ready", () => serving.isReady());
  return serving;
}

async function diff(...argv: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const io = new CapturedIo();
  const code = await run(["diff", ...argv], io);
  return { code, stdout: io.stdout.text, stderr: io.stderr.text };
}

const slow = '- "@type": type.googleapis.com/envoy.config.cluster.v3.Cluster\n  name: one\n  connect_timeout: 9s\n';

/** A key of its own for each call. */
function secretFile(): string {
  const key = execFileSync("openssl", [
    "genpkey",
    "-algorithm",
    "EC",
    "-pkeyopt",
    "ec_paramgen_curve:P-256",
  ]).toString();
  const indented = key.trimEnd().split("\n").join("\n      ");
  return `- "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret\n  name: key\n  generic_secret:\n    secret:\n      inline_string: |\n        ${indented.replaceAll("\n      ", "\n        ")}\n`;
}

describe("two sides are compared", () => {
  const item = (name: string, version: string, value: unknown): DiffItem => {
    return { layer: "base", type: "x.Cluster", name, version, value };
  };

  test("by resource and by field, each at its deepest place", () => {
    const a = [
      item("same", "1", { a: 1 }),
      item("gone", "1", {}),
      item("changed", "1", { name: "x", list: [{ port: 1 }, { port: 2 }], old: true }),
      item("renumbered", "1", { a: 1 }),
    ];
    const b = [
      item("same", "1", { a: 1 }),
      item("changed", "2", { name: "x", list: [{ port: 1 }, { port: 3 }], more: { b: null } }),
      item("new", "1", {}),
      item("renumbered", "2", { a: 1 }),
    ];
    const at = { layer: "base", type: "x.Cluster" };
    expect(compareSides(a, b)).toEqual({
      equal: 2,
      differences: [
        {
          ...{ kind: "changed", ...at, name: "changed" },
          fields: [
            { path: "list[1].port", a: 2, b: 3 },
            { path: "old", a: true },
            { path: "more", b: { b: null } },
          ],
        },
        { kind: "only-a", ...at, name: "gone" },
        { kind: "only-b", ...at, name: "new" },
      ],
    });
  });

  test("and secrets by the digest of their resource", () => {
    const hidden = { inline_string: "[redacted]" };
    expect(compareSides([item("key", "1", hidden)], [item("key", "1", hidden)])).toEqual({ equal: 1, differences: [] });
    expect(compareSides([item("key", "1", hidden)], [item("key", "2", hidden)]).differences).toMatchObject([
      { kind: "changed", fields: [{ path: "(secret)", a: "1", b: "2" }] },
    ]);
  });
});

describe("xds diff", () => {
  test("of a server and the directory that it serves finds nothing, and then what was changed in it", async () => {
    const site = await makeSite({
      "clusters.yaml": clusters("one", "two"),
      "groups/x/c.yaml": clusters("one"),
      "s.yaml": secretFile(),
    });
    const serving = await serve(site);
    expect(await serving.xds("diff", site.directory)).toEqual({
      code: 0,
      stdout: "0 resources differ, 4 equal\n",
      stderr: "",
    });
    const other = await makeSite({
      "clusters.yaml": slow + clusters("three"),
      "groups/x/c.yaml": clusters("one"),
      "s.yaml": secretFile(),
    });
    const { code, stdout } = await diff(`http://${serving.admin}`, other.directory);
    expect(code).toBe(1);
    expect(stdout.replace(/"[\w-]{16}"/g, "DIGEST").split("\n")).toEqual([
      "  base Cluster one",
      '      connect_timeout: (none) -> "9s"',
      "+ base Cluster three",
      "- base Cluster two",
      "  base Secret key",
      "      (secret): DIGEST -> DIGEST",
      "4 resources differ, 1 equal",
      "",
    ]);
    expect(await readFile(join(other.directory, "s.yaml"), "utf8")).toContain("PRIVATE KEY");
    expect(stdout).not.toContain("PRIVATE KEY");
  });

  test("of two directories tells the same as JSON", async () => {
    const a = await makeSite({ "clusters.yaml": clusters("one") });
    const b = await makeSite({ "clusters.yaml": slow });
    const { code, stdout } = await diff(a.directory, b.directory, "-o", "json");
    expect([code, JSON.parse(stdout)]).toEqual([
      1,
      {
        equal: 0,
        differences: [
          {
            ...{
              kind: "changed",
              layer: "base",
              type: "type.googleapis.com/envoy.config.cluster.v3.Cluster",
              name: "one",
            },
            fields: [{ path: "connect_timeout", b: "9s" }],
          },
        ],
      },
    ]);
  });

  test("of two nodes compares what they see, and of a node and a directory what it would see", async () => {
    const site = await makeSite({ "clusters.yaml": clusters("one", "two"), "nodes/edge-2/c.yaml": slow });
    const serving = await serve(site);
    for (const node of ["edge-1", "edge-2"]) {
      const io = new CapturedIo({ env: { XDS_SERVER: serving.address } });
      const watching = run(["watch", "cds", "--node", node], io);
      cleanups.push(() => {
        io.interrupt("SIGTERM");
        return watching;
      });
      await until(`${node} has its answer`, () => io.stdout.text.includes("name: one"));
    }
    expect(await serving.xds("diff", "node:edge-1", "node:edge-2")).toEqual({
      code: 1,
      stdout: '  Cluster one\n      connect_timeout: (none) -> "9s"\n1 resource differs, 1 equal\n',
      stderr: "",
    });
    expect((await serving.xds("diff", "node:edge-2", site.directory)).stdout).toBe("0 resources differ, 2 equal\n");
    const away = await serving.xds("diff", "node:edge-9", site.directory);
    expect([away.code, away.stderr]).toEqual([1, expect.stringContaining('node "edge-9" is not connected')]);
  });

  test("of a node is not changed by what the server converts for a client of v2", async () => {
    const site = await makeSite({ "clusters.yaml": clusters("one", "two") });
    const serving = await serve(site);
    const client = await serving.connect("edge-1");
    cleanups.push(() => client.close());
    expect((await serving.xds("get", "cds", "--v2", "-s", serving.address)).code).toBe(0);
    const equal = { code: 0, stdout: "0 resources differ, 2 equal\n", stderr: "" };
    expect(await serving.xds("diff", "node:edge-1", site.directory)).toEqual(equal);
    expect(await serving.xds("diff", "1", "node:edge-1")).toEqual(equal);
    expect(await serving.xds("diff", "head", site.directory)).toEqual(equal);
  });

  test("of a directory with errors, or none, says so", async () => {
    const good = await makeSite({ "clusters.yaml": clusters("one") });
    const bad = await makeSite({ "clusters.yaml": "- [" });
    const broken = await diff(good.directory, bad.directory);
    expect([broken.code, broken.stderr]).toEqual([3, expect.stringMatching(/has 1 error\nhint: xds validate /)]);
    const nowhere = await diff(good.directory, join(good.directory, "nowhere"));
    expect([nowhere.code, nowhere.stderr]).toEqual([1, expect.stringContaining("there is no directory")]);
    expect((await diff(good.directory, "http://127.0.0.1:1")).code).toBe(69);
  });
});
