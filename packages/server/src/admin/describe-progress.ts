import type { LostNode, RevisionProgress, Straggler } from "@xdskit/protocol/internal";
import { printableReason } from "../observe/printable.ts";
import type { LostNodeAnswer, ProgressAnswer, StragglerAnswer, StragglersAnswer } from "./answers/progress.ts";
import type { Describer } from "./describe.ts";

/** How many nodes of each list are named unless more are asked for. */
export const NODES_NAMED = 100;

/** Describes who has a revision. `minNodes`: how many must have it at least; `named`: how many nodes a list has at most. */
export function describeProgress(
  progress: RevisionProgress,
  {
    head,
    minNodes,
    describe,
    named = NODES_NAMED,
  }: { readonly head: number; readonly minNodes: number; readonly describe: Describer; readonly named?: number },
): ProgressAnswer {
  const { revision, nodes, deployed, pending, nacked, disconnected } = progress;
  return {
    revision,
    head,
    state: stateOf(progress, minNodes),
    nodes,
    deployed,
    pending: describeStragglers(pending, describe, named),
    nacked: describeStragglers(nacked, describe, named),
    disconnected: {
      total: disconnected.length,
      nodes: disconnected.slice(0, named).map((lost) => describeLost(lost, describe)),
    },
  };
}

function stateOf({ pending, nacked, deployed }: RevisionProgress, minNodes: number): ProgressAnswer["state"] {
  if (pending.length > 0) return "pending";
  if (nacked.length > 0) return "nacked";
  return deployed < minNodes ? "too-few-nodes" : "deployed";
}

function describeStragglers(stragglers: readonly Straggler[], describe: Describer, named: number): StragglersAnswer {
  return {
    total: stragglers.length,
    nodes: stragglers.slice(0, named).map(
      ({ node, types }): StragglerAnswer => ({
        ...describe.node(node),
        types: types.map(({ type, state, wait, names, error }) => ({
          ...describe.type(type),
          state,
          ...(wait !== undefined && { waits: describe.wait(wait) }),
          ...(names.length > 0 && { names }),
          ...(error !== undefined && { reason: printableReason(error.message) }),
        })),
      }),
    ),
  };
}

function describeLost({ id, reached }: LostNode, describe: Describer): LostNodeAnswer {
  return { id, ...(reached > 0 && { reached: describe.revision(reached) }) };
}
