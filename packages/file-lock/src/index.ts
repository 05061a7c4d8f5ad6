export { type AcquiredFileLock, acquireFileLock, type HeldFileLock } from "./file-lock.ts";
