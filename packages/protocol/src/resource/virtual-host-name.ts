import type { TermRules } from "./term-rules.ts";

/** The parts of a virtual host's name. */
export interface VirtualHostName {
  readonly routes: string;
  readonly host: string;
}

/**
 * Splits `<route configuration>/<host>` at the last slash, because a host has none (B-VHD-01). Undefined without a
 * slash.
 */
export function parseVirtualHostName(name: string): VirtualHostName | undefined {
  const slash = name.lastIndexOf("/");
  return slash === -1 ? undefined : { routes: name.slice(0, slash), host: name.slice(slash + 1) };
}

/**
 * Returns the name that a client subscribes to for a request to that host; clients look hosts and domains up in lower
 * case.
 */
export function formatVirtualHostName({ routes, host }: VirtualHostName): string {
  return `${routes}/${host.toLowerCase()}`;
}

/** A longer host matches only `*`: no host of the internet is longer than 253 characters (RFC 1035). */
const LONGEST_HOST = 1024;
/** How many labels at either end of a host form groups. */
const LABELS_GROUPED = 4;

/**
 * A host matches the equal domain, else the longest domain that starts with a star, else the longest that ends with
 * one, else `*` alone. A star stands for at least one character (S-VHD-03).
 */
export const virtualHostTerms: TermRules = {
  *broader(term) {
    const name = parseVirtualHostName(term);
    if (name === undefined || name.host === "") return;
    const { routes, host } = name;
    if (host.length > LONGEST_HOST) {
      yield `${routes}/*`;
      return;
    }
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
    if (asked.host.length > LONGEST_HOST) return domain.host === "*";
    if (domain.host.startsWith("*")) return asked.host.endsWith(domain.host.slice(1));
    return domain.host.endsWith("*") && asked.host.startsWith(domain.host.slice(0, -1));
  },

  /** Groups by last labels, each with its dot, by first labels, and all hosts of the route configuration. */
  *groupsOf(term) {
    const name = parseVirtualHostName(term);
    if (name === undefined || name.host === "") return;
    const { routes, host } = name;
    yield `${routes}/*`;
    let at = host.lastIndexOf(".");
    for (let labels = 0; at > 0 && labels < LABELS_GROUPED; labels++, at = host.lastIndexOf(".", at - 1))
      yield `${routes}/*${host.slice(at)}`;
    at = host.indexOf(".");
    for (let labels = 0; at !== -1 && labels < LABELS_GROUPED; labels++, at = host.indexOf(".", at + 1))
      yield `${routes}/${host.slice(0, at + 1)}*`;
  },

  groupOf(alias) {
    const name = parseVirtualHostName(alias);
    if (name === undefined) return alias;
    const { routes, host } = name;
    return `${routes}/${host.startsWith("*") ? `*${lastLabels(host)}` : `${firstLabels(host)}*`}`;
  },

  /** The collection of all virtual hosts of a route configuration: its name and a slash. */
  collectionOf(term) {
    const name = parseVirtualHostName(term);
    return name && `${name.routes}/`;
  },

  /** The route configuration. */
  ownerOf(term) {
    return parseVirtualHostName(term)?.routes;
  },
};

/** Returns the longest grouped end of a host, starting at a dot. */
function lastLabels(host: string): string {
  let from = host.length;
  let at = host.lastIndexOf(".");
  for (let labels = 0; at > 0 && labels < LABELS_GROUPED; labels++, at = host.lastIndexOf(".", at - 1)) from = at;
  return host.slice(from);
}

/** Returns the longest grouped beginning of a host, ending at a dot. */
function firstLabels(host: string): string {
  let to = 0;
  let at = host.indexOf(".");
  for (let labels = 0; at !== -1 && labels < LABELS_GROUPED; labels++, at = host.indexOf(".", at + 1)) to = at + 1;
  return host.slice(0, to);
}
