import type { ProgressAnswer, StragglerAnswer } from "@xdskit/server";
import type { Colors } from "../output/color.ts";
import { trimReason } from "../output/reason.ts";
import { formatTable } from "../output/table.ts";
import { describeWait } from "./describe-wait.ts";
import { describeUnresponsive } from "./unresponsive-workers.ts";

type Straggling = StragglerAnswer["types"][number];
interface StragglerRow extends Straggling {
  readonly node: string;
}

/** The nodes without a revision: a line for each type that keeps them back. */
export function formatStragglers(
  { pending, nacked }: ProgressAnswer,
  {
    colors,
    width,
    behindFor,
  }: {
    readonly colors: Colors;
    readonly width: number | undefined;
    /** For how long a node has lacked it. */
    readonly behindFor?: (id: string) => string;
  },
): string {
  const nodes = [...nacked.nodes, ...pending.nodes];
  const rows: readonly StragglerRow[] = nodes.flatMap(({ id, types }) => types.map((type) => ({ node: id, ...type })));
  if (rows.length === 0) return "";
  const table = formatTable(
    rows,
    [
      { title: "NODE", text: ({ node }: StragglerRow) => (node === "" ? "(no id)" : node) },
      { title: "TYPE", text: ({ shortName, type }) => shortName ?? type.slice(type.lastIndexOf(".") + 1) },
      {
        title: "STATE",
        text: ({ state }) => state,
        color: (text, { state }) => (state === "nacked" ? colors.red(text) : colors.yellow(text)),
      },
      ...(behindFor === undefined ? [] : [{ title: "FOR", text: ({ node }: StragglerRow) => behindFor(node) }]),
      { title: "WHY", text: whyOf },
    ],
    { colors, width },
  );
  const unnamed = pending.total + nacked.total - nodes.length;
  return unnamed === 0 ? table : `${table}and ${unnamed} more\n`;
}

function whyOf({ waits, reason, names = [], state, places = [] }: Straggling): string {
  const from = places.map(({ file, line }) => (line === undefined ? file : `${file}:${line}`));
  // A wait for content names what it waits for.
  const inIt =
    names.length === 0 || waits?.for === "content"
      ? []
      : [`${state === "removal" ? "to be removed" : "in it"}: ${names.join(", ")}`];
  return [
    ...(reason === undefined ? [] : [trimReason(reason)]),
    ...inIt,
    ...(from.length === 0 ? [] : [`from ${from.join(", ")}`]),
    ...describeWait(waits),
  ].join("; ");
}

/** How many nodes have a revision: `3 of 4 nodes have it, 1 NACKed it`. */
export function countNodes(answer: ProgressAnswer): string {
  const { nodes, deployed, pending, nacked, disconnected, unresponsiveWorkers } = answer;
  const parts = [
    `${deployed} of ${nodes} ${nodes === 1 ? "node has" : "nodes have"} it`,
    ...(pending.total === 0 ? [] : [`${pending.total} pending`]),
    ...(nacked.total === 0 ? [] : [`${nacked.total} NACKed`]),
    ...(disconnected.total === 0 ? [] : [`${disconnected.total} left without it`]),
    ...(unresponsiveWorkers === undefined ? [] : [describeUnresponsive(unresponsiveWorkers)]),
  ];
  return parts.join(", ");
}
