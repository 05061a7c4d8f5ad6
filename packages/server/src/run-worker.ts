import type { ManagementServer } from "./management-server.ts";
import { ipcChannel } from "./workers/channel.ts";
import type { ToPrimary, ToWorker, WorkerStart } from "./workers/messages.ts";
import type { WorkerChannel } from "./workers/worker-link.ts";

/** What a worker process is told when it starts. */
export interface WorkerToRun {
  /** As the primary was given it. */
  readonly setup: unknown;
  readonly start: WorkerStart;
  readonly channel: WorkerChannel;
}

/**
 * Runs the server of a worker process until its primary asks it to end, or is gone. Signals do not end it: a terminal
 * sends them to every process, and the primary decides.
 */
export function runWorker(create: (worker: WorkerToRun) => Promise<ManagementServer>): void {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => undefined);
  const channel = ipcChannel<ToPrimary, ToWorker>(process);
  channel.onGone(() => process.exit());
  channel.onMessage((message) => {
    if (message.kind !== "setup") return;
    // What follows is for the server.
    channel.onMessage(undefined);
    const { setup, start } = message;
    listen(create({ setup, start, channel })).catch((cause: unknown) => {
      const reason = cause instanceof Error ? cause.message : String(cause);
      channel.send({ kind: "failed", reason }, { onLeft: () => process.exit(1) });
    });
  });
}

async function listen(creating: Promise<ManagementServer>): Promise<void> {
  await (await creating).listen();
}
