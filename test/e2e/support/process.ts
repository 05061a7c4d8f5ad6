import { type ChildProcess, type ChildProcessByStdio, spawn, spawnSync } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { until } from "./wait.ts";

/** A process that the tests started and end by its id. */
export interface StartedProcess {
  readonly pid: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** The end of its output, stdout and stderr together. */
  log(): string;
  /** Resolves when it and every child that shares its output has ended. */
  readonly closed: Promise<void>;
  /** How it ended; undefined while it runs. */
  readonly ended: () => { readonly code: number | null; readonly signal: string | null } | undefined;
  /** Sends SIGTERM, then SIGKILL if it still runs after `graceMs` milliseconds. @default 3000 */
  stop(graceMs?: number): Promise<void>;
  /** Sends SIGKILL. */
  kill(): Promise<void>;
}

const KEPT_LOG_CHARACTERS = 400_000;
const running = new Set<ChildProcess>();

// An interrupted test run leaves no processes behind.
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

/** Where Linux has `setpriv`, a program that is started with it ends with this process, even if that is killed. */
const setpriv = ["--pdeathsig", "KILL"];
const prefix = spawnSync("setpriv", [...setpriv, "true"]).status === 0 ? ["setpriv", ...setpriv] : [];

/** Starts a program. Throws if it cannot be started, or ends it with code 127 where it is started with `setpriv`. */
export async function startProcess(
  command: readonly string[],
  options: { readonly env?: Readonly<Record<string, string>>; readonly cwd?: string } = {},
): Promise<StartedProcess> {
  const [program, ...args] = [...prefix, ...command];
  if (program === undefined || command.length === 0) throw new Error("no program to start");
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
