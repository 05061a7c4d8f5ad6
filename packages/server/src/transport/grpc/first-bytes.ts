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

/** Looks at what a client says first and puts it back. "unknown" also when it says nothing in time, or hangs up. */
export async function readProtocol(socket: Socket, timeoutMs: number): Promise<SpokenProtocol> {
  return new Promise((resolve) => {
    const seen: Uint8Array[] = [];
    const decide = (protocol: SpokenProtocol): void => {
      clearTimeout(timeout);
      socket.off("readable", look);
      socket.off("end", give);
      socket.off("close", give);
      if (seen.length > 0 && !socket.destroyed) socket.unshift(Buffer.concat(seen));
      resolve(protocol);
    };
    const look = (): void => {
      const chunk: Uint8Array | null = socket.read();
      if (chunk === null) return;
      seen.push(chunk);
      const protocol = recogniseProtocol(Buffer.concat(seen));
      if (protocol !== undefined) decide(protocol);
    };
    const give = (): void => decide("unknown");
    const timeout = setTimeout(give, timeoutMs);
    socket.on("readable", look);
    socket.once("end", give);
    socket.once("close", give);
  });
}
