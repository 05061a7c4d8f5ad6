import type { IncomingHttpHeaders } from "node:http";
import { isExpectedHost } from "../expected-host.ts";

/**
 * Whether a request that changes something comes from a program, or from a page of this port, which is the console. A
 * browser tells of every POST which page it is from, and a page cannot leave that out. A page that reached this port
 * through a rebound name has that name in its `Origin`, also where a proxy replaces the Host; so `*` among the names
 * does not count here.
 */
export function mayDecide(headers: IncomingHttpHeaders, names: readonly string[]): boolean {
  const { origin, host = "", "sec-fetch-site": site, "user-agent": agent = "" } = headers;
  // Browsers that tell neither can be known by this.
  if (origin === undefined && site === undefined) return !/^Mozilla\//i.test(agent);
  if (site !== undefined && site !== "same-origin") return false;
  if (origin === undefined) return true;
  const page = /^https?:\/\/(.*)$/i.exec(origin)?.[1]?.toLowerCase();
  const known = names.filter((name) => name !== "*");
  if (!isExpectedHost(page, known)) return false;
  // Behind a proxy the Host may be another one; then the browser has to say that the page is of the same origin.
  return site === "same-origin" || page === host.toLowerCase();
}
