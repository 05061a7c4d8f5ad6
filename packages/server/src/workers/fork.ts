import { fork } from "node:child_process";
import { type Channel, ipcChannel } from "./channel.ts";
import type { ToPrimary, ToWorker } from "./messages.ts";

/** A process that serves clients. */
export interface WorkerProcess {
  readonly pid: number | undefined;
  readonly channel: Channel<ToWorker, ToPrimary>;
  /** Calls back once when it ended, with its exit code or signal. */
  onEnded(ended: (how: string) => void): void;
  kill(): void;
  /** Lets go of the process, which ends then. */
  release(): void;
}

/** Starts a worker process. Its output goes where that of this process goes. */
export function forkWorker(entry: string): WorkerProcess {
  const child = fork(entry, [], { serialization: "advanced", stdio: ["ignore", "inherit", "inherit", "ipc"] });
  // Without it, an error of a process that cannot be started would be thrown; the end of the process tells.
  child.on("error", () => undefined);
  return {
    pid: child.pid,
    channel: ipcChannel<ToWorker, ToPrimary>(child),
    onEnded(ended) {
      child.once("exit", (code, signal) => ended(signal ?? `exit code ${code ?? "unknown"}`));
    },
    kill: () => void child.kill("SIGKILL"),
    release() {
      if (child.connected) child.disconnect();
    },
  };
}
