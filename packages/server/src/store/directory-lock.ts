import { join } from "node:path";
import { type AcquiredFileLock, acquireFileLock } from "@xdskit/disk";

/** Keeps a second server from writing to the same directory, which must be there. Throws if a server that lives uses it, or a system error. */
export function lockDirectory(directory: string): AcquiredFileLock {
  const lock = acquireFileLock(join(directory, "lock"));
  if (lock.kind === "acquired") return lock;
  const { pid } = lock;
  if (pid === process.pid) throw new Error("another server of this process uses it");
  throw new Error(pid === undefined ? "another server uses it" : `the server with process id ${pid} uses it`);
}
