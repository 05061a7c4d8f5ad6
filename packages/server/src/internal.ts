// What the command needs besides the public API.
export { createPrimary, createWorker, type PrimaryServer } from "./management-server.ts";
export type { WorkersOptions } from "./workers/pool.ts";
export { runWorker, type WorkerToRun } from "./workers/run-worker.ts";
