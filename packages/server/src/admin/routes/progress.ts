import { globMatches, type LedgerRecord } from "@xdskit/protocol/internal";
import { problemCounts } from "@xdskit/source/checks";
import { untilEnded } from "../../until-ended.ts";
import type { ProgressAnswer } from "../answers/progress.ts";
import { describeProgress, NODES_NAMED } from "../describe-progress.ts";
import { progressOfAll } from "../merge/progress.ts";
import { type Query, QueryError } from "../query.ts";
import { withPlaces } from "../rejection-places.ts";
import type { AdminAnswer, AdminSources, Route } from "../route.ts";
import { errorAnswer } from "../schema/page.ts";
import { progressAnswer } from "../schema/progress.ts";
import type { AdminView } from "../view.ts";

/** The longest wait of one request, in seconds. */
const MAX_WAIT_SECONDS = 30;

/** Which nodes have a revision, and which keep it back. */
export const progress: Route = {
  path: "/api/v1/progress/{revision}",
  says: "which nodes have a revision: a number, `head`, or `source` for the files as they are now; a server that a program feeds answers for `head`",
  parameters: {
    node: "only nodes whose id matches this glob",
    "min-nodes": "minimum number of nodes that must have it (default: 0)",
    limit: `how many nodes a list names at most (default: ${NODES_NAMED})`,
    wait: `seconds to wait until nothing is pending, at most ${MAX_WAIT_SECONDS} (default: 0)`,
  },
  kinds: { "min-nodes": "count", limit: "count", wait: "count" },
  answers: { 200: progressAnswer, 409: errorAnswer, 503: errorAnswer },
  async answer(sources, query) {
    const waits = query.count("wait") ?? 0;
    if (waits > MAX_WAIT_SECONDS)
      throw new QueryError(400, `wait: expected at most ${MAX_WAIT_SECONDS} seconds, got ${waits}`);
    const revision = await askedRevision(sources, query);
    return typeof revision === "number" ? answerProgress(sources, query, { revision, waits }) : revision;
  },
};

async function answerProgress(
  { view, describe, left: signal }: AdminSources,
  query: Query,
  { revision, waits }: { readonly revision: number; readonly waits: number },
): Promise<AdminAnswer> {
  const pattern = query.text("node");
  const isWanted = (id: string): boolean => pattern === undefined || globMatches(pattern, id);
  const minNodes = query.count("min-nodes") ?? 0;
  const inForce = view.revisionOf(revision) ?? view.revision();
  const named = query.count("limit") ?? NODES_NAMED;
  const describeOwn = (): ProgressAnswer => {
    const found = { ...view.deployments.progress(inForce, { isWanted }), revision };
    return describeProgress(found, { head: view.head(), minNodes, describe, named });
  };
  if (view.workers !== undefined) {
    const asked = { number: revision, nodes: pattern, named, minNodes, waitMs: waits * 1000, signal };
    const ofAll = await progressOfAll(view.workers, describeOwn, asked);
    return { kind: "json", value: await withPlaces(ofAll, view) };
  }
  if (waits > 0) {
    await untilEnded({ signal, timeoutMs: waits * 1000 }, (ended) =>
      view.deployments.whenSettled(inForce, { isWanted, minNodes }, ended),
    );
  }
  return { kind: "json", value: await withPlaces(describeOwn(), view) };
}

/** The revision in the path. A source with errors is an answer with status 409. */
async function askedRevision({ view }: AdminSources, query: Query): Promise<number | AdminAnswer> {
  const text = query.text("revision") ?? "";
  if (text === "source") {
    await view.refreshSource?.();
    const { errors } = problemCounts(view.source().problems);
    const held = view.ledger()?.held;
    if (view.source().state === "good" && held !== undefined) {
      const error = `the change ${held.number} of the source is held: ${held.trips.map(({ message }) => message).join("; ")}`;
      return { kind: "json", status: 409, value: { error, hint: "approve or reject it, or correct the source" } };
    }
    if (view.source().state === "good") {
      const error = await view.ledger()?.sourceDifference();
      if (error === undefined) return view.head();
      return { kind: "json", status: 409, value: { error, hint: "change the files, or wait for --revision head" } };
    }
    const error =
      errors === 0 ? "the source is not loaded yet" : `the source has ${errors} ${errors === 1 ? "error" : "errors"}`;
    return {
      kind: "json",
      status: 409,
      value: { error, hint: "`xds validate DIR` lists them, as GET /api/v1/source does" },
    };
  }
  const number = readRevision(view, text);
  const record = text === "head" ? undefined : await view.ledger()?.history.record(number);
  return record === undefined ? number : (answerNotInForce(view, record) ?? number);
}

/** What became of a change that was held: it is nothing that a node could have. */
function answerNotInForce(view: AdminView, record: LedgerRecord): AdminAnswer | undefined {
  const { number, kind } = record;
  if (kind === "held" && view.ledger()?.held?.number === number) {
    const error = `${number} is held: ${record.trips.map(({ message }) => message).join("; ")}`;
    return { kind: "json", status: 409, value: { error, hint: `approve or reject it: xds show ${number}` } };
  }
  if (kind === "held") throw new QueryError(404, `${number} was held, and is not in force`, `xds show ${number}`);
  if (kind !== "rejected" && kind !== "withdrawn") return undefined;
  throw new QueryError(
    404,
    `${number} put nothing in force: it is ${kind} ${record.of}`,
    `the newest in force is ${view.head()}`,
  );
}

/** The revision that a parameter names: a number, or `head`. */
export function readRevision(view: AdminView, text: string): number {
  if (text === "head") return view.head();
  if (!/^\d{1,15}$/.test(text))
    throw new QueryError(400, `expected a revision, head or source, got ${JSON.stringify(text)}`);
  const revision = Number(text);
  const newest = view.newest();
  if (revision > newest) throw new QueryError(404, `there is no revision ${revision} yet`, `the newest is ${newest}`);
  return revision;
}
