import { type ChildProcess, type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { until } from "./wait.ts";

/** A program that was started here and is ended here, by its process id. */
export interface StartedProcess {
  readonly pid: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** The last of what it printed, both streams together. */
  log(): string;
  /** Resolves when it and all it started that prints where it prints have ended. */
  readonly closed: Promise<void>;
  /** How it ended; undefined while it runs. */
  readonly ended: () => { readonly code: number | null; readonly signal: string | null } | undefined;
  /** SIGTERM, then SIGKILL when it is still there after `graceMs` (3,000 if absent). */
  stop(graceMs?: number): Promise<void>;
  /** SIGKILL. */
  kill(): Promise<void>;
}

const KEPT_LOG_CHARACTERS = 400_000;
const running = new Set<ChildProcess>();

// A test run that is interrupted leaves nothing behind.
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

/** Starts a program. Throws when it cannot be started at all. */
export async function startProcess(
  command: readonly string[],
  options: { readonly env?: Readonly<Record<string, string>>; readonly cwd?: string } = {},
): Promise<StartedProcess> {
  const [program, ...args] = command;
  if (program === undefined) throw new Error("no program to start");
  const child = spawn(program, args, {
    env: { ...process.env, ...options.env },
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    stdio: ["pipe", "pipe", "pipe"],
  });
  const pid = await started(child);
  running.add(child);
  let text = "";
  let end: { code: number | null; signal: string | null } | undefined;
  const keep = (chunk: Buffer): void => {
    text = (text + chunk.toString("utf8")).slice(-KEPT_LOG_CHARACTERS);
  };
  child.stdout.on("data", keep);
  child.stderr.on("data", keep);
  child.stdin.on("error", () => {}); // it may end before it has read everything
  child.on("exit", (code, signal) => {
    end = { code, signal };
    running.delete(child);
  });
  const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const gone = (withinMs: number): Promise<unknown> =>
    until({ says: `process ${pid} ends`, withinMs }, () => end !== undefined);
  return {
    pid,
    stdin: child.stdin,
    stdout: child.stdout,
    log: () => text,
    closed,
    ended: () => end,
    async stop(graceMs = 3_000) {
      if (end !== undefined) return;
      child.kill("SIGTERM");
      await gone(graceMs).catch(() => child.kill("SIGKILL"));
      await gone(5_000);
    },
    async kill() {
      if (end !== undefined) return;
      child.kill("SIGKILL");
      await gone(5_000);
    },
  };
}

function started(child: ChildProcessByStdio<Writable, Readable, Readable>): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("spawn", () => resolve(child.pid ?? 0));
  });
}
