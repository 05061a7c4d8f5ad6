import type { TypeTraits, TypeUrl } from "@xdskit/protocol";
import type { CatalogEntry } from "./entry.ts";

/** The traits of the v2 twins: those of their v3 type, with v2 types in the place of the v3 ones. */
export function twinTraits(catalog: readonly CatalogEntry[]): readonly (readonly [TypeUrl, TypeTraits])[] {
  const twins = new Map(catalog.map((entry) => [entry.type, entry.v2Twin]));
  return catalog.flatMap(({ v2Twin, kind, isFullState, owes }) => {
    if (v2Twin === undefined) return [];
    const owesInV2 = owes.flatMap((type) => twins.get(type) ?? []);
    return [[v2Twin, { type: v2Twin, kind, isFullState, owes: owesInV2 }] as const];
  });
}
