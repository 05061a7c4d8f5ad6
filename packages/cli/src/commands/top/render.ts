import type { ProgressAnswer, ServerAnswer } from "@xdskit/server";
import { formatAge } from "../../output/age.ts";
import type { Colors } from "../../output/color.ts";
import { oneLine } from "../../output/one-line.ts";
import { plural } from "../../output/problems.ts";
import { countNodes, formatStragglers } from "../stragglers.ts";

/** What `xds top` shows. */
export interface TopState {
  readonly server: ServerAnswer | undefined;
  readonly progress: ProgressAnswer | undefined;
  readonly at: Date;
  /** When each named node was first seen without a revision that it still lacks. */
  readonly behindSince: ReadonlyMap<string, Date>;
  /** Why the newest look failed. */
  readonly failure: string | undefined;
}

/** Before the first look. */
export const noSample: TopState = {
  server: undefined,
  progress: undefined,
  at: new Date(0),
  behindSince: new Map(),
  failure: undefined,
};

/** The state after another look at the server. */
export function takeSample(
  before: TopState,
  { server, progress, at }: { readonly server: ServerAnswer; readonly progress: ProgressAnswer; readonly at: Date },
): TopState {
  const behind = [...progress.nacked.nodes, ...progress.pending.nodes].map(({ id }) => id);
  const behindSince = new Map(behind.map((id) => [id, before.behindSince.get(id) ?? at]));
  return { server, progress, at, behindSince, failure: undefined };
}

const BAR_WIDTH = 20;
const MEBIBYTE = 1024 ** 2;
/** The use of a limit from which on it is shown. */
const MUCH = 0.5;

/** The lines of the screen. Without a size all of them, as for a pipe. */
export function renderTop(
  { server, progress, at, behindSince, failure }: TopState,
  {
    colors,
    size,
  }: { readonly colors: Colors; readonly size: { readonly columns: number; readonly rows: number } | undefined },
): readonly string[] {
  if (server === undefined || progress === undefined) return [];
  const facts = factsOf(server, progress, { colors, at });
  const head = facts.map(([name, value]) => `${colors.bold(name.padEnd(9))} ${value}`);
  const foot = size === undefined ? [] : ["", colors.dim(`${at.toISOString().slice(11, 19)} UTC   q: quit`)];
  const failed = failure === undefined ? [] : [colors.red(oneLine(failure))];
  const room =
    size === undefined ? Number.POSITIVE_INFINITY : size.rows - head.length - failed.length - foot.length - 1;
  const table = slowest(progress, { behindSince, at, colors, width: size?.columns });
  const shown = cutTable(table, room);
  return [...head, ...failed, ...(shown.length === 0 ? [] : ["", ...shown]), ...foot];
}

type Fact = readonly [name: string, value: string];

function factsOf(
  server: ServerAnswer,
  progress: ProgressAnswer,
  { colors, at }: { readonly colors: Colors; readonly at: Date },
): readonly Fact[] {
  const { version, address, startedAt, ready, draining, reasons, source, connections, streams, writes } = server;
  const unready = draining ? "draining" : `not ready: ${reasons.join("; ")}`;
  const state = ready ? colors.green("ready") : colors.red(oneLine(unready));
  const where = address === undefined ? "" : ` at ${oneLine(address)}`;
  const problems = source.errors + source.warnings;
  const sourceState = source.state === "failed" ? colors.red(source.state) : source.state;
  const stalled = writes.stalledStreams === 0 ? "" : `, ${colors.yellow(`${writes.stalledStreams} stalled`)}`;
  const used = server.limits.filter(({ value, used: use = 0 }) => value > 0 && use / value >= MUCH);
  return [
    ["server", `${oneLine(version)}${where}, up ${formatAge(startedAt, at)}, ${state}`],
    ["source", `${sourceState} for ${formatAge(source.since, at)}${problems === 0 ? "" : `, ${problems} problems`}`],
    ["revision", `${progress.revision} ${bar(progress, colors)} ${countNodes(progress)}`],
    [
      "streams",
      `${streams} on ${plural(connections, "connection")}${stalled}, ${mebibytes(writes.bufferedBytes)} buffered`,
    ],
    ["memory", mebibytes(server.process.residentBytes)],
    ...used.map(
      ({ name, value, used: use = 0 }): Fact => ["limit", colors.yellow(`${oneLine(name)}: ${use} of ${value}`)],
    ),
  ];
}

/** A character for each twentieth of the nodes: # has the revision, ! NACKed it, . is on its way. */
function bar({ nodes, deployed, nacked }: ProgressAnswer, colors: Colors): string {
  const share = (count: number): number => (nodes === 0 ? 0 : Math.floor((count / nodes) * BAR_WIDTH));
  const done = share(deployed);
  const refused = nacked.total === 0 ? 0 : Math.min(BAR_WIDTH - done, Math.max(1, share(nacked.total)));
  const open = ".".repeat(BAR_WIDTH - done - refused);
  return `[${colors.green("#".repeat(done))}${colors.red("!".repeat(refused))}${open}]`;
}

function mebibytes(bytes: number): string {
  return `${Math.round(bytes / MEBIBYTE)} MiB`;
}

/** The nodes that lack the revision, those that NACKed it first, then the slowest. */
function slowest(
  progress: ProgressAnswer,
  {
    behindSince,
    at,
    colors,
    width,
  }: Pick<TopState, "behindSince" | "at"> & { readonly colors: Colors; readonly width: number | undefined },
): readonly string[] {
  const since = (id: string): number => behindSince.get(id)?.getTime() ?? 0;
  const nodes = [...progress.pending.nodes].sort((a, b) => since(a.id) - since(b.id));
  const sorted = { ...progress, pending: { ...progress.pending, nodes } };
  const behindFor = (id: string): string => formatAge(behindSince.get(id)?.toISOString(), at);
  const text = formatStragglers(sorted, { colors, width, ...(width !== undefined && { behindFor }) });
  return text === "" ? [] : text.trimEnd().split("\n");
}

/** Cuts a table to a number of lines, and says how many are missing. */
function cutTable(lines: readonly string[], room: number): readonly string[] {
  if (lines.length <= room) return lines;
  if (room < 3) return [];
  return [...lines.slice(0, room - 1), `and more: xds status names all`];
}
