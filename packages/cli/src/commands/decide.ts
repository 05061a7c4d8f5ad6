import type { DecisionAnswer, RevisionDetailAnswer, ServerAnswer } from "@xdskit/server";
import { CommandError, type ExitCode, exitCode } from "../exit-code.ts";
import { formatJson } from "../output/json.ts";
import { askAdmin, changeByAdmin } from "./admin-request.ts";
import type { AdminFlags } from "./admin-server.ts";
import type { CommandContext } from "./context.ts";
import { formatChanges } from "./format-changes.ts";

export type Decision = "approve" | "reject" | "rollback";

export interface DecideFlags extends AdminFlags {
  readonly message?: string;
  /** Of a rollback. */
  readonly force?: boolean;
  readonly output: "text" | "json";
}

const aNumber = { pattern: /^\d{1,15}$/, what: "a number of xds history" };
/** What each decision is about. */
const expected = {
  approve: { pattern: /^(?:\d{1,15}|ca-[0-9a-f]+)$/, what: "a number of xds history, or an id of xds status (ca-…)" },
  reject: aNumber,
  rollback: aNumber,
} as const;

type Printing = Pick<CommandContext, "io" | "colorsOf">;

/** Asks the server to take a decision. */
export async function decide(
  decision: Decision,
  number: string | undefined,
  flags: DecideFlags,
  { io, colorsOf }: Printing,
): Promise<ExitCode> {
  if (number !== undefined && !expected[decision].pattern.test(number))
    throw new CommandError(exitCode.usage, `expected ${expected[decision].what}, got "${number}"`);
  const of = number ?? (await heldNumber(decision, flags, io));
  const { message, output } = flags;
  const query = { message, ...(flags.force === true && { force: "true" }) };
  const answer = await changeByAdmin<DecisionAnswer>(`/api/v1/${decision}/${of}`, query, flags, io);
  const isDone = answer.result === "applied" || answer.result === "unchanged";
  if (output === "json") io.stdout.write(formatJson(answer));
  else if (isDone) io.stdout.write(`${colorsOf(io.stdout).green(describeDone(decision, of, answer))}\n`);
  else throw new CommandError(exitCode.problems, describeNotDone(answer), hintOf(decision, answer));
  if (output === "text" && decision === "rollback" && answer.result === "applied")
    await printChanges(answer, flags, { io, colorsOf });
  for (const { type, name, layer } of answer.irretrievable ?? []) {
    const what = `${type.slice(type.lastIndexOf(".") + 1)} "${name}" of ${layer}`;
    io.stderr.write(`xds: ${what} is as it was: it holds a secret, which the history does not keep\n`);
  }
  return isDone ? exitCode.ok : exitCode.problems;
}

/** How many changes of a rollback are printed. */
const CHANGES_SHOWN = 3;

async function printChanges({ number }: DecisionAnswer, flags: AdminFlags, context: Printing): Promise<void> {
  const { io, colorsOf } = context;
  const query = { limit: `${CHANGES_SHOWN}` };
  const made = await askAdmin<RevisionDetailAnswer>(`/api/v1/revisions/${number}`, query, flags, io);
  const { changes, total, placement } = made;
  const width = io.stdout.isTerminal ? io.stdout.columns : undefined;
  if (placement) io.stdout.write("groups, client overrides or access rules change\n");
  if (changes.length > 0) io.stdout.write(formatChanges(changes, { colors: colorsOf(io.stdout), width }));
  if (total > changes.length) io.stdout.write(`and ${total - changes.length} more: xds show ${number}\n`);
}

/** Only a fuse can be told to let a rollback through. */
function hintOf(decision: Decision, { fuses = [] }: DecisionAnswer): string | undefined {
  return decision === "rollback" && fuses.length > 0 ? "--force rolls back all the same" : undefined;
}

/** The one thing that is held and can be decided on. */
async function heldNumber(decision: Decision, flags: AdminFlags, io: CommandContext["io"]): Promise<string> {
  const { ledger, heldTrust = [] } = await askAdmin<ServerAnswer>("/api/v1/server", {}, flags, io);
  const emptied = ledger?.held === undefined ? (ledger?.emptied?.resources ?? []) : [];
  const approved = [...new Set(emptied.map(({ number }) => `${number}`)), ...heldTrust.map(({ id }) => id)];
  const held = [
    ...(ledger?.held === undefined ? [] : [`${ledger.held.number}`]),
    ...(decision === "approve" ? approved : []),
  ];
  const [only] = held;
  if (only === undefined) throw new CommandError(exitCode.problems, "nothing is held");
  if (held.length > 1) throw new CommandError(exitCode.usage, `say which is meant: ${held.join(" and ")} are held`);
  return only;
}

function describeDone(decision: Decision, of: string, { result, number }: DecisionAnswer): string {
  if (result === "unchanged") return `nothing to do: it is as at ${of}`;
  switch (decision) {
    case "approve":
      return number === undefined ? `${of} is in force` : `${of} is in force: recorded as ${number}`;
    case "reject":
      return `${of} is dropped: recorded as ${number}`;
    case "rollback":
      return `back at ${of}: recorded as ${number}; xds wait --revision head waits until every client is there`;
  }
}

function describeNotDone({ result, reason, number, fuses = [] }: DecisionAnswer): string {
  if (result !== "held") return reason ?? result;
  return [`held as ${number}`, ...fuses.map((fuse) => fuse.message)].join("; ");
}
