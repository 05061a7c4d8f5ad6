import { isIP } from "node:net";

/**
 * Whether a request may have come from somebody who meant this server. A page of any web site may make a browser ask
 * `http://its-own-name/` after that name was bent to 127.0.0.1 (DNS rebinding), and would then read the answer. It cannot
 * do so with an address or with `localhost`.
 */
export function isExpectedHost(header: string | undefined, names: readonly string[]): boolean {
  if (header === undefined) return false;
  const host = /^\[([^\]]+)\](?::\d+)?$/.exec(header)?.[1] ?? header.replace(/:\d+$/, "");
  const name = host.toLowerCase();
  return isIP(name) !== 0 || name === "localhost" || names.includes("*") || names.includes(name);
}
