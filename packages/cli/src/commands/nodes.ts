import type { NodeAnswer, NodesAnswer, ProgressAnswer, TypeAnswer } from "@xdskit/server";
import { type ExitCode, exitCode } from "../exit-code.ts";
import type { Io } from "../io.ts";
import { formatAge } from "../output/age.ts";
import type { Colors } from "../output/color.ts";
import { formatJson } from "../output/json.ts";
import { plural } from "../output/problems.ts";
import { trimReason } from "../output/reason.ts";
import { formatTable } from "../output/table.ts";
import { askAdmin, EVERY_NODE, type NodeFilterFlags, nodeFilterOf } from "./admin-request.ts";
import type { AdminFlags } from "./admin-server.ts";
import type { CommandContext } from "./context.ts";
import { describeDialects } from "./describe-dialect.ts";
import { describeTtl } from "./describe-ttl.ts";
import { describeWait } from "./describe-wait.ts";
import { fateColor } from "./fate-color.ts";
import { matching } from "./matching.ts";
import { type Grouping, groupNodes, type NodeGroup, nodeStates } from "./node-groups.ts";
import { warnOfUnresponsive } from "./unresponsive-workers.ts";

export interface NodesFlags extends AdminFlags, NodeFilterFlags {
  readonly type?: string;
  readonly nacked?: boolean;
  readonly groupBy?: Grouping;
  readonly output: "table" | "json";
}

export async function nodes(node: string | undefined, flags: NodesFlags, context: CommandContext): Promise<ExitCode> {
  const { io, colorsOf } = context;
  const { type, nacked, groupBy, output } = flags;
  const query = { id: node, ...nodeFilterOf(flags), type, ...(nacked === true && { nacked: "true" }) };
  const answer = await askAdmin<NodesAnswer>("/api/v1/nodes", query, flags, io);
  warnOfUnresponsive(answer, io);
  const isConnected = answer.items.length > 0 || (await areAnyConnected(node, flags, io));
  if (answer.items.length === 0 && output !== "json") {
    io.stderr.write(`xds: no node${matching(node)} ${isConnected ? describeFilters(flags) : "is connected"}\n`);
  } else if (groupBy !== undefined) {
    const stateOf = groupBy === "state" ? nodeStates(await askHead(flags, context)) : () => "deployed" as const;
    printGroups(groupNodes(answer.items, groupBy, stateOf), flags, context);
  } else if (output === "json") io.stdout.write(formatJson(answer));
  else if (node === undefined || /[*?]/.test(node))
    io.stdout.write(formatNodes(answer.items, colorsOf(io.stdout), context));
  else for (const item of answer.items) io.stdout.write(formatNode(item, colorsOf(io.stdout), context));
  return node === undefined || isConnected ? exitCode.ok : exitCode.problems;
}

/** Whether a node of this id or glob is connected, whatever the other filters are. */
async function areAnyConnected(node: string | undefined, flags: NodesFlags, io: Io): Promise<boolean> {
  if (describeFilters(flags) === "") return false;
  const { total } = await askAdmin<NodesAnswer>("/api/v1/nodes", { id: node, limit: "1" }, flags, io);
  return total > 0;
}

/** What the filters select, as a predicate of nodes; "" without filters. */
function describeFilters({ cluster, userAgent, type, nacked }: NodesFlags): string {
  const predicates = [
    ...(cluster === undefined ? [] : [`is in a cluster matching ${JSON.stringify(cluster)}`]),
    ...(userAgent === undefined ? [] : [`has a user agent matching ${JSON.stringify(userAgent)}`]),
    ...(nacked === true ? [`NACKed ${type ?? "anything"}`] : type === undefined ? [] : [`subscribes to ${type}`]),
  ];
  return predicates.join(" and ");
}

function askHead(flags: AdminFlags, { io }: CommandContext): Promise<ProgressAnswer> {
  return askAdmin<ProgressAnswer>("/api/v1/progress/head", { limit: EVERY_NODE }, flags, io);
}

function printGroups(groups: readonly NodeGroup[], { output, groupBy }: NodesFlags, context: CommandContext): void {
  const { io, colorsOf } = context;
  const colors = colorsOf(io.stdout);
  if (output === "json") {
    io.stdout.write(formatJson({ groups }));
    return;
  }
  const columns = [
    ...(groupBy === "version" ? [{ title: "TYPE", text: ({ type = "" }: NodeGroup) => type }] : []),
    { title: (groupBy ?? "").toUpperCase(), text: ({ value }: NodeGroup) => (value === "" ? "(none)" : value) },
    { title: "NODES", text: ({ nodes: count }: NodeGroup) => `${count}` },
    {
      title: "NACKED",
      text: ({ nacked }: NodeGroup) => (nacked === 0 ? "" : `${nacked}`),
      color: (text: string) => colors.red(text),
    },
  ];
  io.stdout.write(
    formatTable(groups, columns, { colors, width: io.stdout.isTerminal ? io.stdout.columns : undefined }),
  );
}

