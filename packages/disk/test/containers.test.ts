/** The lock of a file among processes that do not see each other. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { acquireFileLock } from "../src/index.ts";
import { commandOf, killPrograms, type RunningProgram, startProgram } from "./support/program.ts";

/** Runs a command in a namespace of processes of its own, as a container does. It dies with the first word of it. */
const APART = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"] as const;
const canBeApart = process.platform === "linux" && spawnSync(APART[0], [...APART.slice(1), "true"]).status === 0;

let directory: string;
let path: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "xdskit-file-lock-"));
  path = join(directory, "lock");
});
afterEach(() => {
  killPrograms();
  rmSync(directory, { recursive: true, force: true });
});

/** Tries to take the lock, says how that went, and lets its event loop stand still for ever. */
const CONTEND = (path: string): string => `
  console.log(JSON.stringify(acquireFileLock(${JSON.stringify(path)})) + " done");
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
`;

async function contend(before: readonly string[] = []): Promise<{ said: unknown; program: RunningProgram }> {
  const program = startProgram([...before, ...commandOf(CONTEND(path))]);
  await program.prints("done");
  return { said: JSON.parse(program.printed().replace("done", "")), program };
}

/** As if it had been written where processes have other ids. */
function moveApart(): void {
  const [pid, start, boot, , token] = readFileSync(path, "utf8").split(" ");
  writeFileSync(path, `${pid} ${start} ${boot} 1 ${token}`);
}

const signs = (): readonly string[] => readdirSync(directory).filter((name) => name.endsWith(".live"));

describe.runIf(process.platform === "linux")("of a process that cannot be seen", () => {
  test("the lock is not taken while that lives, though it does nothing for long, and taken when it was killed", async () => {
    const holder = await contend();
    moveApart();
    expect([acquireFileLock(path), (await contend()).said]).toEqual([{ kind: "held" }, { kind: "held" }]);
    await holder.program.kill();
    expect((await contend()).said).toEqual({ kind: "acquired" });
  });

  test("the lock is taken if there is no sign of life", () => {
    acquireFileLock(path);
    moveApart();
    for (const name of signs()) rmSync(join(directory, name));
    expect(acquireFileLock(path).kind).toBe("acquired");
  });

  test("the lock is not taken while that lives, though somebody removed the file", async () => {
    const holder = await contend();
    const [sign] = signs();
    rmSync(path);
    expect([acquireFileLock(path), (await contend()).said]).toEqual([{ kind: "held" }, { kind: "held" }]);
    expect(readdirSync(directory)).toEqual([sign]);
    await holder.program.kill();
    expect((await contend()).said).toEqual({ kind: "acquired" });
  });

  test("what it left goes when the lock is taken, and with that nothing stays", async () => {
    const holder = await contend();
    await holder.program.kill();
    const [left = ""] = signs();
    utimesSync(join(directory, left), 0, 0);
    const lock = acquireFileLock(path);
    expect(signs()).not.toContain(left);
    if (lock.kind === "acquired") lock.release();
    expect(readdirSync(directory)).toEqual([]);
  });

  test("the lock is not taken in a deep directory either", async () => {
    const deep = join(directory, "d".repeat(100), "e".repeat(100));
    mkdirSync(deep, { recursive: true });
    path = join(deep, "lock");
    const holder = await contend();
    moveApart();
    expect(acquireFileLock(path)).toEqual({ kind: "held", pid: undefined });
    await holder.program.kill();
    expect(acquireFileLock(path).kind).toBe("acquired");
  });
});

test.runIf(canBeApart)(
  "two in namespaces of their own keep each other out until one is killed",
  async () => {
    const apart = await contend(APART);
    expect([apart.said, acquireFileLock(path), (await contend(APART)).said]).toEqual([
      { kind: "acquired" },
      { kind: "held", pid: undefined },
      { kind: "held" },
    ]);
    await apart.program.kill();
    const here = await contend();
    expect([here.said, (await contend(APART)).said]).toEqual([{ kind: "acquired" }, { kind: "held" }]);
    await here.program.kill();
    expect((await contend(APART)).said).toEqual({ kind: "acquired" });
  },
  60_000,
);
