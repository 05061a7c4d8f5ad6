import type { TypeTraits, TypeUrl } from "@xdskit/protocol";
import { type CatalogEntry, traitsFrom } from "./entry.ts";

/** The traits of the v2 twins: those of their v3 type, with v2 types in the place of the v3 ones. */
export function twinTraits(catalog: readonly CatalogEntry[]): readonly (readonly [TypeUrl, TypeTraits])[] {
  const twins = new Map(catalog.map((entry) => [entry.type, entry.v2Twin]));
  return catalog.flatMap((entry) => {
    if (entry.v2Twin === undefined) return [];
    const owesInV2 = entry.owes.flatMap((type) => twins.get(type) ?? []);
    return [[entry.v2Twin, traitsFrom(entry, entry.v2Twin, owesInV2, entry.type)] as const];
  });
}
