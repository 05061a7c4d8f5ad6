import type { TermRules } from "./term-rules.ts";

/** The name of a virtual host in its parts. */
export interface VirtualHostName {
  readonly routes: string;
  readonly host: string;
}

/** Splits `<route configuration>/<host>` at the last slash: a host has none (B-VHD-01). Undefined without a slash. */
export function parseVirtualHostName(name: string): VirtualHostName | undefined {
  const slash = name.lastIndexOf("/");
  return slash === -1 ? undefined : { routes: name.slice(0, slash), host: name.slice(slash + 1) };
}

/** What a client asks for when a request for that host comes: it looks hosts and domains up in lower case. */
export function formatVirtualHostName({ routes, host }: VirtualHostName): string {
  return `${routes}/${host.toLowerCase()}`;
}

/**
 * An asked host falls under the domain that is equal to it, else under the longest one that begins with a star and ends
 * alike, else under the longest that ends with a star and begins alike, else under the star. A star stands for one
 * character at least (S-VHD-03).
 */
export const virtualHostTerms: TermRules = {
  *broader(term) {
    const name = parseVirtualHostName(term);
    if (name === undefined || name.host === "") return;
    const { routes, host } = name;
    for (let from = 1; from < host.length; from++) yield `${routes}/*${host.slice(from)}`;
    for (let to = host.length - 1; to > 0; to--) yield `${routes}/${host.slice(0, to)}*`;
    yield `${routes}/*`;
  },

  isBroad(alias) {
    const host = parseVirtualHostName(alias)?.host;
    return host !== undefined && (host.startsWith("*") || host.endsWith("*"));
  },

  matches(alias, term) {
    const domain = parseVirtualHostName(alias);
    const asked = parseVirtualHostName(term);
    if (domain === undefined || asked === undefined || domain.routes !== asked.routes || asked.host === "")
      return false;
    if (asked.host.length < domain.host.length) return false;
    if (domain.host.startsWith("*")) return asked.host.endsWith(domain.host.slice(1));
    return domain.host.endsWith("*") && asked.host.startsWith(domain.host.slice(0, -1));
  },

  /** All virtual hosts of a route configuration: its name and a slash. */
  collectionOf(term) {
    const name = parseVirtualHostName(term);
    return name && `${name.routes}/`;
  },
};
