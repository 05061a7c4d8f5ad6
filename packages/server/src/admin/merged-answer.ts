import type { AdminReply } from "../workers/messages.ts";
import type { Workers } from "../workers/workers.ts";
import type { Merge, WholePage } from "./merge/merge.ts";
import { type Query, QueryError } from "./query.ts";
import type { AdminAnswer } from "./route.ts";
import { wholeAnswer } from "./whole-answer.ts";

/** A question to all processes. */
export interface MergedQuestion {
  readonly url: URL;
  readonly query: Query;
  readonly isPage: boolean;
  readonly workers: Workers;
  /** Answers another query in this process. */
  readonly answer: (parameters: URLSearchParams) => AdminAnswer | Promise<AdminAnswer>;
}

/** Answers for all processes. */
export async function mergedAnswer(
  merge: Merge,
  { url, query, isPage, workers, answer }: MergedQuestion,
): Promise<AdminAnswer> {
  const offset = query.count("offset") ?? 0;
  const limit = query.count("limit");
  const parameters = new URLSearchParams(url.searchParams);
  if (isPage) {
    parameters.delete("offset");
    if (limit !== undefined) parameters.set("limit", String(offset + limit));
  }
  const text = parameters.toString();
  const target = text === "" ? url.pathname : `${url.pathname}?${text}`;
  const own = await ownReply(() => answer(parameters));
  const { answers, unresponsive } = await workers.ask("admin", { target });
  const replies = [own, ...answers.map((one) => one.answer)];
  const good = replies.filter(({ status }) => status === 200).map(({ value }) => value);
  const [first] = replies;
  // What only some processes know nothing of, such as a node, is known.
  if (good.length === 0) return { kind: "json", status: first?.status ?? 500, value: first?.value };
  const value = merge(good);
  if (!isPage) return { kind: "json", value };
  const page = pageOf(value as WholePage, offset, limit);
  return { kind: "json", value: { ...page, ...(unresponsive.length > 0 && { unresponsiveWorkers: unresponsive }) } };
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
