import { closeSync, openSync, readFileSync, rmSync, statSync, writeSync } from "node:fs";
import { resolve } from "node:path";

/** Keeps others from writing the same file. */
export interface StoreLock {
  release(): void;
}

/** How long a moment may take, such as that in which a holder writes who it is; after so long it was killed meanwhile. */
const MOMENT_MS = 10_000;

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

/**
 * Takes away the lock of one who is gone. Only one at a time does that: whoever else has seen the same would take away the lock of the next holder.
 * False if somebody else does, or has done so.
 */
function removeStale(lock: string, stale: string): boolean {
  const breaking = `${lock}.breaking`;
  const mine = holderWith(process.pid);
  if (!create(breaking, mine)) {
    if (isYoung(breaking)) return false;
    // Whoever was at it was killed meanwhile.
    rmSync(breaking, { force: true });
    if (!create(breaking, mine)) return false;
  }
  try {
    if (holderOf(lock) !== stale) return false;
    rmSync(lock, { force: true });
    return true;
  } finally {
    rmSync(breaking, { force: true });
  }
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
  return made !== undefined && Math.abs(Date.now() - made.mtimeMs) < MOMENT_MS;
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
