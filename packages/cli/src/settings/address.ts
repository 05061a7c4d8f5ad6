/** A host and a port. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** Reads `host:port`, `[::1]:port` or `:port` (any host); undefined for anything else, such as `off`. */
export function parseAddress(text: string): Address | undefined {
  const [, v6, name, port] = /^(?:\[([0-9A-Fa-f:.]+)\]|([^\s:[\]/]*)):([0-9]{1,5})$/.exec(text) ?? [];
  if (port === undefined || Number(port) > 65_535) return undefined;
  return { host: v6 ?? (name === "" || name === undefined ? "0.0.0.0" : name), port: Number(port) };
}

/** The address for a client: `:18000`, without a host, means this machine. */
export function reachedAddress(text: string): string {
  return text.startsWith(":") ? `127.0.0.1${text}` : text;
}

/** Formats an address: `host:port`, `[::1]:port`. */
export function formatAddress({ host, port }: Address): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

/** The address at which a client on this machine reaches a server. */
export function formatReachedAddress(address: Address): string {
  return formatAddress(reachedHost(address));
}

/** Replaces a wildcard host (`0.0.0.0`, `::`) with the loopback address. */
export function reachedHost({ host, port }: Address): Address {
  return { host: host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host, port };
}
