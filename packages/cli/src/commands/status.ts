import { OBSERVER_USER_AGENT } from "@xdskit/protocol/internal";
import type {
  NodeAnswer,
  NodesAnswer,
  ProgressAnswer,
  ReplicasAnswer,
  ServerAnswer,
  SourceAnswer,
  StoreAnswer,
} from "@xdskit/server";
import { type ExitCode, exitCode } from "../exit-code.ts";
import { formatAge } from "../output/age.ts";
import type { Colors } from "../output/color.ts";
import { formatJson } from "../output/json.ts";
import { oneLine } from "../output/one-line.ts";
import { plural } from "../output/problems.ts";
import { formatTable } from "../output/table.ts";
import { askAdmin, EVERY_NODE } from "./admin-request.ts";
import type { AdminFlags } from "./admin-server.ts";
import type { CommandContext } from "./context.ts";
import { formatReplicas } from "./replicas-table.ts";
import { countNodes, formatStragglers } from "./stragglers.ts";
import { describeUnresponsive } from "./unresponsive-workers.ts";

/** How many problems of the source are printed. */
const PROBLEMS_SHOWN = 3;

export interface StatusFlags extends AdminFlags {
  readonly output: "text" | "json";
  readonly store?: string;
}

/** Nodes of one client build and one list of layers. */
interface StatusGroup {
  readonly userAgent: string;
  readonly layers: readonly string[];
  nodes: number;
  pending: number;
  nacked: number;
}

export async function status(flags: StatusFlags, context: CommandContext): Promise<ExitCode> {
  const { io, colorsOf } = context;
  if (flags.store !== undefined)
    return await (await import("./store-status.ts")).storeStatus(flags.store, flags.output, context);
  const server = await askAdmin<ServerAnswer>("/api/v1/server", {}, flags, io);
  const progress = await askAdmin<ProgressAnswer>("/api/v1/progress/head", { limit: EVERY_NODE }, flags, io);
  const nodes = await askAdmin<NodesAnswer>("/api/v1/nodes", {}, flags, io);
  const isShared = server.ledger?.store !== undefined;
  const replicas = isShared ? await askAdmin<ReplicasAnswer>("/api/v1/replicas", {}, flags, io) : undefined;
  const hasProblems = server.source.errors + server.source.warnings > 0;
  const source = hasProblems ? await askAdmin<SourceAnswer>("/api/v1/source", {}, flags, io) : undefined;
  const groups = groupNodes(nodes.items, progress);
  if (flags.output === "json") {
    io.stdout.write(formatJson({ server, progress, groups, ...(replicas !== undefined && { replicas }) }));
    return exitCode.ok;
  }
  const colors = colorsOf(io.stdout);
  const width = io.stdout.isTerminal ? io.stdout.columns : undefined;
  io.stdout.write(describeServer(server, progress, { colors, now: io.now() }));
  if (replicas !== undefined) io.stdout.write(`\n${formatReplicas(replicas, { colors, width, now: io.now() })}`);
  if (source !== undefined) io.stdout.write(`\n${formatSourceProblems(source, colors)}`);
  if (groups.length > 0) io.stdout.write(`\n${formatGroups(groups, { colors, width })}`);
  const stragglers = formatStragglers(progress, { colors, width });
  if (stragglers !== "") io.stdout.write(`\n${stragglers}`);
  return exitCode.ok;
}

function describeServer(
  server: ServerAnswer,
  progress: ProgressAnswer,
  { colors, now }: { readonly colors: Colors; readonly now: Date },
): string {
  const { version, address, startedAt, ready, draining, reasons, streams } = server;
  const state = ready ? colors.green("ready") : colors.red(draining ? "draining" : `not ready: ${reasons.join("; ")}`);
  const facts: readonly (readonly [string, string])[] = [
    ["server", `${version}${address === undefined ? "" : ` at ${address}`}, up ${formatAge(startedAt, now)}, ${state}`],
    ["source", describeSource(server, { colors, now })],
    ["revision", `${progress.revision}: ${countNodes(progress)}`],
    ["streams", `${streams}`],
    ...describeWorkers(server.workers, colors),
    ...describeStore(server.ledger?.store, { colors, now }),
    ...describeLedger(server.ledger, colors),
    ...describeHeldTrust(server.heldTrust, { colors, now }),
    ...describeExpiring(server.expiring, { colors, now }),
  ];
  return facts.map(([name, value]) => `${colors.bold(name.padEnd(9))} ${value}\n`).join("");
}

