import { messageNameOf, type TypeUrl } from "../resource/type-url.ts";
import { shownName } from "../resource/variant-name.ts";
import { ITEMS_A_STEP, type Steps } from "../state/steps.ts";
import type { FuseContext } from "./fuse-context.ts";
import type { FuseSettings } from "./fuse-settings.ts";
import type { LedgerEffect, LedgerState } from "./ledger-state.ts";
import { isSamePlacement } from "./placements.ts";
import type { EntryChange, FuseTrip } from "./record.ts";
import { judgeNodes } from "./view-fuses.ts";

/**
 * Why a change must be held; empty: it may be in force. Compares with what is in force and with the most of the last hour,
 * so that many small losses count together. Deletions that an approval covers do not count. Of each fuse the first trips are
 * named, and how many more there are.
 */
export function* tripFuses(
  change: LedgerEffect,
  state: LedgerState,
  context: FuseContext,
  settings: FuseSettings,
): Steps<readonly FuseTrip[]> {
  const trips = yield* pinned(change, state);
  for (const tally of yield* talliesOf(change.changes, state, context.time)) {
    trips.push(...judgeCount(tally, settings), ...judgeSize(tally, settings));
  }
  return firstOfEach([...trips, ...(yield* judgeNodes(change.changes, state, context, settings))]);
}

/** How many trips of one fuse are named. A rollback may pin thousands of resources, and each node may have a layer. */
const NAMED = 5;

/** The first trips of each fuse, and how many more there are. */
function firstOfEach(trips: readonly FuseTrip[]): readonly FuseTrip[] {
  const counts = new Map<FuseTrip["fuse"], number>();
  const named = trips.filter(({ fuse }) => {
    const count = (counts.get(fuse) ?? 0) + 1;
    counts.set(fuse, count);
    return count <= NAMED;
  });
  const unnamed = [...counts].filter(([, count]) => count > NAMED);
  return [...named, ...unnamed.map(([fuse, count]) => ({ fuse, message: `and ${count - NAMED} more` }))];
}

/** What a change does to one layer and type. */
interface Tally {
  readonly layer: string;
  readonly type: TypeUrl;
  /** The most of the last hour and now. */
  readonly most: { readonly count: number; readonly bytes: number };
  count: number;
  bytes: number;
  /** Entries that it deletes without an approval. */
  deleted: number;
  /** What it takes away and adds, by approvals left out. */
  grown: number;
}

function* talliesOf(changes: readonly EntryChange[], state: LedgerState, time: number): Steps<Iterable<Tally>> {
  let taken = 0;
  const tallies = new Map<string, Tally>();
  for (const change of changes) {
    if (++taken % ITEMS_A_STEP === 0) yield ITEMS_A_STEP;
    const { layer, type, after } = change;
    const key = `${layer}\u0000${type}`;
    const known = tallies.get(key);
    const tally = known ?? {
      ...{ layer, type, most: state.highest(layer, type, time), ...state.amount(layer, type) },
      ...{ deleted: 0, grown: 0 },
    };
    if (known === undefined) tallies.set(key, tally);
    const before = state.entry(change);
    if (after === undefined && (before === undefined || state.covers(change, time))) continue;
    const grown = (after?.size ?? 0) - (before?.size ?? 0);
    tally.count += (after === undefined ? 0 : 1) - (before === undefined ? 0 : 1);
    tally.bytes += grown;
    tally.grown += grown;
    if (after === undefined) tally.deleted++;
  }
  return tallies.values();
}

function judgeCount({ layer, type, most, count, deleted }: Tally, settings: FuseSettings): readonly FuseTrip[] {
  const { resourcesRemoved: share, resourcesRemovedFloor: floor } = settings;
  const gone = most.count - count;
  if (share === "off" || deleted === 0 || gone <= floor || gone <= share * most.count) return [];
  const message = `${gone} of ${most.count} ${shortName(type)} resources would be gone from layer ${layer}`;
  return [{ fuse: "resources-removed", layer, type, message }];
}

function judgeSize({ layer, type, most, bytes, grown }: Tally, settings: FuseSettings): readonly FuseTrip[] {
  const { sizeGrown, sizeShrunk, sizeFloor } = settings;
  const difference = bytes - most.bytes;
  if (most.bytes === 0 || Math.abs(difference) <= sizeFloor) return [];
  const message = `the ${shortName(type)} resources of layer ${layer} would go from ${most.bytes} to ${bytes} bytes`;
  if (sizeGrown !== "off" && grown > 0 && difference >= sizeGrown * most.bytes) {
    return [{ fuse: "size-grown", layer, type, message }];
  }
  if (sizeShrunk !== "off" && grown < 0 && -difference >= sizeShrunk * most.bytes) {
    return [{ fuse: "size-shrunk", layer, type, message }];
  }
  return [];
}

function* pinned({ changes, placement }: LedgerEffect, state: LedgerState): Steps<FuseTrip[]> {
  let taken = 0;
  const trips: FuseTrip[] = [];
  for (const change of changes) {
    if (++taken % ITEMS_A_STEP === 0) yield ITEMS_A_STEP;
    const pin = state.pinAgainst(change);
    if (pin === undefined) continue;
    const { layer, type, name, version } = pin;
    const what = `${shortName(type)} "${shownName(name)}" (${layer})`;
    const was = version === undefined ? "its deletion" : `version ${version}`;
    trips.push({ fuse: "pinned", layer, type, message: `${what}: ${was} was rolled back` });
  }
  const { pinnedPlacement } = state;
  if (placement === undefined || pinnedPlacement === undefined) return trips;
  if (isSamePlacement(placement, pinnedPlacement)) {
    trips.push({ fuse: "pinned", message: "this node mapping was rolled back" });
  }
  return trips;
}

function shortName(type: TypeUrl): string {
  const name = messageNameOf(type);
  return name.slice(name.lastIndexOf(".") + 1);
}
