import type { TypeUrl } from "@xdskit/protocol";
import type { TypeTraits } from "@xdskit/protocol/internal";
import { type CatalogEntry, traitsFrom } from "./entry.ts";

/** Returns the traits of the v2 twins: those of the v3 types with v2 types in place of v3 ones. */
export function twinTraits(catalog: readonly CatalogEntry[]): readonly (readonly [TypeUrl, TypeTraits])[] {
  const twins = new Map(catalog.map((entry) => [entry.type, entry.v2Twin]));
  return catalog.flatMap((entry) => {
    if (entry.v2Twin === undefined) return [];
    const owesInV2 = entry.owes.flatMap((type) => twins.get(type) ?? []);
    return [[entry.v2Twin, traitsFrom(entry, entry.v2Twin, owesInV2, entry.type)] as const];
  });
}
