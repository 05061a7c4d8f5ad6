import type { Status } from "@xdskit/protocol";
import { statusCode } from "@xdskit/protocol/internal";

const names = new Map<number, string>(Object.entries(statusCode).map(([name, code]) => [code, name]));

/** Formats a status: `UNAVAILABLE: no configuration yet`. */
export function describeStatus({ code, message }: Status): string {
  const name = names.get(code) ?? `status ${code}`;
  const text = tidy(message);
  return text === "" ? name : `${name}: ${text}`;
}

/** Removes the noise around a system error's message. */
export function tidy(message: string): string {
  return message
    .replace(/\bno connection: /, "")
    .replace(/Error(?: \[(\w+)\])?: /, "")
    .replace(/[0-9A-F]+:error:[0-9A-F]+:SSL routines:\w*:([^:]+):.*$/s, "$1")
    .trim();
}
