import type { Node } from "./node.ts";

/** Who is at the other end of a connection, as far as the transport can tell. */
export interface Peer {
  /** `host:port` of the client. */
  readonly address: string;
  readonly isLoopback: boolean;
  /** The connection is encrypted. */
  readonly isTls: boolean;
  /** Names in a client certificate that was verified: subject common name and alternative names; empty without one. */
  readonly names: readonly string[];
}

/**
 * The layers that a node sees, top-most first, or why it may not see any.
 * A pure function: equal nodes and peers are placed equally (S-GEN-07).
 */
export type Placement = (node: Node, peer: Peer) => readonly string[] | PlacementRefusal;

/** The client is known but must not be served: the stream ends with PERMISSION_DENIED and this text. */
export interface PlacementRefusal {
  readonly refused: string;
}
