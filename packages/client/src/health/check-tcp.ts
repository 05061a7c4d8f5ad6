import { connect } from "node:net";
import type { HealthTarget } from "./health-check.ts";

/** The most bytes to receive while waiting for the expected answer. */
const MAX_RECEIVED_BYTES = 64 * 1024;

/**
 * Checks an endpoint over TCP: it must accept the connection and, if the check has payloads, answer `send` with
 * `receive`, in that order.
 */
export async function checkTcp({ host, port, check }: HealthTarget, signal: AbortSignal): Promise<boolean> {
  signal.throwIfAborted();
  const { send, receive } = payloadsOf(check["tcpHealthCheck"]);
  const socket = connect({ host, port });
  const abort = (): void => void socket.destroy();
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await new Promise<boolean>((resolve) => {
      let received = Buffer.alloc(0);
      socket.once("error", () => resolve(false));
      socket.once("close", () => resolve(false));
      socket.once("connect", () => {
        if (send.length > 0) socket.write(send);
        if (receive.length === 0) resolve(true);
      });
      socket.on("data", (bytes: Buffer) => {
        received = Buffer.concat([received, bytes]);
        if (containsInOrder(received, receive)) resolve(true);
        else if (received.length > MAX_RECEIVED_BYTES) resolve(false);
      });
    });
  } finally {
    signal.removeEventListener("abort", abort);
    socket.destroy();
  }
}

interface Payloads {
  readonly send: Buffer;
  readonly receive: readonly Buffer[];
}

function payloadsOf(tcp: unknown): Payloads {
  const { send, receive } = (tcp ?? {}) as { readonly send?: unknown; readonly receive?: readonly unknown[] };
  return { send: payloadOf(send), receive: (receive ?? []).map(payloadOf).filter(({ length }) => length > 0) };
}

/** `HealthCheck.Payload`: `text` in hex, `binary` in base64 as in JSON. */
function payloadOf(payload: unknown): Buffer {
  const { text, binary } = (payload ?? {}) as { readonly text?: string; readonly binary?: string };
  return text === undefined ? Buffer.from(binary ?? "", "base64") : Buffer.from(text, "hex");
}

function containsInOrder(received: Buffer, blocks: readonly Buffer[]): boolean {
  let from = 0;
  for (const block of blocks) {
    const at = received.indexOf(block, from);
    if (at < 0) return false;
    from = at + block.length;
  }
  return true;
}
