import type { Socket } from "node:net";

/** What a client speaks, told by the first bytes it sends. */
export type SpokenProtocol = "http2" | "http1" | "unknown";

/** What a connection preface begins with; no method of HTTP/1 does. */
const PREFACE = "PRI ";
const LONGEST_METHOD = 20;

/** What these bytes begin; undefined while they may yet become either. */
export function recogniseProtocol(bytes: Uint8Array): SpokenProtocol | undefined {
  const text = Buffer.from(bytes.subarray(0, LONGEST_METHOD + 1)).toString("latin1");
  if (text.startsWith(PREFACE)) return "http2";
  if (PREFACE.startsWith(text)) return undefined;
  if (/^[A-Z-]+ /.test(text)) return "http1";
  return /^[A-Z-]*$/.test(text) && text.length <= LONGEST_METHOD ? undefined : "unknown";
}

/**
 * Looks at what a client says first and puts it back. "nothing": it hung up without a word, as probes of a port do; "unknown"
 * also when it hangs up in the middle of its first word, or does not say it in time.
 */
export async function readProtocol(socket: Socket, timeoutMs: number): Promise<SpokenProtocol | "nothing"> {
  return new Promise((resolve) => {
    const seen: Uint8Array[] = [];
    const decide = (protocol: SpokenProtocol | "nothing"): void => {
      clearTimeout(timeout);
      socket.off("readable", look);
      socket.off("end", hungUp);
      socket.off("close", hungUp);
      if ((protocol === "http1" || protocol === "http2") && !socket.destroyed) socket.unshift(Buffer.concat(seen));
      resolve(protocol);
    };
    const look = (): void => {
      const chunk: Uint8Array | null = socket.read();
      if (chunk === null) return;
      seen.push(chunk);
      const protocol = recogniseProtocol(Buffer.concat(seen));
      if (protocol !== undefined) decide(protocol);
    };
    const hungUp = (): void => decide(seen.length === 0 ? "nothing" : "unknown");
    const timeout = setTimeout(() => decide("unknown"), timeoutMs);
    socket.on("readable", look);
    socket.once("end", hungUp);
    socket.once("close", hungUp);
  });
}
