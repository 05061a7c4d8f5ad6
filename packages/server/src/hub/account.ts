import type { Peer } from "@xdskit/protocol";
import { type Account, hostOf } from "@xdskit/protocol/internal";

/**
 * Whom the use of a server counts for: the identity of a verified certificate wherever it comes from, or else an address
 * (host, without port).
 */
export function accountOf(peer: Pick<Peer, "address" | "certificate">): Account {
  const identity = identityOf(peer);
  return identity === undefined
    ? { key: `address ${hostOf(peer.address)}`, by: "address" }
    : { key: `identity ${identity}`, by: "identity" };
}

/** What stands for the owner of a certificate: its first URI, such as a SPIFFE id, or DNS name, or its common name. */
function identityOf({ certificate }: Pick<Peer, "certificate">): string | undefined {
  const { uris: [uri] = [], dnsNames: [dnsName] = [], commonName } = certificate ?? {};
  if (uri !== undefined) return `uri:${uri}`;
  if (dnsName !== undefined) return `dns:${dnsName}`;
  return commonName === undefined ? undefined : `cn:${commonName}`;
}
