import {
  type BodyId,
  type EntryChange,
  type LedgerRecord,
  type LedgerSnapshot,
  type LedgerState,
  placeKey,
} from "@xdskit/protocol/internal";
import { Slices } from "../slices.ts";
import { parseRecord } from "./parse-record.ts";
import type { Kept, LedgerHead, LedgerStore } from "./store.ts";
import { stringify } from "./stringify.ts";

/** How much of the past a ledger keeps; what exceeds either goes, but never the newest record. */
export interface Retention {
  /** Revisions and decisions; live data does not count, and is not kept. */
  readonly revisions: number;
  readonly days: number;
}

export const DEFAULT_RETENTION: Retention = { revisions: 1_000, days: 30 };

/**
 * A snapshot is written after so many changes beyond the entries of the state, and not before those are as many as the
 * entries, and as the compaction before copied. A first load alone is none: a snapshot would hold as much as its record.
 */
const COMPACTED_AFTER_CHANGES = 10_000;
const DAY_MS = 24 * 60 * 60_000;

type HistoryRecord = Exclude<LedgerRecord, { readonly kind: "live" }>;

/**
 * What is kept of the records up to a snapshot: the newest that the retention allows, the held one, those whose pins are
 * in force, and those on which one that stays decides; and every body that these or the snapshot name. `completeAfter`: the
 * past of the records is complete after that number.
 */
export async function keptOf(
  records: AsyncIterable<LedgerRecord>,
  snapshot: LedgerSnapshot,
  { revisions, days }: Retention,
  { now, completeAfter, slices }: { readonly now: number; readonly completeAfter: number; readonly slices: Slices },
): Promise<Kept> {
  const { number, held } = snapshot;
  const bodies = new Set<BodyId>();
  const add = async (some: Iterable<BodyId>): Promise<void> => {
    for (const body of some) {
      bodies.add(body);
      if (slices.count()) await slices.next();
    }
  };
  await add(bodiesIn(snapshot));
  const pinned = new Set(snapshot.pins.map(placeKey));
  const history: HistoryRecord[] = [];
  for await (const record of records) if (record.number <= number && record.kind !== "live") history.push(record);
  const young = history.findIndex(({ time }) => now - time <= days * DAY_MS);
  const from = Math.max(history.length - revisions, young < 0 ? history.length - 1 : young, 0);
  const kept = new Set(history.slice(from).map((record) => record.number));
  for (const record of history) if ("of" in record && kept.has(record.number)) kept.add(record.of);
  if (held !== undefined) kept.add(held.number);
  for (const record of history) {
    const isPinning = record.kind === "rolled-back" && record.pins.some((pin) => pinned.has(placeKey(pin)));
    if (isPinning) kept.add(record.number);
    if (kept.has(record.number) && "changes" in record) await add(bodiesOf(record.changes));
  }
  return {
    completeAfter: from === 0 ? completeAfter : (history[from - 1]?.number ?? completeAfter),
    records: new Set(history.flatMap((record) => (kept.has(record.number) ? [record.number] : []))),
    bodies,
  };
}

export interface CompactorOptions {
  readonly store: LedgerStore;
  readonly retention: Retention;
  readonly onProblem: (message: string) => void;
}

/** Compacts a ledger now and then, as it grows. */
export class Compactor {
  readonly #options: CompactorOptions;
  /** Since the newest snapshot. */
  #changes = 0;
  /** Records and bodies that the last compaction kept. */
  #copied = 0;
  #running: Promise<void> | undefined;

  constructor(options: CompactorOptions) {
    this.#options = options;
  }

  /** Called with each record that is read behind the newest snapshot, or appended. */
  count(record: LedgerRecord): void {
    this.#changes += 1 + ("changes" in record ? record.changes.length : 0);
  }

  /**
   * Begins a compaction if it is due and the state is that of the head; resolves when the state may change again.
   */
  async compactIfDue(state: LedgerState, slices: Slices): Promise<void> {
    const { head } = this.#options.store;
    if (this.#running !== undefined || state.number !== head.number || !this.#isDue(state)) return;
    this.#changes = 0;
    const snapshot = await slices.finish(state.toSnapshotInSteps());
    this.#running = this.#compact(head, snapshot).finally(() => {
      this.#running = undefined;
    });
  }

  /** Resolves when none is under way. */
  async settled(): Promise<void> {
    await this.#running;
  }

  #isDue({ size }: LedgerState): boolean {
    return this.#changes >= size + Math.max(COMPACTED_AFTER_CHANGES, this.#copied, size);
  }

  async #compact(head: LedgerHead, snapshot: LedgerSnapshot): Promise<void> {
    const { store, retention, onProblem } = this.#options;
    const slices = new Slices();
    try {
      const text = await stringify(snapshot, slices);
      const { completeAfter } = store;
      const keep = await keptOf(recordsOf(store), snapshot, retention, { now: Date.now(), completeAfter, slices });
      this.#copied = keep.records.size + keep.bodies.size;
      await store.compact({ head, text }, keep);
    } catch (error) {
      onProblem(`the ledger cannot be compacted: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}

/** The records that a store has, oldest first. */
export async function* recordsOf(store: LedgerStore, after = 0): AsyncIterable<LedgerRecord> {
  for await (const stored of store.read(after)) yield parseRecord(stored);
}

/** The bodies that a state, what is held and a rollback need; one may be among them several times. */
export function* bodiesIn({
  entries: { tables },
  held,
  deletedLive = [],
  emptiedEndpoints = [],
}: LedgerSnapshot): Iterable<BodyId> {
  for (const { entries } of tables) for (const [, , body] of entries) if (body !== null) yield body;
  if (held !== undefined) yield* bodiesOf(held.changes);
  yield* bodiesOf(emptiedEndpoints.map(({ change }) => change));
  for (const { entry } of deletedLive) if (entry.body !== undefined) yield entry.body;
}

/** The bodies that changes name, before and after. */
export function* bodiesOf(changes: readonly EntryChange[]): Iterable<BodyId> {
  for (const { before, after } of changes) {
    if (before?.body !== undefined) yield before.body;
    if (after?.body !== undefined) yield after.body;
  }
}
