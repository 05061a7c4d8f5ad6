import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../..", import.meta.url));

let coverage: string;
beforeEach(async () => {
  coverage = await mkdtemp(join(tmpdir(), "xdskit-start-"));
});
afterEach(() => rm(coverage, { recursive: true }));

/** What a command line loads, as V8 saw it: the packages, and the modules of the commands themselves. */
async function loadedBy(...argv: readonly string[]): Promise<{ packages: string[]; commands: string[] }> {
  await promisify(execFile)(process.execPath, [join(root, "packages/cli/bin/xds.js"), ...argv], {
    env: { ...process.env, NODE_V8_COVERAGE: coverage },
  });
  const [report = ""] = await readdir(coverage);
  const { result } = JSON.parse(await readFile(join(coverage, report), "utf8")) as { result: { url: string }[] };
  const all = (pattern: RegExp): string[] => [...new Set(result.flatMap(({ url }) => pattern.exec(url)?.[1] ?? []))];
  return {
    packages: all(/.*\/(?:node_modules|packages)\/((?:@[^/]+\/)?[^/]+)\//).toSorted(),
    commands: all(/\/cli\/dist\/commands\/([a-z]+)\.js$/),
  };
}

it.each([["--version"], ["--help"], ["help serve"], ["get --help"]])(
  "xds %s loads no command: no server, no client, no messages",
  async (line) => {
    const packages = ["cli", "commander", "picocolors", "source"]; // of source, the table of settings
    expect(await loadedBy(...line.split(" "))).toEqual({ packages, commands: [] });
  },
);

it("a command loads only itself", async () => {
  const packages = ["cli", "commander", "picocolors", "source", "yaml"];
  expect(await loadedBy("bootstrap", "envoy")).toEqual({ packages, commands: ["bootstrap"] });
});
