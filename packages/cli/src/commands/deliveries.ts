import type { DeliveriesAnswer, DeliveryAnswer } from "@xdskit/server";
import { type ExitCode, exitCode } from "../exit-code.ts";
import { formatAge } from "../output/age.ts";
import type { Colors } from "../output/color.ts";
import { formatJson } from "../output/json.ts";
import { trimReason } from "../output/reason.ts";
import { formatTable } from "../output/table.ts";
import { askAdmin, type NodeFilterFlags, nodeFilterOf } from "./admin-request.ts";
import type { AdminFlags } from "./admin-server.ts";
import type { CommandContext } from "./context.ts";
import { type DeliveryGroup, type DeliveryGrouping, groupDeliveries } from "./delivery-groups.ts";
import { deliveryStates } from "./delivery-states.ts";
import { describeTtl } from "./describe-ttl.ts";
import { describeWait } from "./describe-wait.ts";
import { fateColor } from "./fate-color.ts";
import { warnOfUnresponsive } from "./unresponsive-workers.ts";

export interface DeliveriesFlags extends AdminFlags, NodeFilterFlags {
  readonly node?: string;
  readonly type?: string;
  readonly state?: string;
  readonly groupBy?: DeliveryGrouping;
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
  warnOfUnresponsive(answer, io);
  if (flags.groupBy !== undefined) printGroups(answer.items, flags.groupBy, flags.output, { io, colorsOf });
  else if (flags.output === "json") io.stdout.write(formatJson(answer));
  else if (answer.items.length === 0) io.stderr.write("xds: no deliveries\n");
  else {
    const colors = colorsOf(io.stdout);
    const width = io.stdout.isTerminal ? io.stdout.columns : undefined;
    io.stdout.write(formatDeliveries(answer.items, { colors, width, now: io.now() }));
  }
  return exitCode.ok;
}

function printGroups(
  rows: readonly DeliveryAnswer[],
  by: DeliveryGrouping,
  output: DeliveriesFlags["output"],
  { io, colorsOf }: Pick<CommandContext, "io" | "colorsOf">,
): void {
  const groups = groupDeliveries(rows, by);
  if (output === "json") {
    io.stdout.write(formatJson({ groups }));
    return;
  }
  const columns = [
    { title: "TYPE", text: ({ type }: DeliveryGroup) => type },
    { title: by.toUpperCase(), text: ({ value }: DeliveryGroup) => (value === "" ? "(none)" : value) },
    { title: "DELIVERIES", text: ({ deliveries: count }: DeliveryGroup) => `${count}` },
    {
      title: "STATES",
      text: ({ states }: DeliveryGroup) => countStates((state) => states[state] ?? 0),
    },
  ];
  const width = io.stdout.isTerminal ? io.stdout.columns : undefined;
  io.stdout.write(formatTable(groups, columns, { colors: colorsOf(io.stdout), width }));
}

function countStates(countOf: (state: DeliveryAnswer["state"]) => number): string {
  const counts = deliveryStates.map((state) => [state, countOf(state)] as const);
  return counts
    .filter(([, count]) => count > 0)
    .map(([state, count]) => `${count} ${state}`)
    .join(", ");
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
  const summary = countStates((state) => rows.filter((row) => row.state === state).length);
  // A terminal truncates the last column, and the reasons matter most here.
  const reasons = width === undefined ? [] : rows.flatMap(describeRefusal);
  return `${table}${summary}\n${reasons.length === 0 ? "" : `\n${reasons.join("\n")}\n`}`;
}

function describeRefusal({ node, type, shortName, version, reason }: DeliveryAnswer): readonly string[] {
  return reason === undefined ? [] : [`${node} NACKed ${shortName ?? type} ${version}:\n  ${trimReason(reason)}`];
}

function whyOf({
  reason,
  names = [],
  doesNotExist = [],
  ackedVersion,
  waits,
  pendingRemovals,
  ttl,
}: DeliveryAnswer): string {
  return [
    ...describeWait(waits, pendingRemovals),
    ...(reason === undefined ? [] : [trimReason(reason)]),
    ...(names.length === 0 ? [] : [`in it: ${names.join(", ")}`]),
    ...(ackedVersion === undefined ? [] : [`holds ${ackedVersion}`]),
    ...(doesNotExist.length === 0 ? [] : [`does not exist: ${doesNotExist.join(", ")}`]),
    ...describeTtl(ttl),
  ].join("; ");
}
