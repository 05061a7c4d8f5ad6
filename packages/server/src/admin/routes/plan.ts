import { typeKindTable } from "@xdskit/protocol/internal";
import type { ChangePlan } from "../../ledger/plan.ts";
import { PlanLineError, PlanReader } from "../../ledger/plan-lines.ts";
import type { Publisher } from "../../ledger/publisher.ts";
import type { PlanAnswer, PlanCountAnswer } from "../answers/revisions.ts";
import { type Query, QueryError } from "../query.ts";
import type { AdminSources, Route } from "../route.ts";
import { planAnswer } from "../schema/revisions.ts";
import {
  changeKind,
  changeKinds,
  changeParameters,
  describeChanges,
  describeFuses,
  numberIn,
  requireLedger,
} from "./revisions.ts";

/** How many bytes a plan has at most: some 300,000 resources. */
const MAX_BYTES = 64 * 1024 * 1024;
/** How many characters a line has at most. */
const MAX_LINE = 1024 * 1024;
/** How many bytes the plans that are being read and made have together: those of two that are as large as they may be. */
const MAX_BYTES_OF_ALL = 2 * MAX_BYTES;
/** How many plans a server works on at once. */
const MAX_PLANS = 2;
/** How many nodes are named. */
const NODES_NAMED = 20;
/** How many resources that cannot be brought back are named. */
const IRRETRIEVABLE_NAMED = 100;
const DECISIONS = ["approve", "reject", "rollback"] as const;

/** What the plans of a server take up. One that is being read has only its bytes: its caller may be slow. */
interface Usage {
  bytes: number;
  making: number;
}

const usages = new WeakMap<Publisher, Usage>();

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
    const usage = usages.get(ledger) ?? { bytes: 0, making: 0 };
    usages.set(ledger, usage);
    const own = { bytes: 0 };
    try {
      const read = await readPlan(counted(body, own, usage));
      const publication = read.publication(query.text("writer") ?? "directory");
      const planned = await inTurn(usage, () => ledger.plan(publication, read.entries));
      return { kind: "json", value: await describePlan(sources, query, planned) };
    } catch (cause) {
      if (cause instanceof PlanLineError) throw new QueryError(400, cause.message, "xds plan sends what is expected");
      throw cause;
    } finally {
      usage.bytes -= own.bytes;
    }
  },
};

/** What a decision would do. */
export const decisionPlan: Route = {
  path: "/api/v1/plan/{number}",
  says: "what a decision would do now, and for which connected nodes; applies nothing",
  parameters: {
    decision: "approve or reject the held change of that number, or rollback to it (required)",
    ...changeParameters,
  },
  kinds: { ...changeKinds, decision: DECISIONS },
  answers: { 200: planAnswer },
  async answer(sources, query) {
    const ledger = requireLedger(sources.view);
    const decision = query.oneOf("decision", DECISIONS);
    if (decision === undefined) throw new QueryError(400, `decision: expected one of ${DECISIONS.join(", ")}`);
    const number = numberIn(query.text("number") ?? "", "number", ledger);
    const planned = await ledger.planDecision(decision, number);
    return { kind: "json", value: await describePlan(sources, query, planned) };
  },
};

/** Passes on a body, and counts it as that of one plan and of all. */
async function* counted(
  body: AsyncIterable<Uint8Array>,
  own: { bytes: number },
  all: Usage,
): AsyncIterable<Uint8Array> {
  for await (const chunk of body) {
    own.bytes += chunk.byteLength;
    all.bytes += chunk.byteLength;
    if (own.bytes > MAX_BYTES) throw new QueryError(413, `a plan may have at most ${MAX_BYTES} bytes`);
    if (all.bytes > MAX_BYTES_OF_ALL)
      throw new QueryError(503, "other plans take up the memory for plans", "try again in a moment");
    yield chunk;
  }
}

async function inTurn<T>(usage: Usage, make: () => Promise<T>): Promise<T> {
  if (usage.making >= MAX_PLANS)
    throw new QueryError(503, `${usage.making} other plans are being made`, "try again in a moment");
  usage.making++;
  try {
    return await make();
  } finally {
    usage.making--;
  }
}

/** Reads line by line, so that clients are served meanwhile. */
async function readPlan(body: AsyncIterable<Uint8Array>): Promise<PlanReader> {
  const plan = new PlanReader();
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) plan.add(line);
    if (rest.length > MAX_LINE) throw new QueryError(413, `a line may have at most ${MAX_LINE} characters`);
  }
  if (rest !== "") plan.add(rest);
  return plan;
}

async function describePlan(sources: AdminSources, query: Query, planned: ChangePlan): Promise<PlanAnswer> {
  const { result, changes, isPlaced, reason, trips, irretrievable, head, nodes } = planned;
  const { connected, affected } = nodes;
  return {
    result,
    head,
    ...(reason !== undefined && { reason }),
    ...(trips.length > 0 && { fuses: describeFuses(trips) }),
    placement: isPlaced,
    counts: countsOf(sources, planned),
    ...(irretrievable.length > 0 && { irretrievable: irretrievable.slice(0, IRRETRIEVABLE_NAMED) }),
    nodes: {
      connected,
      affected: affected.length,
      moved: affected.filter(({ becomes }) => becomes === "layers").length,
      cutOff: affected.filter(({ becomes }) => becomes === "refused" || becomes === "cut-off").length,
      named: affected.slice(0, NODES_NAMED),
    },
    ...(await describeChanges(sources, query, requireLedger(sources.view), changes)),
  };
}

function countsOf({ describe, view }: AdminSources, { changes }: ChangePlan): readonly PlanCountAnswer[] {
  const kinds = new Map(view.types.types.map(({ type, kind }) => [type, kind]));
  const counts = new Map<string, { -readonly [K in keyof PlanCountAnswer]: PlanCountAnswer[K] }>();
  for (const change of changes) {
    const { layer, type } = change;
    const key = `${layer}\u0000${type}`;
    const isLive = typeKindTable[kinds.get(type) ?? "opaque"].isLive;
    const count = counts.get(key) ?? { layer, ...describe.type(type), isLive, added: 0, changed: 0, deleted: 0 };
    counts.set(key, count);
    count[changeKind(change)]++;
  }
  return [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, count]) => count);
}
