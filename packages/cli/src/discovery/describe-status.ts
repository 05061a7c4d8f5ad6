import { type Status, statusCode } from "@xdskit/protocol";

const names = new Map<number, string>(Object.entries(statusCode).map(([name, code]) => [code, name]));

/** `UNAVAILABLE: no configuration yet`. */
export function describeStatus({ code, message }: Status): string {
  const name = names.get(code) ?? `status ${code}`;
  return message === "" ? name : `${name}: ${message}`;
}
