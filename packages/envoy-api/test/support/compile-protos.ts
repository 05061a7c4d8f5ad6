import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const SCRIPT = fileURLToPath(new URL("../../tools/make-descriptors.mjs", import.meta.url));

/** What the script said and wrote. */
export interface Compilation {
  readonly status: number;
  readonly stderr: string;
  readonly descriptors: Uint8Array;
}

/** Runs `make-descriptors.mjs` over files given as text by their paths. */
export function makeDescriptors(files: Readonly<Record<string, string>>, args: readonly string[] = []): Compilation {
  const directory = mkdtempSync(join(tmpdir(), "envoy-api-test-"));
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(directory, "in", path)), { recursive: true });
      writeFileSync(join(directory, "in", path), text);
    }
    const output = join(directory, "out.binpb");
    const run = runScript([join(directory, "in"), "-o", output, ...args]);
    const stderr = run.stderr.replaceAll(directory, "");
    return { ...run, stderr, descriptors: run.status === 0 ? readFileSync(output) : new Uint8Array() };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** The script's exit status and what it wrote to its standard error. */
export function runScript(args: readonly string[]): { readonly status: number; readonly stderr: string } {
  try {
    // Both streams into one pipe: the script reports even success on its standard error.
    const stderr = execFileSync("sh", ["-c", '"$0" "$@" 2>&1', process.execPath, SCRIPT, ...args], {
      encoding: "utf8",
    });
    return { status: 0, stderr };
  } catch (error) {
    const { status, stdout } = error as { status: number; stdout: string };
    return { status, stderr: stdout };
  }
}

const compiled = new Map<string, Uint8Array>();

/** The descriptors of files that compile; the same files are compiled once. */
export function compileProtos(files: Readonly<Record<string, string>>): Uint8Array {
  const key = JSON.stringify(files);
  const descriptors = compiled.get(key) ?? compileAnew(files);
  compiled.set(key, descriptors);
  return descriptors;
}

function compileAnew(files: Readonly<Record<string, string>>): Uint8Array {
  const { descriptors, status, stderr } = makeDescriptors(files);
  if (status !== 0) throw new Error(stderr);
  return descriptors;
}
