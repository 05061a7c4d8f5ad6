import type { Resource } from "@xdskit/protocol";
import type { Entry, EntryChange, FuseTrip, LedgerState } from "@xdskit/protocol/internal";
import type { MissingContent } from "../hub/missing-resources.ts";
import { type AffectedNode, type AffectedNodesOptions, affectedNodes } from "./affected-nodes.ts";
import type { InForceChange } from "./in-force.ts";
import type { Judgement } from "./judgement.ts";

/** The entries of resources that a plan has without their content. */
export type PlannedEntries = Iterable<readonly [Resource, Entry]>;

/** What a publish or a decision would do. */
export interface ChangePlan {
  /** The number upon which it is planned. */
  readonly head: number;
  /** A decision is `unchanged` if nothing would be sent. */
  readonly result: "unchanged" | "applied" | "held" | "rejected" | "refused";
  /** Why it would be refused, or that it was rejected. */
  readonly reason: string | undefined;
  /** Why it or some of it would be held, or why the change that is approved is held. */
  readonly trips: readonly FuseTrip[];
  readonly changes: readonly EntryChange[];
  /** Whether the node mapping, client overrides or access rules change. */
  readonly isPlaced: boolean;
  /** What a rollback cannot bring back. */
  readonly irretrievable: readonly MissingContent[];
  /** The connected nodes that would get anything else than they have. */
  readonly nodes: { readonly connected: number; readonly affected: readonly AffectedNode[] };
}

/** What becomes of a publication that is judged so. */
export function resultOf({ live, emptied, isStable, problem, trips, rejectedBy }: Judgement): ChangePlan["result"] {
  if (problem !== undefined) return "refused";
  if (rejectedBy !== undefined) return "rejected";
  if (trips.length > 0) return "held";
  if (live.length > 0 || isStable) return "applied";
  return emptied.length > 0 ? "held" : "unchanged";
}

/** Why a publication that is judged so is not in force, if no fuse says that. */
export function reasonOf({ problem, rejectedBy }: Judgement): string | undefined {
  return rejectedBy === undefined ? problem : `${rejectedBy} rejected it; it is judged again once it differs`;
}

/** What a change would change, and for whom. */
export function planOf(
  { changes: { changes }, placement }: InForceChange,
  state: LedgerState,
  options: AffectedNodesOptions,
): Pick<ChangePlan, "changes" | "isPlaced" | "nodes"> {
  const effect = { changes, ...(placement !== undefined && { placement }) };
  return { changes, isPlaced: placement !== undefined, nodes: affectedNodes(effect, state, options) };
}
