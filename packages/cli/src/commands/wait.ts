import type { ProgressAnswer } from "@xdskit/server";
import { type ExitCode, exitCode } from "../exit-code.ts";
import { formatJson } from "../output/json.ts";
import { withStatusLine } from "../output/status-line.ts";
import { askAdmin, NoAnswerError } from "./admin-request.ts";
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
/** How long the first answer may take, in milliseconds, if nothing is waited for. */
const LEAST_MS = 1_000;
/** The longest time for an answer, in milliseconds. */
const MOST_MS = 30_000;
const BAR_WIDTH = 20;

export async function wait(flags: WaitFlags, context: CommandContext): Promise<ExitCode> {
  const { io } = context;
  const minNodes = readCount("--min-nodes", flags.minNodes);
  if (flags.revision !== undefined && flags.revision !== "head") readCount("--revision", flags.revision);
  const startedAt = performance.now();
  const ask = (revision: string, seconds: number, withinMs: number): Promise<ProgressAnswer> =>
    askAdmin<ProgressAnswer>(
      `/api/v1/progress/${revision}`,
      { node: flags.nodes, "min-nodes": `${minNodes}`, ...(seconds > 0 && { wait: `${seconds}` }) },
      flags,
      io,
      {
        codes: { 409: revision === "source" ? exitCode.sourceBroken : exitCode.held },
        withinMs: Math.min(withinMs, MOST_MS),
      },
    );
  const answer = await withStatusLine(io, async (update) => {
    let newest = await ask(flags.revision ?? "source", 0, Math.max(flags.timeoutMs, LEAST_MS));
    const leftMs = (): number => startedAt + flags.timeoutMs - performance.now();
    for (let left = leftMs(); isUndecided(newest) && left > 0; left = leftMs()) {
      const shown = newest;
      update(() => describeProgress(shown));
      newest = await ask(`${newest.revision}`, ASK_AGAIN_SECONDS, left).catch((cause: unknown) => {
        // The server answers once something is new, so what it said last is still so, as far as is known.
        if (cause instanceof NoAnswerError && left <= MOST_MS) return shown;
        throw cause;
      });
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
