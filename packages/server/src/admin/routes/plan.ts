import type { DecisionPlan } from "../../ledger/publication.ts";
import type { PlanAnswer } from "../answers/revisions.ts";
import { QueryError } from "../query.ts";
import type { Route } from "../route.ts";
import { planAnswer } from "../schema/answers.ts";
import { countChanges, numberIn, requireLedger } from "./revisions.ts";

const DECISIONS = ["approve", "reject", "rollback"] as const;
/** How many resources that cannot be brought back are named. */
const IRRETRIEVABLE_NAMED = 100;

/** What a decision would do. */
export const plan: Route = {
  path: "/api/v1/plan/{number}",
  says: "what a decision would change now, and how many connected nodes it concerns; looks at every client",
  parameters: { decision: "approve or reject the held change of that number, or rollback to it (required)" },
  kinds: { decision: DECISIONS },
  answers: { 200: planAnswer },
  async answer({ view }, query) {
    const ledger = requireLedger(view);
    const decision = query.oneOf("decision", DECISIONS);
    if (decision === undefined) throw new QueryError(400, `decision: expected one of ${DECISIONS.join(", ")}`);
    const number = numberIn(query.text("number") ?? "", "number", ledger);
    const value: PlanAnswer = { decision, number, ...describePlan(await ledger.plan(decision, number)) };
    return { kind: "json", value };
  },
};

function describePlan(made: DecisionPlan): Omit<PlanAnswer, "decision" | "number"> {
  if (made.kind === "refused") return { refused: made.reason };
  const { changes, isPlaced, irretrievable, reach } = made;
  const { nodes: total, ...nodes } = reach;
  return {
    ...countChanges(changes),
    placement: isPlaced,
    ...(irretrievable.length > 0 && { irretrievable: irretrievable.slice(0, IRRETRIEVABLE_NAMED) }),
    nodes: { total, ...nodes },
  };
}
