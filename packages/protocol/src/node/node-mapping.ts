import type { Node } from "./node.ts";
import { type NodeMatch, nodeMatches } from "./node-match.ts";

/** The remote end of a connection, as far as the transport knows it. */
export interface Peer {
  /** `host:port` of the client. */
  readonly address: string;
  readonly isLoopback: boolean;
  /** The connection uses TLS. */
  readonly isTls: boolean;
  /** Names in the verified client certificate: subject common name and alternative names; empty without one. */
  readonly names: readonly string[];
  /** What the verified client certificate says; undefined without one. */
  readonly certificate?: PeerCertificate | undefined;
  /** A part of the server, which writes files: access does not concern it. */
  readonly isInProcess?: boolean;
}

/** The names in a verified client certificate, by kind: a name of one kind never counts as one of another. */
export interface PeerCertificate {
  readonly commonName: string | undefined;
  readonly uris: readonly string[];
  readonly dnsNames: readonly string[];
  /** When it expires. */
  readonly validTo: Date;
}

/** Maps nodes to the layers of their views: a function of the program, or rules. */
export type NodeMapping = NodeMappingFunction | GroupRules;

/**
 * Maps a node and its peer to the names of its layers, top-most first, or refuses it. Must be pure: equal nodes and
 * peers get equal layers (S-GEN-07).
 */
export type NodeMappingFunction = (node: Node, peer: Peer) => readonly string[] | NodeMappingRejection;

/** Refuses a client: the stream ends with PERMISSION_DENIED and this text. */
export interface NodeMappingRejection {
  readonly refused: string;
}

/** A node mapping as plain data. A node sees its own layer `node/ID`, those of its groups in their order, and `base`. */
export interface GroupRules {
  readonly groups: readonly GroupRule[];
}

/** Puts the nodes that match into a group, whose layer is `group/NAME`. */
export interface GroupRule {
  readonly name: string;
  readonly match: NodeMatch;
}

const GROUP_LAYER = "group/";
/** Prefix of the layers of one node. */
export const NODE_LAYER = "node/";

/**
 * The layers of a node by rules, or by a function. With rules it sees only layers that exist, so that nodes with equal
 * layers share a view.
 */
export function layersFor(
  mapping: NodeMapping,
  { node, peer }: { readonly node: Node; readonly peer: Peer },
  exists: (layer: string) => boolean,
): readonly string[] | NodeMappingRejection {
  if (typeof mapping === "function") return mapping(node, peer);
  const layers = new Set<string>();
  if (node.id !== "" && exists(NODE_LAYER + node.id)) layers.add(NODE_LAYER + node.id);
  for (const { name, match } of mapping.groups)
    if (exists(GROUP_LAYER + name) && nodeMatches(match, node)) layers.add(GROUP_LAYER + name);
  return [...layers, "base"];
}

/** Whether, of layers that came into being or went, one may concern a node that rules map. */
export function mayConcern(layers: ReadonlySet<string>, { id }: Node): boolean {
  if (layers.has(NODE_LAYER + id)) return true;
  for (const layer of layers) if (layer.startsWith(GROUP_LAYER)) return true;
  return false;
}
