import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Cluster, createXdsClient } from "@xdskit/client";
import { afterEach, expect, test } from "vitest";
import { run } from "../src/run.ts";
import { CapturedIo } from "./captured-io.ts";
import { Site, until } from "./serving.ts";

const bin = fileURLToPath(new URL("../bin/xds.js", import.meta.url));
const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const mesh = `import { names } from "./inventory.ts";
interface Resource { readonly "@type": string }
export default async (): Promise<readonly Resource[]> =>
  names.map((name: string) => ({
    "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster",
    name, type: "STATIC", connectTimeout: "1s", loadAssignment: { clusterName: name },
  }));
`;

const inventory = (...names: readonly string[]): string =>
  `export const names: readonly string[] = ${JSON.stringify(names)};\n`;

async function makeSite(): Promise<Site> {
  const site = await Site.make({ "mesh.ts": mesh, "inventory.ts": inventory("one") });
  cleanups.push(() => site.remove());
  return site;
}

/** The built command in a process of its own, as it runs outside of tests. */
async function serve(site: Site): Promise<{ address: string; log: () => string }> {
  const flags = ["--listen", "127.0.0.1:0", "--admin", "off", "--module-timeout", "60s"];
  const child = spawn(process.execPath, [bin, "serve", join(site.directory, "mesh.ts"), ...flags]);
  let log = "";
  child.stderr.on("data", (chunk: Buffer) => {
    log += chunk.toString();
  });
  cleanups.push(async () => {
    const exited = once(child, "exit");
    child.kill("SIGTERM");
    expect(await exited).toEqual([0, null]);
  });
  await until("it is ready", () => log.includes('"event":"ready"'));
  return { address: /"address":"(127[\d.:]+)"/.exec(log)?.[1] ?? "", log: () => log };
}

test("what a module exports is served, and followed as its imports change", async () => {
  const site = await makeSite();
  const { address, log } = await serve(site);
  await using client = await createXdsClient({ server: address });
  const held = new Set<string>();
  client.watch(Cluster, undefined, {
    onChange: (change) => {
      if (change.kind === "added") held.add(change.key);
      if (change.kind === "does-not-exist") held.delete(change.key);
    },
  });
  await until("the client has what the module exports", () => held.has("one"));
  await site.write("inventory.ts", inventory("one", "two"));
  await until("the client has what changed", () => held.has("two"));
  await site.write("inventory.ts", "export const names = [\n  'one',\n  'two' 'three',\n];\n");
  await until("the problem is told", () => log().includes('"event":"problem"'));
  const problem = log()
    .split("\n")
    .find((line) => line.includes('"event":"problem"'));
  expect(JSON.parse(problem ?? "")).toMatchObject({ file: "inventory.ts", line: 3, code: "MODULE_FAILED" });
  expect([...held]).toEqual(["one", "two"]);
  await site.write("inventory.ts", inventory("three"));
  await until("the client has what is right again", () => held.has("three") && held.size === 1);
}, 60_000);

async function xds(...argv: readonly string[]): Promise<readonly [number, string, string]> {
  const io = new CapturedIo();
  const code = await run(argv, io);
  return [code, io.stdout.text, io.stderr.text];
}

test("validate says what is wrong with a module, and where in the data", async () => {
  const site = await makeSite();
  const path = join(site.directory, "mesh.ts");
  expect(await xds("validate", path)).toEqual([0, `${path}: 1 resource in 2 files, no problems\n`, ""]);
  await site.write("mesh.ts", mesh.replace('"1s"', '"soon"'));
  const [code, stdout] = await xds("validate", path);
  expect(code).toBe(1);
  expect(stdout).toContain(`${path}: error: `);
  expect(stdout).toContain("\n    at base[0].connectTimeout\n");
});

test("export writes what a module exports", async () => {
  const site = await makeSite();
  const out = join(site.directory, "out");
  const [code, , stderr] = await xds("export", join(site.directory, "mesh.ts"), out);
  expect([code, stderr]).toEqual([0, ""]);
  expect(await readdir(out)).toContain("cds.yaml");
});

test("a module that is not there is an error in a few words, and another file is refused", async () => {
  const site = await makeSite();
  for (const command of ["validate", "serve"]) {
    const none = join(site.directory, "none.ts");
    expect(await xds(command, none)).toEqual([1, "", `xds: there is no file ${none}\n`]);
  }
  await site.write("notes.txt", "x");
  expect(await xds("serve", join(site.directory, "notes.txt"))).toEqual([
    2,
    "",
    `xds: expected a directory or a module (.ts, .mts, .js, .mjs), ${site.directory}/notes.txt is a file\nhint: its directory is ${site.directory}\n`,
  ]);
});
