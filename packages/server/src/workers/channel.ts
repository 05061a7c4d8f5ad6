import type { Socket } from "node:net";

/** One end of the connection of a worker and its primary. Messages arrive in order. */
export interface Channel<Sent, Received> {
  /** Never throws; what is sent to a process that is gone is lost. Calls back when the message has left this process. */
  send(message: Sent, options?: { readonly socket?: Socket; readonly onLeft?: () => void }): void;
  /**
   * Called with each message, and the connection that came with it if its client is still there. Until it is given, and
   * after undefined was, messages wait.
   */
  onMessage(take: ((message: Received, socket: Socket | undefined) => void) | undefined): void;
  /** Called once when the other process is gone. */
  onGone(gone: () => void): void;
}

/** What `process` and a child process have in common. */
export interface IpcEnd {
  send?(
    message: unknown,
    handle: Socket | undefined,
    options: { readonly keepOpen?: boolean },
    left: (error: Error | null) => void,
  ): boolean;
  readonly connected?: boolean;
  on(event: "message", listener: (message: unknown, handle: unknown) => void): unknown;
  on(event: "disconnect", listener: () => void): unknown;
}

/** A channel over the IPC pipe of a process. */
export function ipcChannel<Sent, Received>(end: IpcEnd): Channel<Sent, Received> {
  const early: (readonly [Received, Socket | undefined])[] = [];
  let taken: ((message: Received, socket: Socket | undefined) => void) | undefined;
  end.on("message", (message, handle) => {
    const received = [message as Received, handle as Socket | undefined] as const;
    if (taken === undefined || early.length > 0) early.push(received);
    else taken(...received);
  });
  return {
    send(message, { socket, onLeft } = {}) {
      if (end.connected !== true) {
        socket?.destroy();
        onLeft?.();
        return;
      }
      // An error is that the other process is gone, which `onGone` tells.
      end.send?.(message, socket, {}, () => onLeft?.());
    },
    onMessage(take) {
      taken = take;
      while (taken !== undefined) {
        const received = early.shift();
        if (received === undefined) return;
        taken(...received);
      }
    },
    onGone(gone) {
      if (end.connected === true) end.on("disconnect", gone);
      else queueMicrotask(gone);
    },
  };
}
