import { readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { run } from "../src/run.ts";
import { CapturedIo } from "./captured-io.ts";
import { clusters, Serving, Site, until } from "./serving.ts";

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function makeSite(): Promise<Site> {
  const site = await Site.make({ "clusters.yaml": clusters("one") });
  cleanups.push(() => site.remove());
  return site;
}

async function serve(site: Site): Promise<Serving> {
  const serving = await Serving.start(site);
  cleanups.push(() => serving.stop());
  await until("it is ready", () => serving.isReady());
  return serving;
}

test("an error of usage that the server finds is told as one, without the HTTP status", async () => {
  const serving = await serve(await makeSite());
  for (const [argv, says] of [
    [["nodes", "--type", "xyz"], "xyz"],
    [["access", "explain", "-i", "bogus"], "identity: "],
    [["history", "--node", "a", "--at", "yesterday"], "at: expected a time"],
  ] as const) {
    const { code, stderr } = await serving.xds(...argv);
    expect([code, stderr]).toEqual([2, expect.stringContaining(says)]);
    expect(stderr).not.toContain("answered");
  }
});

test("an empty name or directory is an error of usage", async () => {
  const name = { code: 2, stdout: "", stderr: 'xds: expected the name of a resource, got ""\n' };
  const serving = await serve(await makeSite());
  expect(await serving.xds("get", "cds", "")).toEqual(name);
  expect(await serving.xds("watch", "cds", "")).toEqual(name);
  const directory = { code: 2, stdout: "", stderr: 'xds: expected a directory or a module, got ""\n' };
  expect(await serving.xds("diff", "", "head")).toEqual(directory);
  expect(await serving.xds("validate", "")).toEqual(directory);
});

test("a path where the admin API cannot listen names its flag", async () => {
  const site = await makeSite();
  const path = join(site.directory, "taken");
  await writeFile(path, "");
  const io = new CapturedIo();
  const argv = ["serve", site.directory, "--listen", "127.0.0.1:0", "--admin", "off", "--admin-socket", path];
  expect(await run(argv, io)).toBe(1);
  expect(io.stderr.text).toContain("choose another with --admin-socket\n");
});

test("a path that is too long for a socket is refused before one of another name is made", async () => {
  const site = await makeSite();
  const path = join(site.directory, "x".repeat(120));
  const io = new CapturedIo();
  const argv = ["serve", site.directory, "--listen", "127.0.0.1:0", "--admin", "off", "--admin-socket", path];
  const files = await readdir(site.directory);
  expect(await run(argv, io)).toBe(1);
  expect(io.stderr.text).toMatch(
    /^xds: .*: the path of a socket has at most \d+ bytes, ".*x" has \d+\nhint: .* --admin-socket\n$/m,
  );
  expect(await readdir(site.directory)).toEqual(files);
});

test("a directory that is gone has its name in the state of the source", async () => {
  const site = await makeSite();
  const serving = await serve(site);
  await rm(site.directory, { recursive: true });
  await until("it is noticed", async () => (await serving.ask("/api/v1/source"))["state"] === "failed");
  const { problems } = await serving.ask("/api/v1/source");
  expect(problems).toMatchObject([{ file: site.directory }]);
  expect((await serving.xds("status")).stdout).toContain(`\n${site.directory}: error: `);
});
