import { isIP } from "node:net";

/**
 * Whether the Host header is expected. Through DNS rebinding a web page can make a browser send requests to
 * `http://its-own-name/` on 127.0.0.1 and read the responses; it cannot do so with an IP address or `localhost`.
 */
export function isExpectedHost(header: string | undefined, names: readonly string[]): boolean {
  if (header === undefined) return false;
  const host = /^\[([^\]]+)\](?::\d+)?$/.exec(header)?.[1] ?? header.replace(/:\d+$/, "");
  const name = host.toLowerCase();
  return isIP(name) !== 0 || name === "localhost" || names.includes("*") || names.includes(name);
}
