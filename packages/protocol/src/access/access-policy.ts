import type { Node } from "../node/node.ts";
import type { Peer } from "../node/node-mapping.ts";
import type { TypeUrl } from "../resource/type-url.ts";
import type { EntryPoint } from "./access-rules.ts";

/** A client that claims to be a node. */
export interface AccessClaim {
  readonly entryPoint: EntryPoint;
  readonly peer: Peer;
  readonly node: Node;
}

/** Which resources of one type in one layer are visible: all, none, or those whose names fit. */
export type NameFilter = "all" | "none" | ((name: string) => boolean);

/** What a client may have. */
export interface AccessGrant {
  /** Equal for grants that show the same. */
  readonly key: string;
  /** Whether everything is visible. */
  readonly isWhole: boolean;
  visible(layer: string, type: TypeUrl): NameFilter;
}

/** Why a client may not be the node that it claims to be. */
export interface AccessRefusal {
  /** For the operator. The client is told less. */
  readonly denied: string;
}

/** Decides what clients may have. Must be pure. `layers`: those that the node mapping gives the node. */
export interface AccessPolicy {
  grant(claim: AccessClaim, layers: readonly string[]): AccessGrant | AccessRefusal;
}

/** Everything is visible. */
export const wholeGrant: AccessGrant = { key: "", isWhole: true, visible: () => "all" };

/** Allows everything. */
export const openAccess: AccessPolicy = { grant: () => wholeGrant };

/** Whether nothing of a type in these layers is visible, whatever there is. */
export function isTypeDenied(grant: AccessGrant, layers: readonly string[], type: TypeUrl): boolean {
  return !grant.isWhole && layers.length > 0 && layers.every((layer) => grant.visible(layer, type) === "none");
}
