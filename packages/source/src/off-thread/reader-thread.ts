import { Worker } from "node:worker_threads";
import { STARTED_AHEAD } from "./messages.ts";

/**
 * Threads run what is built, whether this is run as it is or built: both are two folders below the package. Not a constant, because a bundle may have no URL
 * of its own and no thread either.
 */
function entryOfThread(): URL {
  return new URL("../../dist/off-thread/worker.js", import.meta.url);
}

function createThread(workerData?: typeof STARTED_AHEAD): Worker {
  const thread = new Worker(entryOfThread(), { name: "xdskit-source", workerData, execArgv: [] });
  thread.unref();
  return thread;
}

/** A thread that nobody uses yet. */
let spare: Worker | undefined;

/** Starts a thread for the first reading that needs one. */
export function startThread(): void {
  if (spare !== undefined) return;
  const thread = createThread(STARTED_AHEAD);
  spare = thread;
  // If it fails, one is started when it is needed, and whoever needs it is told why that fails.
  thread.once("error", () => undefined);
  thread.once("exit", () => {
    if (spare === thread) spare = undefined;
  });
}

/** The thread that was started before, or a new one. It reads once it is given its input, and does not keep the process running. */
export function takeThread(): Worker {
  const thread = spare ?? createThread();
  spare = undefined;
  return thread;
}

/** Nobody needs the thread that was started before. */
export function dropThread(): void {
  void spare?.terminate();
  spare = undefined;
}
