import { closeSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { resolve } from "node:path";

/** Keeps a second server from writing to the same directory. */
export interface FileLock {
  release(): void;
}

/** Held by servers of this process. */
const heldHere = new Set<string>();

/** Takes the lock of a directory. Throws if a server that lives holds it. */
export function acquireLock(directory: string): FileLock {
  const path = resolve(directory, "lock");
  if (heldHere.has(path)) throw new Error("another server of this process uses it");
  for (let attempt = 0; ; attempt++) {
    try {
      const descriptor = openSync(path, "wx", 0o600);
      writeSync(descriptor, String(process.pid));
      closeSync(descriptor);
      heldHere.add(path);
      return { release: () => release(path) };
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST") || attempt > 0) throw error;
      const holder = Number(readFileSync(path, "utf8"));
      if (isAlive(holder)) throw new Error(`the server with process id ${holder} uses it`, { cause: error });
      // Whoever held it was killed.
      rmSync(path, { force: true });
    }
  }
}

function release(path: string): void {
  heldHere.delete(path);
  rmSync(path, { force: true });
}

/** In a container each server has the same process id: then the one before is gone. */
function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0 || pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
