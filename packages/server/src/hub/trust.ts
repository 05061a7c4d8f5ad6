import type { NodeMapping, Peer, Status } from "@xdskit/protocol";
import { statusCode } from "@xdskit/protocol/internal";

/** Prefix of layers of one node. A plaintext client merely claims its node id. */
const NODE_LAYER = "node/";

/** Whether a peer may receive Secrets and `node/` layers: it uses TLS or loopback, or `insecure` is set. */
export function isTrusted(peer: Peer, insecure: boolean): boolean {
  return insecure || peer.isTls || peer.isLoopback;
}

/** Wraps a node mapping so that it rejects untrusted peers whose node has its own layer. */
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
 * The status for an untrusted peer that requests Secrets. It ends the whole stream, also an aggregated one: without a
 * response the client's listeners would warm forever, and nobody would see why.
 */
export const secretsRefused: Status = {
  code: statusCode.PERMISSION_DENIED,
  message: "secrets are only served over TLS or on loopback, unless the server runs insecure",
};
