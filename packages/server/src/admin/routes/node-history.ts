import { printableReason } from "../../observe/printable.ts";
import type { NodeHistoryAnswer, NodePastAnswer } from "../answers/revisions.ts";
import { type Query, QueryError } from "../query.ts";
import type { Route } from "../route.ts";
import { errorAnswer } from "../schema/page.ts";
import { nodeHistoryAnswer } from "../schema/revisions.ts";
import { describeRecord, limitOf, pageSize } from "./revisions.ts";

/** What a node had and NACKed, and by whose change. */
export const nodeHistory: Route = {
  path: "/api/v1/nodes/{id}/history",
  says: "which numbers a node had since when, or NACKed, and by whose change, newest first; also of a node that is gone",
  parameters: {
    at: "an ISO 8601 time: only what it had then",
    limit: `maximum number of items, at most ${pageSize.most} (default: ${pageSize.usual})`,
    offset: "number of items to skip; `next` of the previous page",
  },
  kinds: { limit: "count", offset: "count" },
  answers: { 200: nodeHistoryAnswer, 503: errorAnswer },
  async answer({ view, describe }, query) {
    const ledger = view.ledger();
    const node = query.text("id") ?? "";
    // Workers tell what their nodes reached once a second.
    await view.workers?.askAll("past", {});
    const past = (await view.nodePast.of(node)).toReversed();
    const at = timeIn(query);
    const had = at === undefined ? undefined : past.find(({ time, nacked }) => time <= at && nacked === undefined);
    const all = at === undefined ? past : had === undefined ? [] : [had];
    const offset = query.count("offset") ?? 0;
    const items: NodePastAnswer[] = [];
    for (const { number, time, nacked } of all.slice(offset, offset + limitOf(query))) {
      const record = await ledger?.history.record(number);
      const revision = record && ledger && (await describeRecord(ledger, record));
      items.push({
        number,
        time: new Date(time).toISOString(),
        ...(nacked !== undefined && {
          nacked: { ...describe.type(nacked.type), reason: printableReason(nacked.reason) },
        }),
        ...(revision !== undefined && { revision }),
      });
    }
    const next = offset + items.length;
    const isMore = next < all.length && items.length > 0;
    const value: NodeHistoryAnswer = { node, items, total: all.length, ...(isMore && { next }) };
    return { kind: "json", value };
  },
};

function timeIn(query: Query): number | undefined {
  const text = query.text("at");
  if (text === undefined) return undefined;
  const time = Date.parse(text);
  if (!Number.isNaN(time)) return time;
  throw new QueryError(400, `at: expected a time such as 2026-11-24T02:30:00Z, got ${JSON.stringify(text)}`);
}
