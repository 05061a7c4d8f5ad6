import type { DeliveriesAnswer, DeliveryAnswer } from "@xdskit/server";
import { type ExitCode, exitCode } from "../exit-code.ts";
import { formatAge } from "../output/age.ts";
import type { Colors } from "../output/color.ts";
import { formatJson } from "../output/json.ts";
import { trimReason } from "../output/reason.ts";
import { formatTable } from "../output/table.ts";
import { type AdminFlags, askAdmin, type NodeFilterFlags, nodeFilterOf } from "./admin-request.ts";
import type { CommandContext } from "./context.ts";
import { describeTtl } from "./describe-ttl.ts";
import { describeWait } from "./describe-wait.ts";
import { fateColor } from "./fate-color.ts";

const STATES = ["acked", "pending", "nacked", "sent", "requested-but-missing", "requested"];

export interface DeliveriesFlags extends AdminFlags, NodeFilterFlags {
  readonly node?: string;
  readonly type?: string;
  readonly state?: string;
  readonly output: "table" | "json";
}

export async function deliveries(flags: DeliveriesFlags, { io, colorsOf }: CommandContext): Promise<ExitCode> {
  const { node, type, state } = flags;
  const answer = await askAdmin<DeliveriesAnswer>(
    "/api/v1/deliveries",
    { node, ...nodeFilterOf(flags), type, state },
    flags,
    io,
  );
  if (flags.output === "json") io.stdout.write(formatJson(answer));
  else if (answer.items.length === 0) io.stderr.write("xds: no deliveries\n");
  else {
    const colors = colorsOf(io.stdout);
    const width = io.stdout.isTerminal ? io.stdout.columns : undefined;
    io.stdout.write(formatDeliveries(answer.items, { colors, width, now: io.now() }));
  }
  return exitCode.ok;
}

function formatDeliveries(
  rows: readonly DeliveryAnswer[],
  { colors, width, now }: { readonly colors: Colors; readonly width: number | undefined; readonly now: Date },
): string {
  const table = formatTable(
    rows,
    [
      { title: "NODE", text: ({ node }) => (node === "" ? "(no id)" : node) },
      { title: "TYPE", text: ({ shortName, type }) => shortName ?? type.slice(type.lastIndexOf(".") + 1) },
      { title: "STATE", text: ({ state }) => state, color: (text, { state }) => fateColor(state, colors)(text) },
      { title: "VERSION", text: ({ version }) => version ?? "-" },
      { title: "AGE", text: ({ since }) => formatAge(since, now) },
      { title: "WHY", text: whyOf },
    ],
    { colors, width },
  );
  const counts = STATES.map((state) => [state, rows.filter((row) => row.state === state).length] as const);
  const summary = counts.filter(([, count]) => count > 0).map(([state, count]) => `${count} ${state}`);
  // A terminal truncates the last column, and the reasons matter most here.
  const reasons = width === undefined ? [] : rows.flatMap(describeRefusal);
  return `${table}${summary.join(", ")}\n${reasons.length === 0 ? "" : `\n${reasons.join("\n")}\n`}`;
}

function describeRefusal({ node, type, shortName, version, reason }: DeliveryAnswer): readonly string[] {
  return reason === undefined
    ? []
    : [`${node} rejected (NACKed) ${shortName ?? type} ${version}:\n  ${trimReason(reason)}`];
}

function whyOf({ reason, refused = [], missing = [], ackedVersion, waits, heldOver, ttl }: DeliveryAnswer): string {
  return [
    ...describeWait(waits, heldOver),
    ...(reason === undefined ? [] : [trimReason(reason)]),
    ...(refused.length === 0 ? [] : [`in it: ${refused.join(", ")}`]),
    ...(ackedVersion === undefined ? [] : [`holds ${ackedVersion}`]),
    ...(missing.length === 0 ? [] : [`missing ${missing.join(", ")}`]),
    ...describeTtl(ttl),
  ].join("; ");
}
