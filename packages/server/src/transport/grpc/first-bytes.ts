import type { Socket } from "node:net";

/** A client's protocol, detected by its first bytes. */
export type SpokenProtocol = "http2" | "http1" | "unknown";

/** The start of the HTTP/2 connection preface; no HTTP/1 method starts so. */
const PREFACE = "PRI ";
const LONGEST_METHOD = 20;

/** Detects the protocol; undefined while both are still possible. */
export function recogniseProtocol(bytes: Buffer): SpokenProtocol | undefined {
  const text = bytes.toString("latin1", 0, LONGEST_METHOD + 1);
  if (text.startsWith(PREFACE)) return "http2";
  if (PREFACE.startsWith(text)) return undefined;
  if (/^[A-Z-]+ /.test(text)) return "http1";
  return /^[A-Z-]*$/.test(text) && text.length <= LONGEST_METHOD ? undefined : "unknown";
}

/**
 * Reads a client's first bytes and puts them back. "nothing": the client closed without sending, as port probes do;
 * "unknown" also if it closes or times out before its protocol is clear.
 */
export async function readProtocol(socket: Socket, timeoutMs: number): Promise<SpokenProtocol | "nothing"> {
  return new Promise((resolve) => {
    let seen: Buffer | undefined;
    const decide = (protocol: SpokenProtocol | "nothing"): void => {
      clearTimeout(timeout);
      socket.off("readable", look);
      socket.off("end", hungUp);
      socket.off("close", hungUp);
      const isSpoken = protocol === "http1" || protocol === "http2";
      if (isSpoken && seen !== undefined && !socket.destroyed) socket.unshift(seen);
      resolve(protocol);
    };
    const look = (): void => {
      const chunk: Buffer | null = socket.read();
      if (chunk === null) return;
      seen = seen === undefined ? chunk : Buffer.concat([seen, chunk]);
      const protocol = recogniseProtocol(seen);
      if (protocol !== undefined) decide(protocol);
    };
    const hungUp = (): void => decide(seen === undefined ? "nothing" : "unknown");
    const timeout = setTimeout(() => decide("unknown"), timeoutMs);
    socket.on("readable", look);
    socket.once("end", hungUp);
    socket.once("close", hungUp);
  });
}
