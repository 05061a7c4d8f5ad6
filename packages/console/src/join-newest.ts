/** Records, newest first. */
export interface Records<R extends { readonly number: number }> {
  readonly items: readonly R[];
  /** The `before` of the page after them. */
  readonly next: number | undefined;
}

/**
 * The newest page in front of the records that are known, unless something may be between them. As many are kept as
 * there were, so that a page that stays open does not grow; what is left out can be asked for again.
 */
export function joinNewest<R extends { readonly number: number }>(
  newest: Records<R>,
  known: Records<R> | undefined,
): Records<R> {
  const first = known?.items[0]?.number;
  if (known === undefined || first === undefined || !newest.items.some(({ number }) => number === first)) return newest;
  const added = newest.items.filter(({ number }) => number > first);
  const all = [...added, ...known.items];
  const items = all.slice(0, Math.max(known.items.length, newest.items.length));
  return { items, next: items.length < all.length ? items.at(-1)?.number : known.next };
}
