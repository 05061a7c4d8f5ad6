import type { PublishResult } from "../../ledger/publication.ts";
import type { DecisionAnswer } from "../answers/revisions.ts";
import type { AdminAnswer, Route } from "../route.ts";
import { decisionAnswer } from "../schema/revisions.ts";
import type { AdminView } from "../view.ts";
import { describeFuses, numberIn, requireLedger } from "./revisions.ts";

const parameters: Readonly<Record<string, string>> = { message: "reason, kept in the history" };

/** Puts a held change in force. */
export const approve: Route = {
  method: "POST",
  path: "/api/v1/approve/{number}",
  says: "puts the held change of that number in force, or the held CAs and revocation lists of that id (ca-…)",
  parameters,
  answers: { 200: decisionAnswer, 409: decisionAnswer, 503: decisionAnswer },
  async answer({ view, author }, query) {
    const ledger = requireLedger(view);
    const text = query.text("number") ?? "";
    if (text.startsWith(TRUST_ID)) return await approveTrust(view, text);
    const number = numberIn(text, "number", ledger);
    return answerOf(await ledger.approve(number, { author, message: query.text("message") }));
  },
};

/** How an id of CAs and revocation lists begins. */
const TRUST_ID = "ca-";

async function approveTrust(view: AdminView, id: string): Promise<AdminAnswer> {
  if (await view.approveTrust(id)) return { kind: "json", value: { result: "applied" } satisfies DecisionAnswer };
  const held = view.heldTrust().map((one) => one.id);
  const instead = held.length === 0 ? "no CAs or revocation lists are" : `${held.join(", ")} is`;
  return answerOf({ kind: "refused", reason: `${id} is not held; ${instead}` });
}

/** Drops a held change. */
export const reject: Route = {
  method: "POST",
  path: "/api/v1/reject/{number}",
  says: "drops the held change of that number",
  parameters,
  answers: { 200: decisionAnswer, 409: decisionAnswer, 503: decisionAnswer },
  async answer({ view, author }, query) {
    const ledger = requireLedger(view);
    const number = numberIn(query.text("number") ?? "", "number", ledger);
    return answerOf(await ledger.reject(number, { author, message: query.text("message") }));
  },
};

/** Takes back what was published after a number. */
export const rollback: Route = {
  method: "POST",
  path: "/api/v1/rollback/{number}",
  says: "brings back what was in force at that number, and live data that it needs again, unless a fuse would hold that",
  parameters: { ...parameters, force: "true: also if a fuse would hold it" },
  kinds: { force: "flag" },
  answers: { 200: decisionAnswer, 409: decisionAnswer, 503: decisionAnswer },
  async answer({ view, author }, query) {
    const ledger = requireLedger(view);
    const number = numberIn(query.text("number") ?? "", "number", ledger);
    return answerOf(
      await ledger.rollback(number, { author, message: query.text("message"), isForced: query.flag("force") }),
    );
  },
};

/** Puts in force what the store has, although its history is another. */
export const adopt: Route = {
  method: "POST",
  path: "/api/v1/store/adopt",
  says: "puts in force what the shared store has, although it does not continue what is in force here",
  parameters: {},
  answers: { 200: decisionAnswer, 409: decisionAnswer, 503: decisionAnswer },
  async answer({ view }) {
    const ledger = requireLedger(view);
    if (ledger.store.refresh === undefined) return answerOf({ kind: "refused", reason: "this server shares no store" });
    const reason = await ledger.adopt();
    if (reason !== undefined) return answerOf({ kind: "unavailable", reason });
    return answerOf({ kind: "applied", number: ledger.number, revision: view.revision() });
  },
};

function statusOf({ kind }: PublishResult): { readonly status?: number } {
  if (kind === "refused" || kind === "standby") return { status: 409 };
  return kind === "unavailable" ? { status: 503 } : {};
}

function answerOf(result: PublishResult): AdminAnswer {
  const value: DecisionAnswer = {
    result: result.kind,
    ...("number" in result && { number: result.number }),
    ...("reason" in result && { reason: result.reason }),
    ...("irretrievable" in result && { irretrievable: result.irretrievable }),
    ...("trips" in result && result.trips !== undefined && { fuses: describeFuses(result.trips) }),
  };
  return { kind: "json", ...statusOf(result), value };
}
