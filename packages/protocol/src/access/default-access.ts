import type { Node } from "../node/node.ts";
import { NODE_LAYER, type Peer, type PeerCertificate } from "../node/node-mapping.ts";
import type { TypeUrl } from "../resource/type-url.ts";
import { type AccessGrant, type AccessPolicy, wholeGrant } from "./access-policy.ts";

export interface DefaultAccessOptions {
  readonly isSecret: (type: TypeUrl) => boolean;
}

/**
 * Access without rules. Clients on the loopback interface, and those whose certificate names the node that they claim to
 * be, may have everything; others get no Secrets, and are refused where the node has a layer of its own.
 */
export function defaultAccess({ isSecret }: DefaultAccessOptions): AccessPolicy {
  const withoutSecrets: AccessGrant = {
    key: "no secrets",
    isWhole: false,
    visible: (_layer, type) => (isSecret(type) ? "none" : "all"),
  };
  return {
    grant({ peer, node }, layers) {
      if (peer.isLoopback || isNamedBy(peer.certificate, node)) return wholeGrant;
      const own = layers.find((layer) => layer.startsWith(NODE_LAYER));
      return own === undefined ? withoutSecrets : { denied: `layer "${own}" ${needsIdentity(peer, node)}` };
    },
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
