import type { TypeUrl } from "@xdskit/protocol";
import {
  type EntryChange,
  type EntryPlace,
  type FuseTrip,
  type HeldRecord,
  type LedgerEffect,
  type LedgerState,
  type Placement,
  type PublishOrigin,
  placeKey,
  type Steps,
  splitLive,
  type TypeKind,
} from "@xdskit/protocol/internal";
import type { Slices } from "../slices.ts";
import type { EmptiedFuse } from "./emptied-fuse.ts";
import type { ResourceChanges } from "./entries.ts";
import type { InForceChange } from "./in-force.ts";
import type { Publication } from "./publication.ts";

/** What a publication would do to a state, before anything is recorded. */
export interface Judgement {
  readonly made: ResourceChanges;
  /** Undefined: it changes nothing of it. */
  readonly placement: Placement | undefined;
  /** Why it cannot be put in force; nothing else is judged then. */
  readonly problem: string | undefined;
  /** In force at once. */
  readonly live: readonly EntryChange[];
  /** Endpoints that become empty, and wait. */
  readonly emptied: readonly EntryChange[];
  /** Deletions among live data that wait until nothing refers to it. */
  readonly waiting: readonly EntryChange[];
  /** What fuses judge. */
  readonly change: LedgerEffect;
  /** Whether `change` changes anything. */
  readonly isStable: boolean;
  /** Empty: it may be in force, unless it is rejected. */
  readonly trips: readonly FuseTrip[];
  /** The record by which an operator rejected what the source has. */
  readonly rejectedBy: number | undefined;
}

export interface JudgementOptions {
  readonly kindOf: (type: TypeUrl) => TypeKind;
  readonly judge: (change: LedgerEffect, state: LedgerState) => Steps<readonly FuseTrip[]>;
  readonly slices: Slices;
  readonly emptied: EmptiedFuse;
  /** Why a change cannot be put in force; undefined: it can. */
  readonly check: (change: InForceChange) => Promise<string | undefined>;
}

/** What is judged. */
export interface Judged {
  readonly publication: Publication;
  readonly state: LedgerState;
  readonly made: ResourceChanges;
  /** Why its source may be an old copy. */
  readonly staleness: readonly FuseTrip[];
  /** Whether anything in force after the publication, or held, refers to a resource. */
  readonly isReferredTo: (place: EntryPlace) => boolean;
}

/** Judges a publication; a publish and a plan do it in the same way. Changes nothing. */
export async function judgePublication(
  { publication, state, made, staleness, isReferredTo }: Judged,
  { kindOf, judge, check, slices, emptied: emptiedFuse }: JudgementOptions,
): Promise<Judgement> {
  const placement = samePlacement(publication.placement, state.placement) ? undefined : publication.placement;
  const isEmpty = made.changes.length === 0 && placement === undefined;
  const problem = isEmpty ? undefined : await check({ changes: made, placement });
  const { live: all, stable, waiting } = await slices.finish(splitLive(made.changes, kindOf, isReferredTo));
  const { flowing: live, emptied } = await slices.finish(emptiedFuse.split(all, state));
  const change = { changes: stable, ...(placement !== undefined && { placement }) };
  const isStable = stable.length > 0 || placement !== undefined;
  const common = { made, placement, problem, live, emptied, waiting, change, isStable };
  const judgement = { ...common, rejectedBy: undefined };
  if (problem !== undefined || !isStable) return { ...judgement, trips: [] };
  const rejectedBy = state.rejectionOf(publication.origin);
  if (rejectedBy !== undefined) return { ...judgement, trips: [], rejectedBy };
  const judged = [...staleness, ...(await slices.finish(judge(change, state)))];
  return { ...judgement, trips: judged.length > 0 ? judged : stillHolding(state.held, change, publication.origin) };
}

/** The fuses that look at the placement of connected nodes. */
const placementFuses: readonly string[] = ["nodes-moved", "nodes-cut-off"];

/** What waits for a decision goes on waiting, also if fewer nodes are connected now: why a change waits that trips nothing. */
function stillHolding(
  held: HeldRecord | undefined,
  change: LedgerEffect,
  { writer }: PublishOrigin,
): readonly FuseTrip[] {
  if (held === undefined) return [];
  if (sameChange(held, change)) return held.trips;
  const { placement } = held;
  if (held.origin.writer !== writer || placement === undefined) return [];
  if (change.placement === undefined || !samePlacement(change.placement, placement)) return [];
  return held.trips.filter(({ fuse }) => placementFuses.includes(fuse));
}

/** Whether a placement changes nothing; undefined: it is not given. */
function samePlacement(given: Placement | undefined, before: Placement | undefined): boolean {
  return given === undefined || JSON.stringify(given) === JSON.stringify(before);
}

export function sameChange(held: HeldRecord, change: Pick<HeldRecord, "changes" | "placement">): boolean {
  return contentOf(held) === contentOf(change);
}

function contentOf({ changes, placement }: Pick<HeldRecord, "changes" | "placement">): string {
  const sorted = changes.map((change) => [placeKey(change), change.before, change.after] as const);
  return JSON.stringify([sorted.sort(([a], [b]) => (a < b ? -1 : 1)), placement]);
}
