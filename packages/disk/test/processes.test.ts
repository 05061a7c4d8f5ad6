/** The lock of a file among processes that are killed. */
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { acquireFileLock } from "../src/index.ts";
import { commandOf, killPrograms, type RunningProgram, startProgram } from "./support/program.ts";

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

/** What is in the directory, without the signs that somebody lives. */
const files = (): readonly string[] => readdirSync(directory).filter((name) => !name.endsWith(".live"));

const HOLD = (path: string): string => `
  console.log(acquireFileLock(${JSON.stringify(path)}).kind);
  setInterval(() => {}, 1000);
`;

async function startHolder(): Promise<RunningProgram> {
  const holder = startProgram(commandOf(HOLD(path)));
  await holder.prints("acquired");
  return holder;
}

test("a process that lives is left alone, though it does nothing for long", async () => {
  const holder = await startHolder();
  process.kill(holder.pid, "SIGSTOP");
  expect([acquireFileLock(path), files()]).toEqual([{ kind: "held", pid: holder.pid }, ["lock"]]);
});

test("the lock of a process that was killed is taken", async () => {
  const holder = await startHolder();
  await holder.kill();
  expect([acquireFileLock(path).kind, acquireFileLock(path)]).toEqual(["acquired", { kind: "held", pid: process.pid }]);
});

test.runIf(process.platform === "linux")(
  "so is that of one that was killed, and whose parent never asks about it",
  async () => {
    const [node, ...args] = commandOf(HOLD(path));
    const parent = startProgram(["/bin/sh", "-c", '"$0" "$@" & echo "pid $!."; exec sleep 1000', node, ...args]);
    await parent.prints("acquired");
    const pid = Number(/pid (\d+)\./.exec(parent.printed())?.[1]);
    process.kill(pid, "SIGKILL");
    while (!/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "latin1"))) await new Promise(setImmediate);
    expect(acquireFileLock(path).kind).toBe("acquired");
  },
);

test("who is killed while he takes the lock of one that was killed leaves it to the next", async () => {
  const locks: string[] = [];
  for (let i = 0; i < 3; i++) {
    const holder = await startHolder();
    await holder.kill();
    locks.push(readFileSync(path, "utf8"));
    rmSync(path);
  }
  const [first = "", second = "", third = ""] = locks;
  writeFileSync(path, first);
  writeFileSync(`${path}.${tokenIn(first)}`, second);
  writeFileSync(`${path}.${tokenIn(second)}`, third);
  writeFileSync(`${path}.${tokenIn(third)}.new`, third);
  expect([acquireFileLock(path).kind, files()]).toEqual(["acquired", ["lock"]]);
});

function tokenIn(text: string): string {
  return text.trim().split(" ").at(-1) ?? "";
}

test.each([
  ["the lock of one that was killed", true],
  ["a lock that nobody holds", false],
])(
  "of those who come together upon %s, one gets it",
  async (_, isLeft) => {
    const rounds = 60;
    const holder = await startHolder();
    await holder.kill();
    for (let i = 0; isLeft && i < rounds; i++) copyFileSync(path, `${path}${i}`);
    mkdirSync(join(directory, "ready"));
    const contenders = Array.from({ length: 4 }, (_, me) =>
      startProgram(
        commandOf(`
        import { readdirSync, writeFileSync } from "node:fs";
        const ready = ${JSON.stringify(join(directory, "ready"))};
        const got = [];
        for (let i = 0; i < ${rounds}; i++) {
          writeFileSync(ready + "/" + i + "-${me}", "");
          while (readdirSync(ready).filter((name) => name.startsWith(i + "-")).length < 4);
          if (acquireFileLock(${JSON.stringify(path)} + i).kind === "acquired") got.push(i);
        }
        console.log(JSON.stringify(got) + " done");
        setInterval(() => {}, 1000);
      `),
      ),
    );
    await Promise.all(contenders.map((contender) => contender.prints("done")));
    const got = contenders.flatMap((contender) => JSON.parse(contender.printed().replace("done", "")) as number[]);
    expect(got.sort((a, b) => a - b)).toEqual(Array.from({ length: rounds }, (_, i) => i));
  },
  60_000,
);

test("it has one holder at a time, whoever is killed whenever", async () => {
  const journal = join(directory, "journal");
  writeFileSync(journal, "");
  const start = (): RunningProgram =>
    startProgram(
      commandOf(`
        import { appendFileSync } from "node:fs";
        const tell = (what) => appendFileSync(${JSON.stringify(journal)}, what + " " + process.pid + "\\n");
        console.log("started");
        for (;;) {
          const lock = acquireFileLock(${JSON.stringify(path)});
          if (lock.kind === "held") continue;
          tell("enters");
          for (const untilMs = performance.now() + 1; performance.now() < untilMs; );
          tell("leaves");
          lock.release();
        }
      `),
    );
  const killed = new Set<number>();
  const contenders = Array.from({ length: 3 }, start);
  for (let round = 0; round < 12; round++) {
    const victim = contenders[round % contenders.length] ?? start();
    const enteredBefore = linesOf(journal).length;
    await victim.prints("started");
    while (linesOf(journal).length < enteredBefore + 20) await new Promise(setImmediate);
    await victim.kill();
    killed.add(victim.pid);
    contenders[round % contenders.length] = start();
  }
  await Promise.all(contenders.map((contender) => contender.kill()));
  expect(overlaps(linesOf(journal), killed)).toEqual([]);
}, 60_000);

function linesOf(journal: string): readonly string[] {
  return readFileSync(journal, "utf8").trimEnd().split("\n");
}

/** Who entered while somebody was in who was not killed there. */
function overlaps(lines: readonly string[], killed: ReadonlySet<number>): readonly string[] {
  const found: string[] = [];
  const left = new Set<number>();
  let inside: number | undefined;
  for (const [i, line] of lines.entries()) {
    const [what, pid] = [line.split(" ")[0], Number(line.split(" ")[1])];
    if (left.has(pid)) found.push(`${i}: ${line}, though another one came after it`);
    if (what === "leaves") inside = undefined;
    else {
      if (inside !== undefined && killed.has(inside)) left.add(inside);
      else if (inside !== undefined) found.push(`${i}: ${line} beside ${inside}`);
      inside = pid;
    }
  }
  return found;
}
