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

/** Of the protocol, the words of problems; of source, the table of settings. */
const few = {
  packages: ["cli", "commander", "picocolors", "protocol", "source"],
  protocol: ["problem", "problem/nearest-name", "problem/quote"],
};

interface Loaded {
  readonly packages: readonly string[];
  /** The modules of the protocol. */
  readonly protocol: readonly string[];
  readonly commands: readonly string[];
}

/** What a command line loads, as V8 saw it: the packages, and the modules of the commands themselves. */
async function loadedBy(...argv: readonly string[]): Promise<Loaded> {
  await promisify(execFile)(process.execPath, [join(root, "packages/cli/bin/xds.js"), ...argv], {
    env: { ...process.env, NODE_V8_COVERAGE: coverage },
  });
  const [report = ""] = await readdir(coverage);
  const { result } = JSON.parse(await readFile(join(coverage, report), "utf8")) as { result: { url: string }[] };
  const all = (pattern: RegExp): string[] => [...new Set(result.flatMap(({ url }) => pattern.exec(url)?.[1] ?? []))];
  return {
    packages: all(/.*\/(?:node_modules|packages)\/((?:@[^/]+\/)?[^/]+)\//).toSorted(),
    protocol: all(/\/protocol\/dist\/(.+)\.js$/).toSorted(),
    commands: all(/\/cli\/dist\/commands\/([a-z]+)\.js$/),
  };
}

it.each([["--version"], ["--help"], ["help serve"], ["get --help"]])(
  "xds %s loads no command: no server, no client, no messages",
  async (line) => {
    expect(await loadedBy(...line.split(" "))).toEqual({ ...few, commands: [] });
  },
);

it("a command loads only itself", async () => {
  const packages = [...few.packages, "yaml"];
  expect(await loadedBy("bootstrap", "envoy")).toEqual({ ...few, packages, commands: ["bootstrap"] });
});
