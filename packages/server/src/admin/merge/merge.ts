/** Makes one answer of those of all processes, of which the primary's is the first. */
export type Merge = (values: readonly unknown[]) => unknown;

/** A page as routes answer it, with all items up to its end. */
export interface WholePage {
  readonly items: readonly unknown[];
  readonly total: number;
}

/** A page of the items of all processes; how many there are follows from how many the merge has left. */
function mergedPages(mergeItems: (lists: readonly (readonly unknown[])[]) => readonly unknown[]): Merge {
  return (values) => {
    const pages = values as readonly WholePage[];
    const items = mergeItems(pages.map((one) => one.items));
    const listed = pages.reduce((sum, one) => sum + one.items.length, 0);
    const total = pages.reduce((sum, one) => sum + one.total, 0) - (listed - items.length);
    return { items, total };
  };
}

/** The items of one process after those of the other. */
export const inTurn: Merge = mergedPages((lists) => lists.flat());

/** Items of which several processes have the same one. */
export function byKey<T>(keyOf: (item: T) => string, join: (one: T, other: T) => T): Merge {
  return mergedPages((lists) => {
    const joined = new Map<string, T>();
    for (const item of lists.flat() as readonly T[]) {
      const known = joined.get(keyOf(item));
      joined.set(keyOf(item), known === undefined ? item : join(known, item));
    }
    return [...joined].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, item]) => item);
  });
}
