import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { run } from "../src/run.ts";
import { CapturedIo } from "./captured-io.ts";
import { clusters, Site } from "./serving.ts";

let site: Site;

beforeEach(async () => {
  site = await Site.make({ "clusters.yaml": clusters("one") });
});
afterEach(() => site.remove());

/** The exit code and everything that is printed, with the directory as DIR. */
async function xds(...argv: readonly string[]): Promise<string> {
  const io = new CapturedIo({ env: { NO_COLOR: "1", HOME: site.directory }, cwd: site.directory });
  const code = await run(argv, io);
  return `${io.stdout.text}${io.stderr.text}exit ${code}`.replaceAll(site.directory, "DIR");
}

test.each([".", "out", "out/deeper"])("serve does not export into its source: --export-directory %s", async (out) => {
  expect(await xds("serve", site.directory, "--export-directory", out)).toBe(
    "xds: --export-directory: the output directory is inside the directory to read (write to another one)\nexit 2",
  );
});

test("the same in xdskit.yaml is a problem there, for validate too", async () => {
  await site.write("xdskit.yaml", "export:\n  directory: .\n");
  const problem = `xdskit.yaml:2:14: error: the output directory is inside the directory to read [SETTING_INVALID]`;
  expect(await xds("validate", ".")).toContain(problem);
  expect(await xds("serve", ".")).toContain(problem);
  expect(await xds("serve", ".")).toMatch(/exit 1$/);
});

test("a symbolic link into the source is the source", async () => {
  await mkdir(join(site.directory, "config"));
  await symlink(join(site.directory, "config"), join(site.directory, "link"));
  const refused = /the output directory is inside the directory to read/;
  expect(await xds("export", "config", "link/out")).toMatch(refused);
  expect(await xds("serve", "config", "--export-directory", "link/out")).toMatch(refused);
});
