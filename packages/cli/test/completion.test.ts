import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { run } from "../src/run.ts";
import { CapturedIo } from "./captured-io.ts";

const execute = promisify(execFile);

/** What bash offers after these words; the last one is the one being typed. */
async function complete(...words: readonly string[]): Promise<readonly string[]> {
  const io = new CapturedIo();
  await run(["completion", "bash"], io);
  const script = `${io.stdout.text}\nCOMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _xds; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout } = await execute("bash", ["--norc", "-c", script, "bash", "xds", ...words]);
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
