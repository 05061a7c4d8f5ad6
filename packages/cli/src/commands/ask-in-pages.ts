/** The largest page of the admin API. */
export const LARGEST_PAGE = 1_000;

/** The part of an answer of the admin API that says whether there is more. */
interface Page {
  /** The offset of the next page, if there is one. */
  readonly next?: number;
}

/** A page to ask for, as query parameters. */
export type PageQuery = Readonly<Record<"offset" | "limit", string>>;

/**
 * Asks for page after page until there are `limit` items or no more. `ask` gets the answer so far, which says of what
 * the pages are if the first one asked for the newest; `join` appends a page to it.
 */
export async function askInPages<T extends Page>(
  limit: number,
  ask: (page: PageQuery, soFar: T | undefined) => Promise<T>,
  join: (soFar: T, page: T) => T,
): Promise<T> {
  const pageAt = (offset: number): PageQuery => {
    return { offset: `${offset}`, limit: `${Math.min(LARGEST_PAGE, limit - offset)}` };
  };
  let answer = await ask(pageAt(0), undefined);
  while (answer.next !== undefined && answer.next < limit)
    answer = join(answer, await ask(pageAt(answer.next), answer));
  return answer;
}
