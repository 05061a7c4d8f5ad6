import { setTimeout as pause } from "node:timers/promises";
import type { AskedProgress } from "../../workers/messages.ts";
import type { Workers } from "../../workers/workers.ts";
import type { ProgressAnswer, StragglersAnswer } from "../answers/progress.ts";

/** How often the workers are asked whether enough nodes have a revision, in milliseconds. */
const EVERY_MS = 100;

/** How long a worker may wait with its answer, in milliseconds: whoever waits for it may give up. */
const LONGEST_MS = 1_000;

export interface WaitOfAll extends AskedProgress {
  readonly minNodes: number;
  /** Nobody waits any more. */
  readonly signal?: AbortSignal | undefined;
}

/** Which nodes of all processes have a revision; waits until none is pending, and enough have it. */
export async function progressOfAll(
  workers: Pick<Workers, "ask">,
  own: () => ProgressAnswer,
  { minNodes, waitMs, signal, ...asked }: WaitOfAll,
): Promise<ProgressAnswer> {
  const until = performance.now() + waitMs;
  for (;;) {
    const left = until - performance.now();
    // Each worker answers once nothing is pending there.
    if (left > 0) await workers.ask("progress", { ...asked, named: 0, waitMs: Math.min(left, LONGEST_MS) });
    const { answers, unresponsive } = await workers.ask("progress", { ...asked, waitMs: 0 });
    const known = [own(), ...answers.map(({ answer }) => answer)];
    const all = mergeProgress(known, { minNodes, named: asked.named, unresponsive });
    const isOver = all.state === "deployed" || all.state === "nacked" || performance.now() >= until;
    if (isOver || signal?.aborted === true) return all;
    await pause(EVERY_MS);
  }
}

/** One answer of those of all processes; a node with streams in several of them counts in each. */
function mergeProgress(
  answers: readonly ProgressAnswer[],
  {
    minNodes,
    named,
    unresponsive,
  }: { readonly minNodes: number; readonly named: number; readonly unresponsive: readonly number[] },
): ProgressAnswer {
  const sum = (numberOf: (answer: ProgressAnswer) => number): number =>
    answers.reduce((total, answer) => total + numberOf(answer), 0);
  const stragglers = (listOf: (answer: ProgressAnswer) => StragglersAnswer): StragglersAnswer => ({
    total: sum((answer) => listOf(answer).total),
    nodes: answers.flatMap((answer) => listOf(answer).nodes).slice(0, named),
  });
  const pending = stragglers((answer) => answer.pending);
  const nacked = stragglers((answer) => answer.nacked);
  const deployed = sum((answer) => answer.deployed);
  const lost = answers.flatMap((answer) => answer.disconnected.nodes).slice(0, named);
  const enough = deployed < minNodes ? "too-few-nodes" : "deployed";
  return {
    revision: answers[0]?.revision ?? 0,
    head: answers[0]?.head ?? 0,
    state: pending.total > 0 || unresponsive.length > 0 ? "pending" : nacked.total > 0 ? "nacked" : enough,
    nodes: sum((answer) => answer.nodes),
    deployed,
    pending,
    nacked,
    disconnected: { total: sum((answer) => answer.disconnected.total), nodes: lost },
    ...(unresponsive.length > 0 && { unresponsiveWorkers: unresponsive }),
  };
}