function formatNodes(items: readonly NodeAnswer[], colors: Colors, { io }: CommandContext): string {
  const table = formatTable(
    items,
    [
      { title: "NODE", text: ({ id }) => (id === "" ? "(no id)" : id) },
      { title: "CLUSTER", text: ({ cluster }) => cluster },
      { title: "AGENT", text: ({ userAgent }) => userAgent },
      { title: "AGE", text: ({ connectedAt }) => formatAge(connectedAt, io.now()) },
      { title: "STREAMS", text: streamsOf },
      { title: "LAYERS", text: ({ layers }) => layers.join(",") },
      {
        title: "TYPES",
        text: ({ types }) => types.map((type) => `${nameOf(type)}:${type.state}`).join(" "),
        color: (text) => text.replace(/:(\S+)/g, (_, state: string) => `:${fateColor(state, colors)(state)}`),
      },
    ],
    { colors, width: io.stdout.isTerminal ? io.stdout.columns : undefined },
  );
  return `${table}${plural(items.length, "node")}\n`;
}

/** Counts streams by kind: "1 v3 delta", or "4 v3 sotw, 1 v2 sotw". */
function streamsOf({ streams }: NodeAnswer): string {
  const counts = new Map<string, number>();
  for (const stream of streams) counts.set(spokenOn(stream), (counts.get(spokenOn(stream)) ?? 0) + 1);
  return [...counts].map(([kind, count]) => `${count} ${kind}`).join(", ");
}

function spokenOn({ apiVersion, variant, isPoller }: NodeAnswer["streams"][number]): string {
  return `${apiVersion} ${isPoller ? "rest" : variant}`;
}

function nameOf({ shortName, type }: TypeAnswer): string {
  return shortName ?? type.slice(type.lastIndexOf(".") + 1);
}

function formatNode(item: NodeAnswer, colors: Colors, { io }: CommandContext): string {
  const { id, cluster, locality, userAgent, layers, streams, connectedAt } = item;
  const facts: (readonly [string, string])[] = [
    ["node", id],
    ["cluster", cluster],
    [
      "locality",
      locality === undefined
        ? ""
        : [locality.region, locality.zone, locality.subZone].filter((part) => part !== "").join("/"),
    ],
    ["agent", userAgent],
    ["layers", layers.join(", ")],
    ["streams", streams.map((one) => `#${one.stream} (${spokenOn(one)}, ${one.peer})`).join(", ")],
    ...describeDialects(streams).map((line, index) => [index === 0 ? "edition" : "", line] as const),
    ["connected", connectedAt ?? ""],
  ];
  const lines = facts
    .filter(([, value]) => value !== "")
    .map(([name, value]) => `${colors.bold(name.padEnd(10))} ${value}\n`);
  const table = formatTable(
    item.types,
    [
      { title: "TYPE", text: nameOf },
      { title: "STATE", text: ({ state }) => state, color: (text, { state }) => fateColor(state, colors)(text) },
      {
        title: "ASKED",
        text: ({ isWildcard, names }) => [...(isWildcard ? ["*"] : []), ...(names > 0 ? [`${names}`] : [])].join("+"),
      },
      { title: "ACKED", text: ({ acked }) => acked?.version ?? "" },
      { title: "AGE", text: ({ acked }) => formatAge(acked?.ackedAt, io.now()) },
      { title: "PENDING", text: ({ pending }) => (pending.length > 0 ? `${pending.length}` : "") },
      { title: "WHY", text: whyOf },
    ],
    { colors, width: io.stdout.isTerminal ? io.stdout.columns : undefined },
  );
  return `${lines.join("")}\n${table}`;
}

function whyOf({ nacked, doesNotExist, errors = [], waits, pendingRemovals, ttl }: TypeAnswer): string {
  const nack = nacked === undefined ? [] : [`NACKed ${nacked.version}: ${trimReason(nacked.reason)}`];
  const failed = errors.map(({ name, code, message }) => `error ${code} for ${name}: ${trimReason(message)}`);
  const explained = new Set(errors.map(({ name }) => name));
  const unexplained = doesNotExist.filter((name) => !explained.has(name));
  const absent = unexplained.length === 0 ? [] : [`does not exist: ${unexplained.join(", ")}`];
  return [...describeWait(waits, pendingRemovals), ...nack, ...failed, ...absent, ...describeTtl(ttl)].join("; ");
}
