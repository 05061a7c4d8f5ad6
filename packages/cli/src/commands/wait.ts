import type { ProgressAnswer } from "@xdskit/server";
import { type ExitCode, exitCode } from "../exit-code.ts";
import { formatJson } from "../output/json.ts";
import { withStatusLine } from "../output/status-line.ts";
import { askAdmin } from "./admin-request.ts";
import type { AdminFlags } from "./admin-server.ts";
import type { CommandContext } from "./context.ts";
import { matching } from "./matching.ts";
import { readCount } from "./read-count.ts";
import { countNodes, formatStragglers } from "./stragglers.ts";

export interface WaitFlags extends AdminFlags {
  readonly source?: boolean;
  readonly revision?: string;
  readonly nodes?: string;
  readonly minNodes: string;
  readonly timeoutMs: number;
  readonly output: "text" | "json";
}

/** How long one request waits, in seconds; between two the progress is shown. */
const ASK_AGAIN_SECONDS = 1;
const BAR_WIDTH = 20;

export async function wait(flags: WaitFlags, context: CommandContext): Promise<ExitCode> {
  const { io } = context;
  const minNodes = readCount("--min-nodes", flags.minNodes);
  if (flags.revision !== undefined && flags.revision !== "head") readCount("--revision", flags.revision);
  const startedAt = io.now().getTime();
  const ask = (revision: string, seconds: number): Promise<ProgressAnswer> =>
    askAdmin<ProgressAnswer>(
      `/api/v1/progress/${revision}`,
      { node: flags.nodes, "min-nodes": `${minNodes}`, ...(seconds > 0 && { wait: `${seconds}` }) },
      flags,
      io,
      { 409: revision === "source" ? exitCode.sourceBroken : exitCode.held },
    );
  const answer = await withStatusLine(io, async (update) => {
    let newest = await ask(flags.revision ?? "source", 0);
    while (isUndecided(newest) && io.now().getTime() - startedAt < flags.timeoutMs) {
      const shown = newest;
      update(() => describeProgress(shown));
      newest = await ask(`${newest.revision}`, ASK_AGAIN_SECONDS);
    }
    return newest;
  });
  print(answer, flags, context);
  return codes[answer.state];
}

const codes: Readonly<Record<ProgressAnswer["state"], ExitCode>> = {
  deployed: exitCode.ok,
  nacked: exitCode.problems,
  pending: exitCode.timeout,
  "too-few-nodes": exitCode.tooFewNodes,
};

/** More nodes may come, and what is pending may arrive. */
function isUndecided({ state }: ProgressAnswer): boolean {
  return state === "pending" || state === "too-few-nodes";
}

function describeProgress(answer: ProgressAnswer): string {
  const { revision, nodes, deployed } = answer;
  const done = nodes === 0 ? 0 : Math.floor((deployed / nodes) * BAR_WIDTH);
  return `[${"#".repeat(done).padEnd(BAR_WIDTH, ".")}] revision ${revision}: ${countNodes(answer)}`;
}

function print(answer: ProgressAnswer, flags: WaitFlags, { io, colorsOf }: CommandContext): void {
  if (flags.output === "json") {
    io.stdout.write(formatJson(answer));
    return;
  }
  const colors = colorsOf(io.stdout);
  const width = io.stdout.isTerminal ? io.stdout.columns : undefined;
  const { state, revision } = answer;
  const said = {
    deployed: colors.green("is deployed"),
    nacked: colors.red("was NACKed"),
    pending: colors.yellow("is not deployed yet"),
    "too-few-nodes": colors.yellow(tooFew(answer, flags)),
  }[state];
  io.stdout.write(formatStragglers(answer, { colors, width }));
  io.stdout.write(`revision ${revision}${state === "too-few-nodes" ? ":" : ""} ${said}: ${countNodes(answer)}\n`);
}

/** All connected nodes have the revision, and more are required. */
function tooFew({ deployed }: ProgressAnswer, { minNodes, nodes }: WaitFlags): string {
  const required = Number(minNodes);
  if (deployed > 0)
    return `only ${deployed} of the required ${required} nodes${matching(nodes)} ${deployed === 1 ? "is" : "are"} connected`;
  return required === 1
    ? `no node${matching(nodes)} is connected`
    : `none of the required ${required} nodes${matching(nodes)} is connected`;
}
