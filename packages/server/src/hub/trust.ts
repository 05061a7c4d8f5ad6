import type { NodeMapping, Peer, Status } from "@xdskit/protocol";
import { statusCode } from "@xdskit/protocol/internal";

/** Layers of this prefix belong to one node, whose identity a plaintext client merely claims. */
const NODE_LAYER = "node/";

/**
 * Whether a peer may be given Secrets and the layers of single nodes: it is encrypted or on this machine.
 * With `insecure` everybody is trusted.
 */
export function isTrusted(peer: Peer, insecure: boolean): boolean {
  return insecure || peer.isTls || peer.isLoopback;
}

/** A node mapping that refuses untrusted peers whose node has a layer of its own. */
export function guardNodeMapping(nodeMapping: NodeMapping, insecure: boolean): NodeMapping {
  if (insecure) return nodeMapping;
  return (node, peer) => {
    const layers = nodeMapping(node, peer);
    if ("refused" in layers || isTrusted(peer, insecure)) return layers;
    const own = layers.find((layer) => layer.startsWith(NODE_LAYER));
    if (own === undefined) return layers;
    return { refused: `layer "${own}" is only served over TLS or on loopback, unless the server runs insecure` };
  };
}

/**
 * What an untrusted peer gets that asks for Secrets. Also on an aggregated stream the whole stream ends: a client that is
 * merely not answered would keep its listeners warming for ever, and nobody would read why.
 */
export const secretsRefused: Status = {
  code: statusCode.PERMISSION_DENIED,
  message: "secrets are only served over TLS or on loopback, unless the server runs insecure",
};
