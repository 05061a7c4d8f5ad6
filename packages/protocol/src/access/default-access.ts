import { anonymousNode, type Node } from "../node/node.ts";
import { NODE_LAYER, type Peer, type PeerCertificate } from "../node/node-mapping.ts";
import type { TypeUrl } from "../resource/type-url.ts";
import {
  type AccessClaim,
  type AccessGrant,
  type AccessPolicy,
  type AccessRefusal,
  roleReasons,
  verdictOf,
  wholeGrant,
} from "./access-policy.ts";
import { type StatusReaders, usualAccess } from "./usual-access.ts";

export interface DefaultAccessOptions {
  readonly isSecret: (type: TypeUrl) => boolean;
  readonly statusReaders?: StatusReaders;
  /** Every client may have everything. */
  readonly insecure?: boolean;
}

const REASONS = {
  allowed: "there are no access rules",
  hidden: "Secrets need loopback, a client certificate that names the node, an access rule, or a server run insecure",
};
const REASONS_INSECURE = { allowed: "the server is run insecure, without access rules", hidden: "" };

/**
 * Access without rules. Clients on the loopback interface, and those whose certificate names the node that they claim to
 * be, may have everything; others get no Secrets, and are refused where the node has a layer of its own.
 */
export function defaultAccess({
  isSecret,
  statusReaders = "loopback",
  insecure = false,
}: DefaultAccessOptions): AccessPolicy {
  const withoutSecrets: AccessGrant = {
    key: "no secrets",
    isWhole: false,
    visible: (_layer, type) => (isSecret(type) ? "none" : "all"),
  };
  const grant = (claim: AccessClaim, layers: readonly string[]): AccessGrant | AccessRefusal => {
    const usual = usualAccess(claim, statusReaders);
    if (usual !== undefined) return usual;
    const { peer, node = anonymousNode } = claim;
    if (insecure || peer.isLoopback || isNamedBy(peer.certificate, node)) return wholeGrant;
    const own = layers.find((layer) => layer.startsWith(NODE_LAYER));
    return own === undefined ? withoutSecrets : { denied: `layer "${own}" ${needsIdentity(peer, node)}` };
  };
  return {
    grant,
    explain: (claim, layers, asked) =>
      verdictOf(grant(claim, layers), layers, asked, roleReasons(claim) ?? (insecure ? REASONS_INSECURE : REASONS)),
  };
}

/** Why a client without rules is not trusted, for the operator. */
function needsIdentity({ certificate }: Peer, { id }: Node): string {
  const has = certificate === undefined ? "the client has none" : `it names ${namesOf(certificate).join(", ")}`;
  return `needs a client certificate that names the node "${id}" (${has}), an access rule, or a server run insecure`;
}

/** Whether a certificate names a node: one of its URIs or DNS names is the node's id. */
function isNamedBy(certificate: PeerCertificate | undefined, { id }: Node): boolean {
  return certificate !== undefined && id !== "" && namesOf(certificate).includes(id);
}

/** The common name counts only without other names, as in TLS. */
function namesOf({ commonName, uris, dnsNames }: PeerCertificate): readonly string[] {
  const names = [...uris, ...dnsNames];
  return names.length > 0 || commonName === undefined ? names : [commonName];
}