/** The processes that serve the clients. */
function describeWorkers(workers: ServerAnswer["workers"], colors: Colors): readonly (readonly [string, string])[] {
  if (workers === undefined) return [];
  const ready = workers.filter(({ state }) => state === "ready").length;
  const unresponsive = workers.filter(({ state }) => state === "unresponsive").map(({ worker }) => worker);
  const missing = unresponsive.length === 0 ? "" : ` (${describeUnresponsive(unresponsive)})`;
  const states = `${ready} of ${workers.length} ready${missing}`;
  const bytes = workers.reduce((sum, { residentBytes }) => sum + residentBytes, 0);
  const memory = `${Math.round(bytes / 2 ** 20)} MiB in all`;
  return [
    ["workers", `${ready < workers.length ? colors.yellow(states) : states}, ${memory}; limits hold for each of them`],
  ];
}

/** The role of the server among those that share its store, and how far it has applied that. */
function describeStore(
  store: StoreAnswer | undefined,
  { colors, now }: { readonly colors: Colors; readonly now: Date },
): readonly (readonly [string, string])[] {
  if (store === undefined) return [];
  const { role, roleSince, head, lag, lagSince, awaySince, awayReason, copy, stoppedSince, stopReason } = store;
  const behind = colors.yellow(`, ${plural(lag, "record")} behind${describeSince(lagSince, now)}`);
  const applied = lag > 0 ? behind : stoppedSince === undefined ? ", all applied" : "";
  const facts: (readonly [string, string])[] = [
    ["store", `${role} for ${formatAge(roleSince, now)}, head ${head}${applied}`],
  ];
  if (awaySince !== undefined)
    facts.push(["", colors.red(`unreachable for ${formatAge(awaySince, now)}: ${awayReason ?? ""}`)]);
  if (copy?.inPlace === true)
    facts.push(["", colors.yellow(`serving the local copy, up to record ${copy.number}, since the start`)]);
  if (copy?.problem !== undefined) facts.push(["", colors.yellow(`the local copy cannot be written: ${copy.problem}`)]);
  if (stoppedSince !== undefined)
    facts.push(["", colors.red(`not applied for ${formatAge(stoppedSince, now)}: ${stopReason ?? ""}`)]);
  return facts;
}

function describeSince(since: string | undefined, now: Date): string {
  return since === undefined ? "" : ` for ${formatAge(since, now)}`;
}

/** What is held, and what the server has no content of. */
function describeLedger(ledger: ServerAnswer["ledger"], colors: Colors): readonly (readonly [string, string])[] {
  const { held, inMemoryReason, missing, waiting, emptied } = ledger ?? {};
  const facts: (readonly [string, string])[] = [];
  if (inMemoryReason !== undefined)
    facts.push(["history", colors.red(`in memory only, lost at the next restart: ${oneLine(inMemoryReason)}`)]);
  if (held !== undefined) {
    const why = (held.fuses ?? []).map(({ message }) => message).join("; ");
    facts.push(["held", `${held.number}: ${colors.red(why)}; \`xds approve ${held.number}\` puts it in force`]);
  }
  if (emptied !== undefined) facts.push(["emptied", describeEmptied(emptied, colors)]);
  if (missing !== undefined && missing.total > 0) {
    const what = plural(missing.total, "resource");
    facts.push(["missing", colors.yellow(`${what} until the source is good; clients keep theirs, new ones wait`)]);
  }
  if (waiting !== undefined) {
    const names = waiting.deletions.map(({ name, type, shortName = type }) => `${shortName} ${name}`).join(", ");
    const more = waiting.total > waiting.deletions.length ? " and more" : "";
    const decided = held === undefined ? "" : " and what is held is decided";
    facts.push(["waiting", colors.yellow(`to be deleted once nothing refers to it${decided}: ${names}${more}`)]);
  }
  return facts;
}

/** The endpoints that a fuse holds back, and until when. */
function describeEmptied(
  { resources, total }: NonNullable<NonNullable<ServerAnswer["ledger"]>["emptied"]>,
  colors: Colors,
): string {
  const named = resources.map(({ layer, name, until }) => `${name} (${layer}) until ${until}`);
  const more = total > named.length ? [`and ${total - named.length} more`] : [];
  const numbers = [...new Set(resources.map(({ number }) => number))];
  const approve = numbers.map((number) => `\`xds approve ${number}\``).join(" or ");
  return `${colors.red(`no endpoints any more, held back: ${[...named, ...more].join(", ")}`)}; ${approve} sends that`;
}

