import type { Peer } from "@xdskit/protocol";
import { type Account, hostOf } from "@xdskit/protocol/internal";

/** Asked for several times for each stream. */
const known = new WeakMap<AccountHolder, Account>();

/** A peer, as far as its account depends on it. */
export type AccountHolder = Pick<Peer, "address" | "certificate">;

/**
 * Whom the use of a server counts for: the identity of a verified certificate wherever it comes from, or else an address
 * (host, without port).
 */
export function accountOf(peer: AccountHolder): Account {
  let account = known.get(peer);
  if (account === undefined) {
    account = findAccount(peer);
    known.set(peer, account);
  }
  return account;
}

function findAccount(peer: AccountHolder): Account {
  const identity = identityOf(peer);
  return identity === undefined
    ? { key: `address ${hostOf(peer.address)}`, by: "address" }
    : { key: `identity ${identity}`, by: "identity" };
}

/** What stands for the owner of a certificate: its first URI, such as a SPIFFE id, or DNS name, or its common name. */
function identityOf({ certificate }: AccountHolder): string | undefined {
  const { uris: [uri] = [], dnsNames: [dnsName] = [], commonName } = certificate ?? {};
  if (uri !== undefined) return `uri:${uri}`;
  if (dnsName !== undefined) return `dns:${dnsName}`;
  return commonName === undefined ? undefined : `cn:${commonName}`;
}
