import type { Node } from "./node.ts";

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

/**
 * Maps a node and its peer to the names of its layers, top-most first, or refuses it. Must be pure: equal nodes and
 * peers get equal layers (S-GEN-07).
 */
export type NodeMapping = (node: Node, peer: Peer) => readonly string[] | NodeMappingRejection;

/** Refuses a client: the stream ends with PERMISSION_DENIED and this text. */
export interface NodeMappingRejection {
  readonly refused: string;
}
