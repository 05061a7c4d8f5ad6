import type { NodeAnswer } from "../answers/nodes.ts";
import type { HolderAnswer } from "../answers/resources.ts";
import { byKey, type Merge } from "./merge.ts";

/** A node may have streams in several processes. */
export const mergeNodes: Merge = byKey<NodeAnswer>(({ id }) => id, joinNodes);

/** What a node has of a resource is known to the process where it subscribes to it. */
export const mergeHolders: Merge = byKey<HolderAnswer>(
  ({ node }) => node,
  (one, other) => (one.status === "not-subscribed" ? other : one),
);

function joinNodes(one: NodeAnswer, other: NodeAnswer): NodeAnswer {
  const connectedAt = [one, other].flatMap((node) => node.connectedAt ?? []).sort()[0];
  const lastRequestAt = [one, other]
    .flatMap((node) => node.lastRequestAt ?? [])
    .sort()
    .at(-1);
  return {
    ...one,
    streams: [...one.streams, ...other.streams],
    types: [...one.types, ...other.types],
    ...(connectedAt !== undefined && { connectedAt }),
    ...(lastRequestAt !== undefined && { lastRequestAt }),
  };
}
