import type { TermRules } from "./term-rules.ts";
import type { TypeUrl } from "./type-url.ts";

/** The discovery API that a resource type belongs to; the v2 and v3 twins of a type are of one kind. */
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

/** In what order the types of one turn leave: what ends warming first, users after what they use (S-ORD-01, S-ORD-07). */
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

/** Every kind, in the order in which they leave. */
export const typeKinds: readonly TypeKind[] = SENDING_ORDER;

/** The place of a kind in the sending order; smaller leaves first. */
export function sendingRank(kind: TypeKind): number {
  return SENDING_ORDER.indexOf(kind);
}

/** Kinds whose resources never name a Cluster. */
const STRANGERS_TO_CLUSTERS: ReadonlySet<TypeKind> = new Set(["rtds", "cds", "eds", "leds", "sds"]);

/** Whether resources of a kind may send traffic to Clusters that they name. */
export function usesClusters(kind: TypeKind): boolean {
  return !STRANGERS_TO_CLUSTERS.has(kind);
}

/** What holds for a type that nobody described: served by its URL alone (S-GEN-04, B-TRD-01). */
export function opaqueTraits(type: TypeUrl): TypeTraits {
  return { type, kind: "opaque", isFullState: false, owes: [] };
}
