import type { Peer } from "../node/node-mapping.ts";
import { type AccessClaim, type AccessGrant, type AccessRefusal, wholeGrant } from "./access-policy.ts";
import type { EntryPoint } from "./access-rules.ts";

/** Whom the setting for client status (CSDS) lets in where no rules do. */
export type StatusReaders = "off" | "loopback" | "certificate" | "everybody";

/**
 * What holds without rules at the entry points where nobody speaks for a node: health, reflection and metrics are for
 * everybody, the admin API goes by role, client status by its setting. Undefined for the others.
 */
export function usualAccess(
  { entryPoint, peer, role }: AccessClaim,
  statusReaders: StatusReaders,
): AccessGrant | AccessRefusal | undefined {
  switch (entryPoint) {
    case "health":
    case "reflection":
    case "metrics":
      return wholeGrant;
    case "csds":
      return maySeeStatus(peer, statusReaders) ? wholeGrant : refusedStatus(statusReaders);
    case "admin":
      return role === undefined ? { denied: "reading the admin API needs the role viewer" } : wholeGrant;
    case "admin-change":
      return role === "operator" ? wholeGrant : { denied: "changing through the admin API needs the role operator" };
    case "ads":
    case "stream":
    case "fetch":
    case "rest":
    case "lrs":
    case "hds":
      return undefined;
    default:
      return entryPoint satisfies never;
  }
}

/** Whether rules that name an entry point close it to everybody else: otherwise they only add to who may come in. */
export function isOpenUnlessNamed(entryPoint: EntryPoint): boolean {
  return entryPoint === "health" || entryPoint === "reflection" || entryPoint === "metrics";
}

export function refusedStatus(readers: StatusReaders): AccessRefusal {
  if (readers === "off") {
    return { denied: "client-status is off", told: "client status is not told here (client-status)" };
  }
  const who = readers === "certificate" ? "this machine and clients with a certificate" : "this machine";
  return { denied: `client-status is ${readers}`, told: `client status is only told to ${who} (client-status)` };
}

/** Client status reveals the configuration of every client; by default only this machine may see it. */
function maySeeStatus(peer: Peer, readers: StatusReaders): boolean {
  switch (readers) {
    case "off":
      return false;
    case "loopback":
      return peer.isLoopback;
    case "certificate":
      return peer.isLoopback || peer.names.length > 0;
    case "everybody":
      return true;
    default:
      return readers satisfies never;
  }
}