/** New CAs and revocation lists that wait for an approval. */
function describeHeldTrust(
  held: ServerAnswer["heldTrust"],
  { colors, now }: { readonly colors: Colors; readonly now: Date },
): readonly (readonly [string, string])[] {
  return (held ?? []).map(({ id, files, message, since }) => {
    const what = `${id} (${files.join(", ")}) for ${formatAge(since, now)}: ${colors.red(message)}`;
    return ["held", `${what}; \`xds approve ${id}\` puts it in force`];
  });
}

/** Certificates whose renewal seems to have failed. */
function describeExpiring(
  expiring: ServerAnswer["expiring"],
  { colors, now }: { readonly colors: Colors; readonly now: Date },
): readonly (readonly [string, string])[] {
  if (expiring === undefined) return [];
  const { certificates, total } = expiring;
  const more = total - certificates.length;
  return [
    ...certificates.map((certificate): readonly [string, string] => {
      const { use, name, file, line, subject, expiresAt, isExpired } = certificate;
      const place = file === undefined ? "" : ` (${line === undefined ? file : `${file}:${line}`})`;
      const age = isExpired ? `expired ${formatAge(expiresAt, now)} ago` : `expires in ${formatLeft(expiresAt, now)}`;
      const what = `${name === undefined ? use : `${use} ${name}`}${place}, of ${oneLine(subject)}`;
      return ["expiring", `${what}, ${isExpired ? colors.red(age) : colors.yellow(age)}`];
    }),
    ...(more === 0 ? [] : [["expiring", `and ${more} more`] as const]),
  ];
}

function formatLeft(at: string, now: Date): string {
  return formatAge(now.toISOString(), new Date(at));
}

function describeSource(
  { source: { state, since, errors, warnings, differs }, revision }: ServerAnswer,
  { colors, now }: { readonly colors: Colors; readonly now: Date },
): string {
  const counts = [
    ...(errors === 0 ? [] : [plural(errors, "error")]),
    ...(warnings === 0 ? [] : [plural(warnings, "warning")]),
  ];
  const inForce = revision === 0 ? "nothing is in force" : "the last valid configuration is in force";
  const kept = state === "failed" ? [inForce] : [];
  const shown = state === "failed" ? colors.red(state) : state;
  return [
    `${shown} for ${formatAge(since, now)}`,
    ...counts,
    ...kept,
    ...(differs === undefined ? [] : [colors.yellow(differs)]),
  ].join(", ");
}

/** The first problems, a line each. */
function formatSourceProblems({ problems, total }: SourceAnswer, colors: Colors): string {
  const shown = problems.slice(0, PROBLEMS_SHOWN);
  const lines = shown.map(({ file, line, severity, message }) => {
    const tone = severity === "error" ? colors.red : colors.yellow;
    return `${line === undefined ? file : `${file}:${line}`}: ${tone(severity)}: ${oneLine(message)}\n`;
  });
  const more = total > shown.length ? [`and ${total - shown.length} more: xds validate DIR lists them all\n`] : [];
  return [...lines, ...more].join("");
}

function groupNodes(nodes: readonly NodeAnswer[], { pending, nacked }: ProgressAnswer): readonly StatusGroup[] {
  const isPending = new Set(pending.nodes.map(({ id }) => id));
  const isRejected = new Set(nacked.nodes.map(({ id }) => id));
  const groups = new Map<string, StatusGroup>();
  for (const { id, userAgent, layers } of nodes) {
    if (userAgent.startsWith(`${OBSERVER_USER_AGENT} `)) continue;
    const key = JSON.stringify([userAgent, layers]);
    const group = groups.get(key) ?? { userAgent, layers, nodes: 0, pending: 0, nacked: 0 };
    group.nodes++;
    if (isPending.has(id)) group.pending++;
    if (isRejected.has(id)) group.nacked++;
    groups.set(key, group);
  }
  return [...groups.values()].sort((a, b) => b.nodes - a.nodes);
}

function formatGroups(
  groups: readonly StatusGroup[],
  { colors, width }: { readonly colors: Colors; readonly width: number | undefined },
): string {
  const count = (of: number): string => (of === 0 ? "" : `${of}`);
  return formatTable(
    groups,
    [
      { title: "AGENT", text: ({ userAgent }) => (userAgent === "" ? "(unknown)" : userAgent) },
      { title: "LAYERS", text: ({ layers }) => layers.join(",") },
      { title: "NODES", text: ({ nodes }) => `${nodes}` },
      { title: "HAVE IT", text: ({ nodes, pending, nacked }) => count(nodes - pending - nacked) },
      { title: "PENDING", text: ({ pending }) => count(pending), color: (text) => colors.yellow(text) },
      { title: "NACKED", text: ({ nacked }) => count(nacked), color: (text) => colors.red(text) },
    ],
    { colors, width },
  );
}
