import { isIP } from "node:net";

/**
 * Leaves an address out of what TLS sends as the name of the server. grpc-js sends whatever the host is, but an address is none (RFC 6066): some servers
 * refuse that, and Node warns of it. Whom the certificate is for is looked at all the same.
 */
export function dropAddressAsName(connector: object): void {
  if (!("connectionOptions" in connector)) return;
  const { connectionOptions } = connector;
  if (typeof connectionOptions !== "object" || connectionOptions === null) return;
  if (!("servername" in connectionOptions) || isIP(String(connectionOptions.servername)) === 0) return;
  delete connectionOptions.servername;
}
