import { typeKindTable } from "@xdskit/protocol/internal";
import type { PublishPlan } from "../../ledger/plan.ts";
import { PlanLineError, PlanReader } from "../../ledger/plan-lines.ts";
import type { Publisher } from "../../ledger/publisher.ts";
import type { PlanAnswer, PlanCountAnswer } from "../answers/revisions.ts";
import { type Query, QueryError } from "../query.ts";
import type { AdminSources, Route } from "../route.ts";
import { planAnswer } from "../schema/answers.ts";
import {
  changeKind,
  changeKinds,
  changeParameters,
  describeChanges,
  describeFuses,
  requireLedger,
} from "./revisions.ts";

/** How many bytes a plan has at most: some 300,000 resources. */
const MAX_BYTES = 64 * 1024 * 1024;
/** How many characters a line has at most. */
const MAX_LINE = 1024 * 1024;
/** How many plans a server works on at once. */
const MAX_PLANS = 2;
/** How many nodes are named. */
const NODES_NAMED = 20;

const reading = new WeakMap<Publisher, number>();

/** What a publish would do. It needs no operator, because it changes nothing. */
export const plan: Route = {
  method: "POST",
  isRead: true,
  path: "/api/v1/plan",
  says: "what publishing whole layers would do now; applies nothing. The body is of JSON lines, as xds plan sends them",
  parameters: { writer: "in whose name they would be published (default: directory)", ...changeParameters },
  kinds: changeKinds,
  answers: { 200: planAnswer },
  async answer(sources, query, body) {
    const ledger = requireLedger(sources.view);
    const others = reading.get(ledger) ?? 0;
    if (others >= MAX_PLANS) throw new QueryError(503, `${others} other plans are being made`, "try again in a moment");
    reading.set(ledger, others + 1);
    try {
      const read = await readPlan(body);
      const planned = await ledger.plan(read.publication(query.text("writer") ?? "directory"), read.entries);
      return { kind: "json", value: await describePlan(sources, query, planned) };
    } catch (cause) {
      if (cause instanceof PlanLineError) throw new QueryError(400, cause.message, "xds plan sends what is expected");
      throw cause;
    } finally {
      reading.set(ledger, (reading.get(ledger) ?? 1) - 1);
    }
  },
};

/** Reads line by line, so that clients are served meanwhile. */
async function readPlan(body: AsyncIterable<Uint8Array>): Promise<PlanReader> {
  const plan = new PlanReader();
  const decoder = new TextDecoder();
  let rest = "";
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > MAX_BYTES) throw new QueryError(413, `a plan may have at most ${MAX_BYTES} bytes`);
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) plan.add(line);
    if (rest.length > MAX_LINE) throw new QueryError(413, `a line may have at most ${MAX_LINE} characters`);
  }
  if (rest !== "") plan.add(rest);
  return plan;
}

async function describePlan(sources: AdminSources, query: Query, planned: PublishPlan): Promise<PlanAnswer> {
  const { made, placement, problem, trips, head, nodes } = planned;
  const { connected, affected } = nodes;
  return {
    result: resultOf(planned),
    head,
    ...(problem !== undefined && { reason: problem }),
    ...(trips.length > 0 && { fuses: describeFuses(trips) }),
    placement: placement !== undefined,
    counts: countsOf(sources, planned),
    nodes: { connected, affected: affected.length, named: affected.slice(0, NODES_NAMED) },
    ...(await describeChanges(sources, query, requireLedger(sources.view), made.changes)),
  };
}

function resultOf({ made, placement, problem, trips }: PublishPlan): PlanAnswer["result"] {
  if (problem !== undefined) return "refused";
  if (trips.length > 0) return "held";
  return made.changes.length === 0 && placement === undefined ? "unchanged" : "applied";
}

function countsOf({ describe, view }: AdminSources, { made }: PublishPlan): readonly PlanCountAnswer[] {
  const kinds = new Map(view.types.types.map(({ type, kind }) => [type, kind]));
  const counts = new Map<string, { -readonly [K in keyof PlanCountAnswer]: PlanCountAnswer[K] }>();
  for (const change of made.changes) {
    const { layer, type } = change;
    const key = `${layer}\u0000${type}`;
    const isLive = typeKindTable[kinds.get(type) ?? "opaque"].isLive;
    const count = counts.get(key) ?? { layer, ...describe.type(type), isLive, added: 0, changed: 0, deleted: 0 };
    counts.set(key, count);
    count[changeKind(change)]++;
  }
  return [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, count]) => count);
}
