import { join } from "node:path";
import { type AcquiredFileLock, acquireFileLock } from "@xdskit/disk";

/** Locks an existing directory against a second server. Throws if a live server holds it, or a system error. */
export function lockDirectory(directory: string): AcquiredFileLock {
  const lock = acquireFileLock(join(directory, "lock"));
  if (lock.kind === "acquired") return lock;
  const { pid } = lock;
  if (pid === process.pid) throw new Error("another server of this process uses it");
  throw new Error(pid === undefined ? "another server uses it" : `the server with process id ${pid} uses it`);
}
