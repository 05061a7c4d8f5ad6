import { closeSync, linkSync, openSync, readFileSync, renameSync, rmSync, statSync, writeSync } from "node:fs";
import { resolve } from "node:path";

/** Keeps others from writing the same file. */
export interface StoreLock {
  release(): void;
}

/** A lock without a holder is one whose holder is just writing who it is; after so long it was killed meanwhile. */
const NAMELESS_MS = 10_000;

/**
 * Takes the lock of a file; undefined if somebody who lives holds it. Throws a system error if there can be none. Processes that do not see each other, such
 * as those of two containers, do not keep each other out.
 */
export function acquireStoreLock(path: string): StoreLock | undefined {
  const lock = `${resolve(path)}.lock`;
  const mine = holderWith(process.pid);
  if (!create(lock, mine)) {
    const holder = holderOf(lock);
    if (holder !== undefined && isAlive(holder, lock)) return undefined;
    if (holder !== undefined && !removeStale(lock, holder)) return undefined;
    if (!create(lock, mine)) return undefined;
  }
  return {
    release() {
      if (holderOf(lock) === mine) rmSync(lock, { force: true });
    },
  };
}

/** False if it is there. */
function create(lock: string, holder: string): boolean {
  let descriptor: number;
  try {
    descriptor = openSync(lock, "wx", 0o600);
  } catch (error) {
    if (isSystemError(error, "EEXIST")) return false;
    throw error;
  }
  try {
    writeSync(descriptor, holder);
    return true;
  } catch (error) {
    rmSync(lock, { force: true });
    throw error;
  } finally {
    closeSync(descriptor);
  }
}

/** Undefined: it was released. */
function holderOf(lock: string): string | undefined {
  try {
    return readFileSync(lock, "utf8");
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return undefined;
    throw error;
  }
}

/** Takes the lock of one who is gone away. False if somebody else does, or has done so. */
function removeStale(lock: string, stale: string): boolean {
  const aside = `${lock}.${process.pid}`;
  try {
    renameSync(lock, aside);
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return false;
    throw error;
  }
  const isStale = holderOf(aside) === stale;
  try {
    if (!isStale) linkSync(aside, lock);
  } catch {
    // Somebody else has taken it since, or the system has no links: then two may write, each of them whole files.
  }
  rmSync(aside, { force: true });
  return isStale;
}

/** A process, and when it began: after a restart of the machine or of a container, another process may have its id. */
function holderWith(pid: number): string {
  return `${pid} ${startOf(pid) ?? ""}`;
}

function isAlive(holder: string, lock: string): boolean {
  if (holder === "") return isYoung(lock);
  const [text = "", start = ""] = holder.split(" ");
  const pid = Number(text);
  if (!Number.isInteger(pid) || pid <= 0 || !isRunning(pid)) return false;
  const startNow = startOf(pid);
  return start === "" || startNow === undefined || start === startNow;
}

function isYoung(lock: string): boolean {
  const made = statSync(lock, { throwIfNoEntry: false });
  return made !== undefined && Math.abs(Date.now() - made.mtimeMs) < NAMELESS_MS;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return isSystemError(error, "EPERM");
  }
}

/** In ticks since the machine started, where the system tells (Linux). */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The name of the program stands in brackets, and may hold anything; of what follows it is the 20th.
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  } catch {
    // Another system, or it has just ended.
    return undefined;
  }
}

function isSystemError(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
