// What the command needs besides the public API.
export { createPrimary, createWorker, type PrimaryServer } from "./management-server.ts";
export { runWorker, type WorkerToRun } from "./run-worker.ts";
export type { WorkersOptions } from "./workers/pool.ts";
