import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, expect, test } from "vitest";
import { run } from "../src/run.ts";
import { CapturedIo } from "./captured-io.ts";
import { Site } from "./serving.ts";

const execute = promisify(execFile);

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** What bash offers after these words; the last one is the one being typed. */
async function complete(...words: readonly string[]): Promise<readonly string[]> {
  return completeIn(".", ...words);
}

/** The same in a directory; offered as names of files, it begins with the option. */
async function completeIn(cwd: string, ...words: readonly string[]): Promise<readonly string[]> {
  const io = new CapturedIo();
  await run(["completion", "bash"], io);
  const script = `compopt() { echo "$@"; }\n${io.stdout.text}\nCOMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _xds; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout } = await execute("bash", ["--norc", "-c", script, "bash", "xds", ...words], { cwd });
  return stdout.split("\n").filter((line) => line !== "");
}

test("bash completes commands, options, their values and types", async () => {
  expect(await complete("va")).toEqual(["validate"]);
  expect(await complete("get", "c")).toEqual(["clusters", "cds"]);
  expect(await complete("get", "--so")).toEqual(["--sotw"]);
  expect(await complete("validate", "--format", "")).toEqual(["text", "json", "github"]);
  expect(await complete("serve", "--validation", "r")).toEqual(["reject"]);
  expect(await complete("bootstrap", "--transport", "ads")).toEqual(["ads", "ads-delta"]);
  expect(await complete("bootstrap", "")).toEqual(["envoy", "grpc"]);
  expect(await complete("deliveries", "--state", "na")).toEqual(["nacked"]);
});

test("bash completes paths as names of files: directories and modules for a source, anything for a file", async () => {
  const site = await Site.make({ "mesh.ts": "", "mesh.txt": "", "b.json": "" });
  cleanups.push(() => site.remove());
  await mkdir(join(site.directory, "comp dir", "in it"), { recursive: true });
  const paths = async (...words: readonly string[]) => {
    const [option, ...offered] = await completeIn(site.directory, ...words);
    return [option, ...offered.sort()];
  };
  const names = "-o filenames";
  expect(await paths("serve", "comp")).toEqual([names, "comp dir"]);
  expect(await paths("serve", "comp\\ dir/")).toEqual([names, "comp dir/in it"]);
  expect(await paths("serve", '"comp d')).toEqual([names, "comp dir"]);
  expect(await paths("serve", "mes")).toEqual([names, "mesh.ts"]);
  expect(await paths("serve", "--listen", "localhost", ":", "1", "mes")).toEqual([names, "mesh.ts"]);
  expect(await paths("serve", "--state-dir", "comp")).toEqual([names, "comp dir"]);
  expect(await paths("serve", "--state-dir", "=", "comp")).toEqual([names, "comp dir"]);
  expect(await paths("check", "b")).toEqual([names, "b.json"]);
  expect(await paths("diff", "")).toEqual([names, "comp dir", "head", "held", "mesh.ts"]);
  expect(await paths("diff", "comp dir", "me")).toEqual([names, "mesh.ts"]);
});

test("bash completes each argument by its own choices, and values after =", async () => {
  const site = await Site.make({ "a.jsonl": "" });
  cleanups.push(() => site.remove());
  expect(await complete("store", "ex")).toEqual(["export"]);
  expect(await completeIn(site.directory, "store", "export", "")).toEqual(["-o filenames", "a.jsonl"]);
  expect(await completeIn(site.directory, "access", "explain", "")).toEqual(["-o filenames"]);
  expect(await complete("get", "cds", "c")).toEqual([]);
  expect(await complete("get", "--output", "json", "cd")).toEqual(["cds"]);
  expect(await complete("get", "--output", "=", "json", "cd")).toEqual(["cds"]);
  expect(await complete("get", "--output", "=", "j")).toEqual(["json"]);
  expect(await complete("get", "--output", "=")).toEqual(["yaml", "json", "table"]);
});
