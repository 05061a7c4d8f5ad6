import type { Node } from "../../node/node.ts";
import { bytesOfValue } from "./value-cost.ts";

/** What a node with encoded metadata costs beside its fields and bytes: the node itself, and what is kept to decode it. */
const ENCODED_BYTES = 2_048;

/** The costs of the nodes whose metadata is encoded. */
const costs = new WeakMap<Node, number>();

/** Metadata as it was received, and what reads it. */
export interface EncodedMetadata {
  /** The bytes that are kept for it. */
  readonly byteLength: number;
  /** Decodes it; never throws. */
  readonly decode: () => Node["metadata"];
}

/** The metadata that was decoded last, as rules and pages read it several times in a row. */
let latest: { readonly of: EncodedMetadata; readonly metadata: Node["metadata"] } | undefined;

/**
 * Creates a node whose metadata is decoded when somebody reads it, and is not kept: decoded, it may take 90 times its
 * bytes, and a server needs that of few clients. A weak reference would keep it until the end of the turn, that of all
 * nodes where a turn looks at all of them.
 */
export function createEncodedNode(fields: Omit<Node, "metadata">, encoded: EncodedMetadata): Node {
  const node: Node = {
    ...fields,
    get metadata() {
      if (latest?.of !== encoded) latest = { of: encoded, metadata: encoded.decode() };
      return latest.metadata;
    },
  };
  costs.set(node, bytesOfValue(fields) + encoded.byteLength + ENCODED_BYTES);
  return node;
}

/** The memory that a node takes, in bytes: an upper bound (docs/decisions/0127, 0131). */
export function bytesOfNode(node: Node): number {
  return costs.get(node) ?? bytesOfValue(node);
}
