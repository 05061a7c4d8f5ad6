import { execFile } from "node:child_process";
import { mkdir, stat } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createProgramTarget } from "./program.ts";
import type { Target } from "./target.ts";

const run = promisify(execFile);
const source = fileURLToPath(new URL("../../targets/go-control-plane/", import.meta.url));
const folder = fileURLToPath(new URL("../../../../.cache/peers/", import.meta.url));
const program = `${folder}conformance-go-control-plane`;

const BUILD_WITHIN_MS = 10 * 60_000;

/**
 * go-control-plane's snapshot cache in a small Go program, which is built if it does not exist. Aggregated streams use
 * its ordered ADS mode, per-type streams the plain one. Undefined without Go.
 */
export async function createGoControlPlane(): Promise<Target | undefined> {
  const file = await goControlPlaneProgram();
  if (file === undefined) return undefined;
  return createProgramTarget("go-control-plane", file, { deadlineMs: 600, quietMs: 150, hasFence: false });
}

/** The path of the go-control-plane program, which is built if it does not exist. Undefined without Go. */
export async function goControlPlaneProgram(): Promise<string | undefined> {
  if (!(await hasGo())) return undefined;
  await build();
  return program;
}

async function hasGo(): Promise<boolean> {
  try {
    await run("go", ["version"]);
    return true;
  } catch {
    return false;
  }
}

async function build(): Promise<void> {
  const builtAt = (await stat(program).catch(() => undefined))?.mtimeMs ?? 0;
  const files = await Promise.all(["main.go", "go.mod", "go.sum"].map((file) => stat(source + file)));
  if (files.every(({ mtimeMs }) => mtimeMs <= builtAt)) return;
  await mkdir(folder, { recursive: true });
  await run("go", ["build", "-o", program, "."], { cwd: source, timeout: BUILD_WITHIN_MS });
}
