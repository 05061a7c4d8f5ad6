import { isIP } from "node:net";

/** What a server is called in TLS that is known by its address. */
const NAME_OF_ADDRESS = "etcd";

/** Where an endpoint, `host:port`, is. */
export interface EndpointPlace {
  /** Without the brackets of an IPv6 address. */
  readonly host: string;
  readonly port: number;
  readonly isAddress: boolean;
  /** What the server is called in TLS; its certificate is checked for the host all the same. */
  readonly serverName: string;
}

export function placeOf(endpoint: string): EndpointPlace {
  const at = endpoint.lastIndexOf(":");
  const host = endpoint.slice(0, at).replace(/^\[(.*)\]$/, "$1");
  const isAddress = isIP(host) !== 0;
  return { host, port: Number(endpoint.slice(at + 1)), isAddress, serverName: isAddress ? NAME_OF_ADDRESS : host };
}
