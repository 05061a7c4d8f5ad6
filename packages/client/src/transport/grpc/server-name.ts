import { isIP } from "node:net";

/**
 * Keeps IP addresses out of the TLS server name (SNI). grpc-js sends every host, but RFC 6066 forbids addresses: some
 * servers reject them, and Node.js warns. The certificate is verified for the address as before.
 */
export function dropAddressAsName(connector: object): void {
  if (!("connectionOptions" in connector)) return;
  const { connectionOptions } = connector;
  if (typeof connectionOptions !== "object" || connectionOptions === null) return;
  if (!("servername" in connectionOptions) || isIP(String(connectionOptions.servername)) === 0) return;
  delete connectionOptions.servername;
}
