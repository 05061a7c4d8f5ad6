import type { Node } from "../../node/node.ts";
import { bytesOfValue } from "./value-cost.ts";

/** What a node with encoded metadata costs beside its fields and bytes: the node itself, and what is kept to decode it. */
const ENCODED_BYTES = 2_048;

/** Metadata as it was received, and what reads it. */
export interface EncodedMetadata {
  /** The bytes that are kept for it. */
  readonly byteLength: number;
  /** Decodes it; never throws. */
  readonly decode: () => Node["metadata"];
}

/** What is kept of each node whose metadata is encoded, and what the node costs. */
const kept = new WeakMap<object, { readonly encoded: EncodedMetadata; readonly bytes: number }>();

/** The metadata that was decoded last, as rules and pages read it several times in a row. */
let latest: { readonly of: EncodedMetadata; readonly metadata: Node["metadata"] } | undefined;

/** One for all nodes: with a getter of its own each would have a shape of its own, 1 KB, and would be slow to read. */
const decoded: PropertyDescriptor = {
  enumerable: true,
  get(this: object): Node["metadata"] {
    const encoded = kept.get(this)?.encoded;
    if (encoded === undefined) return {};
    if (latest?.of !== encoded) latest = { of: encoded, metadata: encoded.decode() };
    return latest.metadata;
  },
};

/**
 * Creates a node whose metadata is decoded when somebody reads it, and is not kept: decoded, it may take 90 times its
 * bytes, and a server needs that of few clients. A weak reference would keep it until the end of the turn, that of all
 * nodes where a turn looks at all of them.
 */
export function createEncodedNode(fields: Omit<Node, "metadata">, encoded: EncodedMetadata): Node {
  // Not a spread: what is added to the copy would give it a shape of its own.
  const node = Object.defineProperty(Object.assign({}, fields), "metadata", decoded) as Node;
  kept.set(node, { encoded, bytes: bytesOfValue(fields) + encoded.byteLength + ENCODED_BYTES });
  return node;
}

/** The memory that a node takes, in bytes: an upper bound (docs/decisions/0127, 0131). */
export function bytesOfNode(node: Node): number {
  return kept.get(node)?.bytes ?? bytesOfValue(node);
}
