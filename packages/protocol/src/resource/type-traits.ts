import type { TermRules } from "./term-rules.ts";
import type { TypeKind } from "./type-kinds.ts";
import type { TypeUrl } from "./type-url.ts";

/** What the protocol has to know about a resource type. The catalog of `envoy-api` has one for each. */
export interface TypeTraits {
  readonly type: TypeUrl;
  readonly kind: TypeKind;
  /** The same type in the other version of the API; a method that serves the one serves the other too (S-TYP-06). */
  readonly twin?: TypeUrl;
  /** In State of the World, a response holds every resource of the type: what is missing is deleted (S-RES-03). */
  readonly isFullState: boolean;
  /**
   * Types that a client waits for again whenever a resource of this type that refers to them is added or changed:
   * a Cluster needs its ClusterLoadAssignment anew, even an unchanged one (S-WRM-08).
   */
  readonly owes: readonly TypeUrl[];
  /**
   * The bytes of a resource of that name that says "there is none": sent to a client that waits for a name which something
   * it was told of refers to, so that it stops waiting (architecture.md 3, a cluster without endpoints).
   */
  readonly placeholder?: (name: string) => Uint8Array;
  /** What terms its resources answer to besides their names and aliases (S-VHD-03). */
  readonly terms?: TermRules;
}

/** What holds for a type that nobody described: served by its URL alone (S-GEN-04, B-TRD-01). */
export function opaqueTraits(type: TypeUrl): TypeTraits {
  return { type, kind: "opaque", isFullState: false, owes: [] };
}
