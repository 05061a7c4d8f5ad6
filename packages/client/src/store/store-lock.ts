import { closeSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { resolve } from "node:path";

/** Keeps others from writing the same file. */
export interface StoreLock {
  release(): void;
}

/** Held by stores of this process. */
const heldHere = new Set<string>();

/** Takes the lock of a file; undefined if somebody who lives holds it. Throws a system error if there can be none. */
export function acquireStoreLock(path: string): StoreLock | undefined {
  const lock = `${resolve(path)}.lock`;
  if (heldHere.has(lock)) return undefined;
  if (!create(lock)) {
    if (isAlive(holderOf(lock))) return undefined;
    // Whoever held it was killed.
    rmSync(lock, { force: true });
    if (!create(lock)) return undefined;
  }
  heldHere.add(lock);
  return {
    release() {
      if (!heldHere.delete(lock)) return;
      rmSync(lock, { force: true });
    },
  };
}

/** False if it is there. */
function create(lock: string): boolean {
  try {
    const descriptor = openSync(lock, "wx", 0o600);
    try {
      writeSync(descriptor, String(process.pid));
    } finally {
      closeSync(descriptor);
    }
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  }
}

function holderOf(lock: string): number {
  try {
    return Number(readFileSync(lock, "utf8"));
  } catch {
    // It was released meanwhile.
    return 0;
  }
}

/** In a container each process may have the same id: then the one before is gone. */
function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0 || pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
