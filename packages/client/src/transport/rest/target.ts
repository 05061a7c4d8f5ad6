/** An address to connect to. */
export type Endpoint = { readonly host: string; readonly port: number } | { readonly socketPath: string };

/**
 * The endpoints of a gRPC target: `dns:///xds.example.com:443`, `ipv4:10.0.0.1:80,10.0.0.2:80`, `ipv6:[::1]:80`,
 * `unix:/run/xds.sock`, `unix-abstract:xds`, or host and port. Undefined for anything else.
 */
export function parseTarget(target: string, defaultPort: number): readonly Endpoint[] | undefined {
  const scheme = /^(unix-abstract|unix|ipv4|ipv6|dns):/.exec(target)?.[1];
  const rest = scheme === undefined ? target : target.slice(scheme.length + 1);
  switch (scheme) {
    case "unix":
      return rest === "" ? undefined : [{ socketPath: rest.replace(/^\/\/(?=\/)/, "") }];
    case "unix-abstract":
      return rest === "" ? undefined : [{ socketPath: `\0${rest}` }];
    case "ipv4":
    case "ipv6": {
      const endpoints = rest.split(",").map((one) => parseHostPort(one, defaultPort));
      return endpoints.every((endpoint) => endpoint !== undefined) ? endpoints : undefined;
    }
    default: {
      // dns://RESOLVER/NAME: the resolver is ignored in favour of the system's.
      const endpoint = parseHostPort(rest.replace(/^\/\/[^/]*\//, ""), defaultPort);
      return endpoint === undefined ? undefined : [endpoint];
    }
  }
}

/** The endpoint as it stands in a URL. */
export function formatEndpoint(endpoint: Endpoint): string {
  if ("socketPath" in endpoint) return `unix:${endpoint.socketPath.replace(/^\0/, "@")}`;
  return endpoint.host.includes(":") ? `[${endpoint.host}]:${endpoint.port}` : `${endpoint.host}:${endpoint.port}`;
}

function parseHostPort(text: string, defaultPort: number): Endpoint | undefined {
  const match = /^(?:\[([^\]]+)\]|([^:/[\]]+))(?::(\d{1,5}))?$/.exec(text);
  const host = match?.[1] ?? match?.[2] ?? bareIpv6(text);
  const port = match?.[3] === undefined ? defaultPort : Number(match[3]);
  return host === undefined || port < 1 || port > 65_535 ? undefined : { host, port };
}

function bareIpv6(text: string): string | undefined {
  return /^[0-9a-fA-F:.]*:[0-9a-fA-F:.]*:[0-9a-fA-F:.]*$/.test(text) ? text : undefined;
}
