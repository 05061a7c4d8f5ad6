export { type AcquiredFileLock, acquireFileLock, type HeldFileLock } from "./file-lock.ts";
export { makeDirectory } from "./make-directory.ts";
