// What the command needs besides the public API.
export { createPrimary, createWorker } from "./create-server.ts";
export type { PrimaryServer } from "./management-server.ts";
export { runWorker, type WorkerToRun } from "./run-worker.ts";
export type { WorkersOptions } from "./workers/pool.ts";
