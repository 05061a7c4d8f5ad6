export { EffectQueue } from "./effect-queue.ts";
export { type AcquiredFileLock, acquireFileLock, type HeldFileLock } from "./file-lock.ts";
export { makeDirectory } from "./make-directory.ts";
export { LONGEST_TIMER_MS, startTimer, type Timer, Timers } from "./timers.ts";
