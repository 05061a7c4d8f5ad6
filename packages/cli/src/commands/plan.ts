import type { PlanAnswer, PlanCountAnswer } from "@xdskit/server";
import { planLines } from "@xdskit/server";
import type { LoadedState, Problem } from "@xdskit/source";
import { type ExitCode, exitCode } from "../exit-code.ts";
import type { Colors } from "../output/color.ts";
import { formatJson } from "../output/json.ts";
import { countProblems, formatProblems, plural } from "../output/problems.ts";
import { formatTable } from "../output/table.ts";
import { sendToAdmin } from "./admin-request.ts";
import type { AdminFlags } from "./admin-server.ts";
import { LARGEST_PAGE } from "./ask-in-pages.ts";
import type { CommandContext } from "./context.ts";
import { formatField } from "./diff/format-field.ts";
import { type PlannedChange, plannedFields } from "./diff/planned-fields.ts";
import { formatChanges, typeWord } from "./format-changes.ts";
import { type LoadedSource, loadSource } from "./load-source.ts";
import { readCount } from "./read-count.ts";

export interface PlanFlags extends AdminFlags {
  readonly fields?: boolean;
  readonly limit: string;
  readonly output: "text" | "json";
  readonly [setting: string]: unknown;
}

/** What `--output json` prints. */
export type PlanOutput =
  | { readonly result: "source-broken"; readonly problems: readonly Problem[] }
  | (PlanAnswer & { readonly changes: readonly PlannedChange[]; readonly problems: readonly Problem[] });

export async function plan(directory: string, flags: PlanFlags, context: CommandContext): Promise<ExitCode> {
  const { io, colorsOf } = context;
  const { fields: withFields = false, limit: _, output, admin, adminCa, adminCert, adminKey, ...settings } = flags;
  const limit = readCount("--limit", flags.limit, { least: 1, most: LARGEST_PAGE });
  const source = await loadSource(directory, settings, io, exitCode.sourceBroken);
  const { state, problems, place } = source;
  if (state === undefined) return tellBroken(source, flags, context);
  const query = { limit: `${limit}`, ...(withFields && { body: "true", "field-names": "proto" }) };
  const answer = await sendToAdmin<PlanAnswer>("/api/v1/plan", query, linesOf(state, source), flags, io);
  const changes = withFields
    ? answer.changes.map((change) => plannedFields(change, state, source.api))
    : answer.changes;
  const planned = { ...answer, changes };
  if (output === "json") io.stdout.write(formatJson({ ...planned, problems } satisfies PlanOutput));
  else {
    const colors = colorsOf(io.stdout);
    const width = io.stdout.isTerminal ? io.stdout.columns : undefined;
    const warnings = problems.length === 0 ? undefined : `${countProblems(problems)}: xds validate ${place.shown}`;
    io.stdout.write(describePlan(planned, warnings, { colors, width }));
    const { length } = changes;
    if (planned.total > length) io.stdout.write(describeRest(planned.total, length, place));
  }
  return codes[answer.result];
}

const codes: Readonly<Record<PlanAnswer["result"], ExitCode>> = {
  unchanged: exitCode.ok,
  applied: exitCode.ok,
  held: exitCode.held,
  rejected: exitCode.problems,
  refused: exitCode.problems,
};

function linesOf({ layers, groups, clients, access }: LoadedState, { api }: LoadedSource): Iterable<string> {
  return planLines({ layers, placement: { groups, clients, access } }, api);
}

function tellBroken(
  { problems, place }: LoadedSource,
  { output }: PlanFlags,
  { io, colorsOf }: CommandContext,
): ExitCode {
  if (output === "json") io.stdout.write(formatJson({ result: "source-broken", problems } satisfies PlanOutput));
  else {
    io.stdout.write(formatProblems(problems, place.shownDirectory, colorsOf(io.stdout)));
    io.stdout.write(`${place.shown}: ${countProblems(problems)}: nothing of it would be published\n`);
  }
  return exitCode.sourceBroken;
}

