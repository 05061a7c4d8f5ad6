import { messageNameOf, parseTypeUrl, type TypeUrl } from "@xdskit/protocol";
import type { TypeTraits } from "@xdskit/protocol/internal";
import { catalog } from "./entries.ts";
import { type CatalogEntry, traitsFrom } from "./entry.ts";

const byType: ReadonlyMap<TypeUrl, CatalogEntry> = new Map(catalog.map((entry) => [entry.type, entry]));

const byTwin: ReadonlyMap<TypeUrl | undefined, CatalogEntry> = new Map(catalog.map((entry) => [entry.v2Twin, entry]));

const traitsByType: ReadonlyMap<TypeUrl, TypeTraits> = new Map([
  ...catalog.map((entry): [TypeUrl, TypeTraits] => [
    entry.type,
    traitsFrom(entry, { type: entry.type, owes: entry.owes, owner: entry.owner, twin: entry.v2Twin }),
  ]),
  ...twinTraits(catalog),
]);

/** Returns the entry of a v3 type; undefined if there is none. */
export function entryOf(type: TypeUrl): CatalogEntry | undefined {
  return byType.get(type);
}

/** Returns the entry whose v2 twin is this type; undefined if there is none. */
export function entryOfTwin(type: TypeUrl): CatalogEntry | undefined {
  return byTwin.get(type);
}

/** Returns the traits of a type or of a v2 twin; undefined if it is not in the catalog. */
export function traitsOf(type: TypeUrl): TypeTraits | undefined {
  return traitsByType.get(type);
}

/** Finds a type by short name, message name, full message name or type URL; the first two ignore case. */
export function typeCalled(text: string): TypeUrl | undefined {
  if (text === "") return undefined;
  const wanted = text.toLowerCase();
  const named = catalog.find(
    ({ type, shortName }) => shortName === wanted || simpleName(type).toLowerCase() === wanted,
  );
  if (named !== undefined) return named.type;
  const type = parseTypeUrl(text);
  return type !== undefined && traitsByType.has(type) ? type : undefined;
}

function simpleName(type: TypeUrl): string {
  const name = messageNameOf(type);
  return name.slice(name.lastIndexOf(".") + 1);
}

/** Returns the traits of the v2 twins: those of the v3 types with v2 types in place of v3 ones. */
function twinTraits(catalog: readonly CatalogEntry[]): readonly (readonly [TypeUrl, TypeTraits])[] {
  const twins = new Map(catalog.map((entry) => [entry.type, entry.v2Twin]));
  return catalog.flatMap((entry) => {
    if (entry.v2Twin === undefined) return [];
    const owes = entry.owes.flatMap((type) => twins.get(type) ?? []);
    const owner = entry.owner && twins.get(entry.owner);
    return [[entry.v2Twin, traitsFrom(entry, { type: entry.v2Twin, owes, owner, twin: entry.type })] as const];
  });
}
