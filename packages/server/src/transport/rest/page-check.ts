import { isExpectedHost } from "../../expected-host.ts";
import type { RestExchange } from "./exchange.ts";

/**
 * Whether a request comes from a client or from a page that may poll. Clients choose their Host freely (Envoy sends the
 * name of its cluster), so it says nothing about them. A page cannot leave out what tells a browser, and a name that
 * was rebound to this port is in its Host.
 */
export function mayPoll(request: Pick<RestExchange, "authority" | "header">, names: readonly string[]): boolean {
  if (!isFromBrowser(request) || names.includes("*")) return true;
  const { authority } = request;
  if (authority === undefined || !isExpectedHost(authority, names)) return false;
  const site = request.header("sec-fetch-site") ?? "same-origin";
  if (site !== "same-origin" && site !== "none") return false;
  const origin = request.header("origin");
  return origin === undefined || /^https?:\/\/(.*)$/i.exec(origin)?.[1]?.toLowerCase() === authority.toLowerCase();
}

/**
 * A browser sends `Origin` with every POST of a page and `Sec-Fetch-Site` to trustworthy origins; those too old for both
 * are recognised by their user agent.
 */
function isFromBrowser(request: Pick<RestExchange, "header">): boolean {
  return (
    request.header("origin") !== undefined ||
    request.header("sec-fetch-site") !== undefined ||
    /^Mozilla\//i.test(request.header("user-agent") ?? "")
  );
}
