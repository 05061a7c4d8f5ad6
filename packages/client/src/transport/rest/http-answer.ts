import type { IncomingMessage } from "node:http";
import type { Status } from "@xdskit/protocol";
import { statusCode } from "@xdskit/protocol/internal";
import { decodeUtf8 } from "../json-response.ts";

/** The result of a poll. */
export type PollAnswer =
  | { readonly kind: "body"; readonly bytes: Uint8Array }
  | { readonly kind: "unchanged" }
  | { readonly kind: "failed"; readonly status: Status };

/** The most bytes to read of an error's body. */
const MAX_ERROR_BYTES = 4_096;
const MAX_ERROR_CHARACTERS = 300;

/** gRPC status codes of HTTP statuses; others are UNKNOWN. */
const STATUS_CODE: ReadonlyMap<number, number> = new Map([
  [400, statusCode.INTERNAL],
  [401, statusCode.UNAUTHENTICATED],
  [403, statusCode.PERMISSION_DENIED],
  [404, statusCode.UNIMPLEMENTED],
  [429, statusCode.UNAVAILABLE],
  [502, statusCode.UNAVAILABLE],
  [503, statusCode.UNAVAILABLE],
  [504, statusCode.UNAVAILABLE],
]);

/** Reads an HTTP response; only 200 and 304 succeed (C-RST-04, C-RST-17). Rejects if the connection breaks. */
export async function readAnswer(message: IncomingMessage, maxBytes: number): Promise<PollAnswer> {
  const { statusCode: httpStatus = 0 } = message;
  switch (httpStatus) {
    case 200:
      return await readBody(message, maxBytes);
    case 304:
      // Discards the body, so that the connection can be reused.
      message.resume();
      return { kind: "unchanged" };
    default: {
      const { bytes } = await readUpTo(message, MAX_ERROR_BYTES);
      const reason = reasonIn(bytes);
      const phrase = message.statusMessage ? ` ${printable(message.statusMessage)}` : "";
      const text = `HTTP status ${httpStatus}${phrase}${reason === undefined ? "" : `: ${reason}`}`;
      return failed(STATUS_CODE.get(httpStatus) ?? statusCode.UNKNOWN, text);
    }
  }
}

export function failed(code: number, message: string): PollAnswer {
  return { kind: "failed", status: { code, message } };
}

async function readBody(message: IncomingMessage, maxBytes: number): Promise<PollAnswer> {
  const { bytes, isWhole } = await readUpTo(message, maxBytes);
  if (isWhole) return { kind: "body", bytes };
  return failed(statusCode.RESOURCE_EXHAUSTED, `expected at most ${maxBytes} bytes in a response, got more`);
}

/** Cuts off a longer body, and its connection. */
async function readUpTo(message: IncomingMessage, maxBytes: number): Promise<{ bytes: Buffer; isWhole: boolean }> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of message as AsyncIterable<Buffer>) {
    size += chunk.length;
    chunks.push(chunk);
    // Leaving the loop destroys the connection.
    if (size > maxBytes) break;
  }
  return { bytes: Buffer.concat(chunks).subarray(0, maxBytes), isWhole: size <= maxBytes };
}

/** The message of a JSON `google.rpc.Status`, or the first line of a plain text; undefined for an HTML page. */
function reasonIn(bytes: Uint8Array): string | undefined {
  const text = decodeUtf8(bytes)?.trim() ?? "";
  const message = messageIn(text) ?? (/^[<{[]/.test(text) ? "" : (text.split("\n")[0] ?? ""));
  const reason = printable(message);
  return reason === "" ? undefined : reason;
}

function printable(text: string): string {
  return text
    .replaceAll(/\p{C}+/gu, " ")
    .trim()
    .slice(0, MAX_ERROR_CHARACTERS);
}

function messageIn(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null || !("message" in value)) return undefined;
    return typeof value.message === "string" ? value.message : undefined;
  } catch {
    // Most servers respond with plain text.
    return undefined;
  }
}