interface PrintedOn {
  readonly colors: Colors;
  readonly width: number | undefined;
}

type Planned = PlanAnswer & { readonly changes: readonly PlannedChange[] };

function describePlan(planned: Planned, warnings: string | undefined, on: PrintedOn): string {
  const { colors } = on;
  const { head, fuses = [], reason, placement, counts, nodes, changes } = planned;
  const facts: readonly (readonly [string, string | undefined])[] = [
    ["result", describeResult(planned, colors)],
    ["upon", `${head}`],
    ["reason", reason],
    ...fuses.map((fuse) => ["held by", `${fuse.fuse}: ${fuse.message}`] as const),
    ["mapping", placement ? "groups, client overrides or access rules would change" : undefined],
    ["nodes", describeNodes(nodes)],
    ["problems", warnings],
  ];
  const lines = facts.flatMap(([name, value]) =>
    value === undefined ? [] : [`${colors.bold(name.padEnd(11))} ${value}\n`],
  );
  if (counts.length > 0) lines.push("\n", formatCounts(counts, on));
  if (changes.length > 0) lines.push("\n", formatPlanned(changes, on));
  return lines.join("");
}

/** A plan has one page, because the server makes it anew for each request. */
function describeRest(total: number, listed: number, { shown }: LoadedSource["place"]): string {
  const all = total > LARGEST_PAGE ? `xds diff head ${shown} lists all` : `--limit ${total}`;
  return `and ${total - listed} more: ${all}\n`;
}

function describeResult({ result, fuses = [] }: PlanAnswer, colors: Colors): string {
  switch (result) {
    case "unchanged":
      return "nothing would change";
    case "applied":
      if (fuses.length > 0) return colors.yellow("it would be in force at once, but for what a fuse holds");
      return colors.green("it would be in force at once");
    case "held":
      return colors.yellow("a fuse would hold it");
    case "rejected":
      return colors.yellow("it would not be in force: the same was rejected");
    case "refused":
      return colors.red("the server would refuse it");
  }
}

const becoming: Readonly<Record<PlanAnswer["nodes"]["named"][number]["becomes"], string>> = {
  resources: "",
  layers: " (other layers)",
  refused: " (refused)",
  "cut-off": " (cut off)",
};

function describeNodes({ connected, affected, named }: PlanAnswer["nodes"]): string {
  const names = named.map(({ id, becomes }) => `${id === "" ? "(no id)" : id}${becoming[becomes]}`);
  const more = affected > named.length ? [`and ${affected - named.length} more`] : [];
  const list = names.length === 0 ? "" : `: ${[...names, ...more].join(", ")}`;
  return `${affected} of ${plural(connected, "connected node")} would notice${list}`;
}

function formatCounts(counts: readonly PlanCountAnswer[], { colors, width }: PrintedOn): string {
  const counted = (sign: string, count: number): string => (count === 0 ? "" : `${sign}${count}`);
  return formatTable<PlanCountAnswer>(
    counts,
    [
      { title: "LAYER", text: ({ layer }) => layer },
      { title: "TYPE", text: typeWord },
      { title: "ADDED", text: ({ added }) => counted("+", added) },
      { title: "CHANGED", text: ({ changed }) => counted("~", changed) },
      { title: "DELETED", text: ({ deleted }) => counted("-", deleted) },
    ],
    { colors, width },
  );
}

function formatPlanned(changes: readonly PlannedChange[], on: PrintedOn): string {
  if (changes.every(({ fields }) => fields === undefined)) return formatChanges(changes, on);
  return changes
    .map((change) => {
      const { layer, name, fields = [] } = change;
      const what = `${change.change.padEnd(7)} ${layer} ${typeWord(change)} ${name}`;
      return [what, ...fields.map((field) => formatField(field, on.colors)), ""].join("\n");
    })
    .join("");
}
