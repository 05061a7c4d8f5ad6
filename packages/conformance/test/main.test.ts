import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const main = fileURLToPath(new URL("../dist/main.js", import.meta.url));

function run(...args: readonly string[]): { readonly code: number | null; readonly says: string | undefined } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, "--target", "ours", ...args], {
    encoding: "utf8",
    env: { ...process.env, PATH: "" },
  });
  return {
    code: status,
    says: (status === 2 ? stderr : stdout).split("\n").find((line) => /^(?:ours:|no |--|nothing|SKIPPED)/.test(line)),
  };
}

test("what plays nothing is a mistake", () => {
  expect(run("--only", "S-SUB-2")).toEqual({ code: 2, says: "no case of ours is of S-SUB-2" });
  const expected = "--at-once: expected a whole number from 1 on, got";
  expect(run("--only", "S-SUB-02", "--at-once", "0")).toEqual({ code: 2, says: `${expected} "0"` });
  expect(run("--only", "S-SUB-02", "--at-once", "many")).toEqual({ code: 2, says: `${expected} "many"` });
});

test("a target that cannot run is not one that passed", () => {
  expect(run("--target", "go-control-plane")).toEqual({
    code: 77,
    says: "SKIPPED go-control-plane: it cannot run on this machine (go-control-plane needs Go 1.25 or newer)",
  });
});
