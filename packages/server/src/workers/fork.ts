import { type ChildProcess, fork } from "node:child_process";
import { type Channel, ipcChannel } from "./channel.ts";
import type { ToPrimary, ToWorker } from "./messages.ts";

/** A process that serves clients. */
export interface WorkerProcess {
  readonly pid: number | undefined;
  readonly channel: Channel<ToWorker, ToPrimary>;
  /** Calls back once when it ended, with its exit code or signal, or could not be started, with the reason. */
  onEnded(ended: (how: string) => void): void;
  kill(): void;
  /** Lets go of the process, which ends then. */
  release(): void;
}

/** Starts a worker process. Its output goes where that of this process goes. Never throws. */
export function forkWorker(entry: string): WorkerProcess {
  let child: ChildProcess;
  try {
    child = fork(entry, [], { serialization: "advanced", stdio: ["ignore", "inherit", "inherit", "ipc"] });
  } catch (cause) {
    // Node reports want of files or processes by an event, but throws other errors, such as want of memory.
    return neverStarted(cause instanceof Error ? cause.message : String(cause));
  }
  // Without it, errors would be thrown. That the process ended, or never began, `onEnded` tells.
  child.on("error", () => undefined);
  return {
    pid: child.pid,
    channel: ipcChannel<ToWorker, ToPrimary>(child),
    onEnded(ended) {
      // A process that could not be started has no exit.
      if (child.pid === undefined) child.once("error", ({ message }) => ended(message));
      else child.once("exit", (code, signal) => ended(signal ?? `exit code ${code ?? "unknown"}`));
    },
    kill() {
      // Without a pid, Node 20 would kill the process group of this process.
      if (child.pid !== undefined) child.kill("SIGKILL");
    },
    release() {
      if (child.connected) child.disconnect();
    },
  };
}

function neverStarted(why: string): WorkerProcess {
  return {
    pid: undefined,
    channel: ipcChannel<ToWorker, ToPrimary>({ connected: false, on: () => undefined }),
    onEnded: (ended) => queueMicrotask(() => ended(why)),
    kill: () => undefined,
    release: () => undefined,
  };
}
