/** The discovery API that a resource type belongs to; the v2 and v3 types of an API are of one kind. `opaque`: of none. */
export type TypeKind =
  | "rtds"
  | "cds"
  | "eds"
  | "leds"
  | "sds"
  | "lds"
  | "srds"
  | "rds"
  | "trds"
  | "ecds"
  | "vhds"
  | "opaque";

/** What is true of every resource type of one kind. */
export interface TypeKindRow {
  /** Its resources may send traffic to Clusters that they name (S-ORD-01). */
  readonly usesClusters: boolean;
  /** Its resources hold keys or certificates: only trusted peers get them. */
  readonly isSecret: boolean;
  /** It changes by itself, all day: it is published at once, is not part of the history and is never rolled back. */
  readonly isLive: boolean;
  /** A client that starts waits for a missing resource of this kind, since the server does not answer for it. */
  readonly isAwaited: boolean;
  /** A client goes on sending traffic by a deleted resource of this kind, as long as another one refers to it. */
  readonly outlivesDeletion: boolean;
  /** A client rejects two resources of this kind with the same domain or key. */
  readonly isExclusive: boolean;
  /** Only the delta protocol serves it, one name at a time. */
  readonly isDeltaOnly: boolean;
  /** Kinds that refer to it; a resource that none of them names is unused. Empty: clients ask for it unprompted. */
  readonly usedBy: readonly TypeKind[];
  /** Its place in the order in which files are written, smaller first; undefined where no file holds it. */
  readonly fileRank?: number;
}

type Traits = Omit<TypeKindRow, "fileRank">;
const common: Traits = {
  usesClusters: false,
  isSecret: false,
  isLive: false,
  isAwaited: false,
  outlivesDeletion: false,
  isExclusive: false,
  isDeltaOnly: false,
  usedBy: [],
};
const user: Traits = { ...common, usesClusters: true };

/**
 * One row for each kind, in the order in which a flush sends them: what ends warming first, then users after what they use
 * (S-ORD-01, S-ORD-07). A new kind is one row here and one entry in the catalog of `@xdskit/envoy-api`.
 */
export const typeKindTable: Readonly<Record<TypeKind, TypeKindRow>> = {
  rtds: { ...common, fileRank: 2 },
  cds: { ...common, fileRank: 7 },
  eds: { ...common, isLive: true, usedBy: ["cds"], fileRank: 4 },
  leds: { ...common, isLive: true, isDeltaOnly: true },
  sds: { ...common, isSecret: true, isLive: true, isAwaited: true, usedBy: ["lds", "cds"], fileRank: 1 },
  lds: { ...user, fileRank: 10 },
  srds: { ...user, isExclusive: true, fileRank: 9 },
  rds: { ...user, isAwaited: true, outlivesDeletion: true, usedBy: ["lds", "srds"], fileRank: 8 },
  trds: { ...user, isAwaited: true, outlivesDeletion: true, fileRank: 6 },
  ecds: { ...user, isAwaited: true, outlivesDeletion: true, fileRank: 5 },
  vhds: { ...user, isAwaited: true, isExclusive: true, isDeltaOnly: true },
  // Served by its type URL alone: nothing is known of what its resources refer to.
  opaque: { ...user, fileRank: 3 },
};

/** Every kind, in sending order. */
export const typeKinds: readonly TypeKind[] = Object.keys(typeKindTable) as TypeKind[];

const ranks: ReadonlyMap<TypeKind, number> = new Map(typeKinds.map((kind, rank) => [kind, rank]));

/** The place of a kind in the sending order; smaller is sent first. */
export function sendingRank(kind: TypeKind): number {
  return ranks.get(kind) ?? ranks.size;
}
