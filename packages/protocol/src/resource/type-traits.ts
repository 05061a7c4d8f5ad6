import type { TermRules } from "./term-rules.ts";
import type { TypeUrl } from "./type-url.ts";

/** The discovery service of a resource type; the v2 and v3 twins of a type are of one kind. */
export type TypeKind =
  | "cds"
  | "eds"
  | "sds"
  | "lds"
  | "srds"
  | "rds"
  | "ecds"
  | "vhds"
  | "rtds"
  | "leds"
  | "trds"
  | "opaque";

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
  /** How its resources match terms besides their names and aliases (S-VHD-03). */
  readonly terms?: TermRules;
}

/**
 * The order in which the types of one flush are sent: first those that end warming, then users after what they use
 * (S-ORD-01, S-ORD-07).
 */
const SENDING_ORDER: readonly TypeKind[] = [
  "rtds",
  "cds",
  "eds",
  "leds",
  "sds",
  "lds",
  "srds",
  "rds",
  "trds",
  "ecds",
  "vhds",
  "opaque",
];

/** Every kind, in sending order. */
export const typeKinds: readonly TypeKind[] = SENDING_ORDER;

/** Returns the position of a kind in the sending order; the smaller is sent first. */
export function sendingRank(kind: TypeKind): number {
  return SENDING_ORDER.indexOf(kind);
}

/** Kinds whose resources never refer to a Cluster. */
const STRANGERS_TO_CLUSTERS: ReadonlySet<TypeKind> = new Set(["rtds", "cds", "eds", "leds", "sds"]);

/** Whether resources of a kind may route traffic to Clusters. */
export function usesClusters(kind: TypeKind): boolean {
  return !STRANGERS_TO_CLUSTERS.has(kind);
}

/** Returns the traits of a type without a descriptor, served by its URL alone (S-GEN-04, B-TRD-01). */
export function opaqueTraits(type: TypeUrl): TypeTraits {
  return { type, kind: "opaque", isFullState: false, owes: [] };
}
