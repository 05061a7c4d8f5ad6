import { type TypeKind, typeKindTable } from "../resource/type-kinds.ts";
import type { TypeUrl } from "../resource/type-url.ts";
import { ITEMS_A_STEP, type Steps } from "../state/steps.ts";
import type { LedgerEffect, LedgerState } from "./ledger-state.ts";
import { isSameEntry, type PlacedEntry, placeKey } from "./place.ts";
import { isSamePlacement } from "./placements.ts";
import type { EntryChange, EntryPlace, HeldRecord, LedgerRecord, Pin } from "./record.ts";

/** The kind of a type, as the catalog knows it. */
export type KindOf = (type: TypeUrl) => TypeKind;

/**
 * What must change so that the layers hold exactly the desired entries. Layers that are not named stay as they are. A
 * place that is desired twice gets the last entry. `note` is called with each change that leads to a desired entry.
 */
export function* changesBetween<P extends PlacedEntry>(
  state: LedgerState,
  desired: Iterable<P>,
  layers: Iterable<string>,
  note?: (change: EntryChange, wanted: P) => void,
): Steps<readonly EntryChange[]> {
  let taken = 0;
  const wanted = new ByPlace<P>();
  for (const placed of desired) {
    wanted.set(placed);
    if (++taken % ITEMS_A_STEP === 0) yield ITEMS_A_STEP;
  }
  const changes: EntryChange[] = [];
  for (const placed of wanted.values()) {
    if (++taken % ITEMS_A_STEP === 0) yield ITEMS_A_STEP;
    const { layer, type, name, entry } = placed;
    const before = state.entry(placed);
    if (isSameEntry(before, entry)) continue;
    const change = { layer, type, name, before, after: entry };
    changes.push(change);
    note?.(change, placed);
  }
  for (const placed of state.entries(new Set(layers))) {
    if (++taken % ITEMS_A_STEP === 0) yield ITEMS_A_STEP;
    if (wanted.has(placed)) continue;
    const { layer, type, name, entry } = placed;
    changes.push({ layer, type, name, before: entry, after: undefined });
  }
  return changes;
}

/** Something for each place. Names are keys as they are: to make a key of each place takes longer than all else. */
class ByPlace<P extends EntryPlace> {
  readonly #layers = new Map<string, Map<TypeUrl, Map<string, P>>>();

  set(placed: P): void {
    let types = this.#layers.get(placed.layer);
    if (types === undefined) {
      types = new Map();
      this.#layers.set(placed.layer, types);
    }
    let names = types.get(placed.type);
    if (names === undefined) {
      names = new Map();
      types.set(placed.type, names);
    }
    names.set(placed.name, placed);
  }

  has({ layer, type, name }: EntryPlace): boolean {
    return this.#layers.get(layer)?.get(type)?.has(name) === true;
  }

  *values(): Iterable<P> {
    for (const types of this.#layers.values()) for (const names of types.values()) yield* names.values();
  }
}

/** A change in its parts. */
export interface SplitChange {
  /** Judged by fuses, part of the history. */
  readonly stable: readonly EntryChange[];
  /** In force at once. */
  readonly live: readonly EntryChange[];
  /** Deletions among live data that something refers to: to be published again once nothing does. */
  readonly waiting: readonly EntryChange[];
}

/** Splits a change. `isReferredTo` says whether anything in force or held refers to a resource. */
export function* splitLive(
  changes: readonly EntryChange[],
  kindOf: KindOf,
  isReferredTo: (place: EntryPlace) => boolean,
): Steps<SplitChange> {
  let taken = 0;
  const stable: EntryChange[] = [];
  const live: EntryChange[] = [];
  const waiting: EntryChange[] = [];
  for (const change of changes) {
    if (!isLive(change, kindOf)) stable.push(change);
    else if (change.after === undefined && isReferredTo(change)) waiting.push(change);
    else live.push(change);
    if (++taken % ITEMS_A_STEP === 0) yield ITEMS_A_STEP;
  }
  return { stable, live, waiting };
}

/** What brings the state of a number back. */
export interface Reversal extends LedgerEffect {
  readonly kind: "reversal";
  readonly pins: readonly Pin[];
  /** Entries that stay as they are, because their old body holds a secret and was not kept. */
  readonly irretrievable: readonly EntryPlace[];
}

export type ReversalResult = Reversal | { readonly kind: "refused"; readonly reason: string };

/**
 * What must change now so that everything but live data is as at the number `to`. `records` are those that are kept, in
 * order; after `completeAfter` none is missing but those of live data. A ledger without a placement at that number keeps the present one.
 */
export function reverseTo(
  state: LedgerState,
  {
    to,
    records,
    completeAfter,
    kindOf,
  }: {
    readonly to: number;
    readonly records: Iterable<LedgerRecord>;
    readonly completeAfter: number;
    readonly kindOf: KindOf;
  },
): ReversalResult {
  if (!Number.isSafeInteger(to) || to < 0 || to > state.number) {
    return refused(`there is no revision ${to}: the newest is ${state.number}`);
  }
  if (to < completeAfter) return refused(`revision ${to} is not kept any more: the oldest is ${completeAfter}`);
  const held = new Map<number, HeldRecord>();
  const first = new Map<string, EntryChange>();
  for (const record of records) {
    if (record.kind === "held") held.set(record.number, record);
    if (record.number <= to) continue;
    const changes = changesIn(record, held);
    if (changes === undefined) return refused(`what ${record.number} approved is not kept any more`);
    for (const change of changes) {
      const key = placeKey(change);
      if (!isLive(change, kindOf) && !first.has(key)) first.set(key, change);
    }
  }
  const placement = state.placementAt(to);
  if (placement === "unknown") return refused(`the node mapping of revision ${to} is not kept any more`);
  const isMoved = placement !== undefined && !isSamePlacement(placement, state.placement);
  return { kind: "reversal", ...reverse(state, first.values()), ...(isMoved && { placement }) };
}

/** What a record put in force; undefined: it approved what is not kept. */
function changesIn(record: LedgerRecord, held: ReadonlyMap<number, HeldRecord>): readonly EntryChange[] | undefined {
  if (record.kind === "approved") return record.isLive === true ? [] : held.get(record.of)?.changes;
  return record.kind === "revision" || record.kind === "rolled-back" ? record.changes : [];
}

function reverse(state: LedgerState, first: Iterable<EntryChange>): Omit<Reversal, "kind" | "placement"> {
  const changes: EntryChange[] = [];
  const pins: Pin[] = [];
  const irretrievable: EntryPlace[] = [];
  for (const { layer, type, name, before: after } of first) {
    const place = { layer, type, name };
    const before = state.entry(place);
    if (isSameEntry(before, after)) continue;
    if (after !== undefined && after.body === undefined) {
      irretrievable.push(place);
      continue;
    }
    changes.push({ ...place, before, after });
    pins.push({ ...place, version: before?.version });
  }
  return { changes, pins, irretrievable };
}

function isLive({ type }: EntryPlace, kindOf: KindOf): boolean {
  return typeKindTable[kindOf(type)].isLive;
}

function refused(reason: string): ReversalResult {
  return { kind: "refused", reason };
}
