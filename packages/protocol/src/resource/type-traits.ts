import type { TermRules } from "./term-rules.ts";
import type { TypeKind } from "./type-kinds.ts";
import type { TypeUrl } from "./type-url.ts";

/** What the protocol needs to know about a resource type. The catalog of `envoy-api` has the traits of each. */
export interface TypeTraits {
  readonly type: TypeUrl;
  readonly kind: TypeKind;
  /** The same type in the other API version; a method that serves one also serves the other (S-TYP-06). */
  readonly twin?: TypeUrl;
  /** In State of the World, a response holds every resource of the type, and what it omits is deleted (S-RES-03). */
  readonly isFullState: boolean;
  /**
   * Types that a client awaits again whenever a resource of this type that refers to them is added or changed: a
   * Cluster needs its ClusterLoadAssignment resent, even unchanged (S-WRM-08).
   */
  readonly owes: readonly TypeUrl[];
  /**
   * Encodes a resource that means "there is none". Sent to a client that waits for a name to which something it holds
   * refers, so that the wait ends (architecture.md 3, a cluster without endpoints).
   */
  readonly placeholder?: (name: string) => Uint8Array;
  /**
   * Whether a client goes on warming a resource when it has all that it refers to: a Cluster, until its hosts had their first
   * health check.
   */
  readonly warmsOn?: (bytes: Uint8Array) => boolean;
  /**
   * The addresses that a resource binds: a client rejects a resource that binds one that another resource of the type
   * has.
   */
  readonly addressesIn?: (bytes: Uint8Array) => readonly string[];
  /** How its resources match terms besides their names and aliases (S-VHD-03). */
  readonly terms?: TermRules;
  /** The type of the resources that collections of `terms` belong to. */
  readonly owner?: TypeUrl;
}

/** Returns the traits of a type without a descriptor, served by its URL alone (S-GEN-04, B-TRD-01). */
export function opaqueTraits(type: TypeUrl): TypeTraits {
  return { type, kind: "opaque", isFullState: false, owes: [] };
}
