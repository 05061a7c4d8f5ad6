import type { AdminReply } from "../../workers/messages.ts";
import type { Workers } from "../../workers/workers.ts";
import { type Query, QueryError } from "../query.ts";
import type { AdminAnswer } from "../route.ts";
import { wholeAnswer } from "../whole-answer.ts";

/** Makes one answer of those of all processes, of which the primary's is the first. */
export type Merge = (values: readonly unknown[]) => unknown;

/** A page as routes answer it, with all items up to its end. */
interface WholePage {
  readonly items: readonly unknown[];
  readonly total: number;
}

/** A page of the items of all processes; how many there are follows from how many the merge has left. */
export function mergedPages(mergeItems: (lists: readonly (readonly unknown[])[]) => readonly unknown[]): Merge {
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

export interface Asked {
  readonly url: URL;
  readonly query: Query;
  readonly isPage: boolean;
  readonly workers: Workers;
  /** Answers another query in this process. */
  readonly answer: (parameters: URLSearchParams) => AdminAnswer | Promise<AdminAnswer>;
}

/** Answers for all processes. */
export async function mergedAnswer(merge: Merge, { url, query, isPage, workers, answer }: Asked): Promise<AdminAnswer> {
  const offset = query.count("offset") ?? 0;
  const limit = query.count("limit");
  const parameters = new URLSearchParams(url.searchParams);
  if (isPage) {
    parameters.delete("offset");
    if (limit !== undefined) parameters.set("limit", String(offset + limit));
  }
  const text = parameters.toString();
  const target = text === "" ? url.pathname : `${url.pathname}?${text}`;
  const replies = [await ownReply(() => answer(parameters)), ...(await workers.askAll("admin", { target }))];
  const good = replies.filter(({ status }) => status === 200).map(({ value }) => value);
  const [first] = replies;
  // What only some processes know nothing of, such as a node, is known.
  if (good.length === 0) return { kind: "json", status: first?.status ?? 500, value: first?.value };
  const value = merge(good);
  return { kind: "json", value: isPage ? pageOf(value as WholePage, offset, limit) : value };
}

async function ownReply(answer: () => AdminAnswer | Promise<AdminAnswer>): Promise<AdminReply> {
  try {
    return await wholeAnswer(await answer());
  } catch (cause) {
    if (!(cause instanceof QueryError)) throw cause;
    const { status, message: error, hint } = cause;
    return { status, value: { error, ...(hint !== undefined && { hint }) } };
  }
}

function pageOf({ items, total }: WholePage, offset: number, limit = Number.POSITIVE_INFINITY): object {
  const page = items.slice(offset, offset + limit);
  const next = offset + page.length;
  return { items: page, total, ...(next < total && page.length > 0 && { next }) };
}
