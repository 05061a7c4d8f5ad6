import {
  type Digest,
  type EntryChange,
  type LedgerRecord,
  type LedgerState,
  type PlacedEntry,
  type Placement,
  placeKey,
} from "@xdskit/protocol/internal";
import type { Slices } from "../slices.ts";
import { isSameHead } from "./chain.ts";
import { findOtherHistory, readBehind } from "./follow.ts";
import { isChange as isStableChange } from "./history.ts";
import type { InForceChange, StateInForce } from "./in-force.ts";
import { parseRecord } from "./parse-record.ts";
import { type ReadLedger, readLedger, resourcesOf } from "./reading.ts";
import type { LedgerHead, LedgerStore } from "./store.ts";

export interface LedgerReaderOptions {
  readonly store: LedgerStore;
  readonly digest: Digest;
  readonly inForce: StateInForce;
  readonly slices: Slices;
  /** Called with each record of another process, once it is in force, and what it changes. */
  readonly onRead: (record: LedgerRecord, changes: readonly EntryChange[]) => void;
}

/** Why nothing of the store is applied any more, until an operator decides. */
export interface ReaderStop {
  readonly why: "unknown-record" | "other-history" | "not-applicable";
  readonly reason: string;
  readonly since: Date;
}

/** A record that is read, and the head that it makes. */
interface ReadRecord {
  readonly record: LedgerRecord;
  readonly head: LedgerHead;
}

/**
 * The state of a ledger in this process, and how far it has read the store. Records of this process are folded before
 * they are appended; those of others are read, folded and put in force in order.
 */
export class LedgerReader {
  readonly #options: LedgerReaderOptions;
  /** Ahead of what is in force while records are being appended. */
  #state: LedgerState;
  #head: LedgerHead;
  /** What the records that are not appended yet change. */
  #ahead: (readonly EntryChange[])[] = [];
  /** What was folded was not appended, so the state is not that of the store. */
  #isLost = false;
  #stop: ReaderStop | undefined;
  /** Of the ledger that is in force. */
  #epoch: string;

  constructor(options: LedgerReaderOptions, { state, head, problem }: ReadLedger) {
    this.#options = options;
    this.#state = state;
    this.#head = head;
    this.#epoch = options.store.epoch;
    if (problem !== undefined) this.#stopFor("unknown-record", problem);
  }

  get state(): LedgerState {
    return this.#state;
  }

  /** The newest record that is durable and in force. */
  get head(): LedgerHead {
    return this.#head;
  }

  get stop(): ReaderStop | undefined {
    return this.#stop;
  }

  /** Takes the next record of this process into the state. Throws if it cannot follow. */
  async fold(record: LedgerRecord): Promise<void> {
    const folded = await this.#options.slices.finish(this.#state.applyInSteps(record));
    if (!folded.applied) throw new Error(`the ledger refuses its own record: ${folded.reason}`);
    this.#ahead.push(folded.effect.changes);
  }

  /** What was folded is durable, and comes in force now. */
  appended(head: LedgerHead): void {
    this.#head = head;
    this.#ahead = [];
  }

  /** What was folded was not appended: the next `catchUp` reads again what the store has. */
  notAppended(): void {
    this.#isLost = true;
  }

  /**
   * Applies what the store has and this process has not. Rejects if it cannot be read, and can be called again then. Ends
   * early at a record that must not be applied, and `stop` says why.
   */
  async catchUp(): Promise<void> {
    const { store } = this.#options;
    if (this.#stop !== undefined) return;
    if (this.#isLost) await this.#readWhole();
    if (this.#stop !== undefined || store.refresh === undefined || isSameHead(store.head, this.#head)) return;
    const isBehind = store.head.number < this.#head.number;
    // What this process has seen of the store may be older than what it has read.
    if (isBehind) await store.refresh();
    // A publication of live data and more is two records of one append, and comes in force as a whole.
    let group: ReadRecord[] = [];
    for await (const behind of readBehind(store, this.#head)) {
      const isEnd = behind.kind !== "record" || (behind.record.kind !== "live" && behind.record.kind !== "revision");
      if (isEnd && !(await this.#take(group.splice(0)))) return;
      if (behind.kind === "other-history") this.#stopFor("other-history", behind.reason);
      else if (behind.kind === "gap") await this.#readWhole();
      else {
        group.push(behind);
        if (behind.record.kind === "live") continue;
        if (await this.#take(group)) {
          group = [];
          continue;
        }
      }
      return;
    }
    await this.#take(group);
  }

  /** Puts in force what the store has, whatever was in force before. */
  async adopt(): Promise<void> {
    this.#stop = undefined;
    await this.#readWhole(true);
  }

  /** False: one of them must not be applied; those before it are. */
  async #take(group: readonly ReadRecord[]): Promise<boolean> {
    const { inForce, onRead, slices } = this.#options;
    const taken: { readonly record: LedgerRecord; readonly changes: readonly EntryChange[] }[] = [];
    const merged = new Map<string, EntryChange>();
    let placement: Placement | undefined;
    let { head } = this;
    if (group.length === 0) return true;
    for (const read of group) {
      const folded = await slices.finish(this.#state.applyInSteps(read.record));
      if (!folded.applied) {
        this.#stopFor("unknown-record", `record ${read.head.number} cannot be understood: ${folded.reason}`);
        break;
      }
      const { effect } = folded;
      for (const change of effect.changes) {
        const { before } = merged.get(placeKey(change)) ?? change;
        merged.set(placeKey(change), { ...change, before });
      }
      placement = effect.placement ?? placement;
      taken.push({ record: read.record, changes: effect.changes });
      head = read.head;
    }
    const changes = [...merged.values()];
    const change = await this.#withContent(changes, placement);
    if (change === undefined) return false;
    const before = this.#head.number;
    this.#head = head;
    const isChange = changes.length > 0 || placement !== undefined;
    const revision = isChange ? await inForce.put(change) : inForce.revision;
    inForce.reached(before, head.number, revision);
    const changing = taken.findLast(({ changes: ofRecord }) => ofRecord.length > 0)?.record.number ?? head.number;
    const stable = taken.findLast(({ record }) => isStableChange(record))?.record.number;
    if (isChange) inForce.changed(changing, revision, stable);
    inForce.setHeld(this.#state.held);
    for (const one of taken) onRead(one.record, one.changes);
    return this.#stop === undefined;
  }

  /** Reads the content of changes that are folded. Undefined: they cannot be put in force here. */
  async #withContent(
    changes: readonly EntryChange[],
    placement: Placement | undefined,
  ): Promise<InForceChange | undefined> {
    const { store, digest, inForce } = this.#options;
    // Until they are in force, the state is ahead.
    this.#ahead = [changes];
    this.#isLost = true;
    const change = { changes: { changes, resources: await resourcesOf(changes, store, digest) }, placement };
    const problem = changes.length === 0 && placement === undefined ? undefined : await inForce.check(change);
    if (problem !== undefined) {
      this.#stopFor("not-applicable", `what follows record ${this.#head.number} cannot be put in force: ${problem}`);
      return undefined;
    }
    this.#ahead = [];
    this.#isLost = false;
    return change;
  }

  /** Reads the state as a whole and puts the difference in force. */
  async #readWhole(isAdopted = false): Promise<void> {
    const { store, digest, inForce, onRead } = this.#options;
    await store.refresh?.();
    const other = isAdopted ? undefined : ((await findOtherHistory(store, this.#head)) ?? this.#findOtherEpoch());
    if (other !== undefined) {
      this.#stopFor("other-history", other);
      return;
    }
    const { state, head } = await readLedger(store);
    const changes = this.#differenceTo(state);
    const resources = await resourcesOf(changes, store, digest);
    const isMoved = JSON.stringify(state.placement) !== JSON.stringify(inForce.placement);
    const change = { changes: { changes, resources }, placement: isMoved ? state.placement : undefined };
    const before = this.#head.number;
    const records: LedgerRecord[] = [];
    for await (const stored of store.read(before)) {
      if (stored.number > head.number) break;
      records.push(parseRecord(stored));
    }
    this.#state = state;
    this.#head = head;
    this.#epoch = store.epoch;
    this.#ahead = [];
    this.#isLost = false;
    const isChange = changes.length > 0 || isMoved;
    const revision = isChange ? await inForce.put(change) : inForce.revision;
    inForce.reached(before, head.number, revision);
    if (isChange) inForce.changed(head.number, revision, records.findLast(isStableChange)?.number ?? head.number);
    inForce.setHeld(state.held);
    for (const record of records) onRead(record, "changes" in record ? record.changes : []);
  }

  /** Without the record in force, only the same epoch shows that a store is its successor. */
  #findOtherEpoch(): string | undefined {
    const { number } = this.#head;
    if (number === 0 || this.#options.store.epoch === this.#epoch) return undefined;
    return `it is another ledger than the one of which ${number} is in force`;
  }

  /** How the entries of a state differ from those in force. */
  #differenceTo(state: LedgerState): readonly EntryChange[] {
    const before = this.#entriesInForce();
    const changes: EntryChange[] = [];
    for (const placed of state.entries()) {
      const { layer, type, name, entry } = placed;
      const known = before.get(placeKey(placed))?.entry;
      before.delete(placeKey(placed));
      if (known?.version === entry.version && known.body === entry.body) continue;
      changes.push({ layer, type, name, before: known, after: entry });
    }
    for (const { layer, type, name, entry } of before.values())
      changes.push({ layer, type, name, before: entry, after: undefined });
    return changes;
  }

  #entriesInForce(): Map<string, PlacedEntry> {
    const entries = new Map<string, PlacedEntry>();
    for (const placed of this.#state.entries()) entries.set(placeKey(placed), placed);
    for (const { before, after: _, ...place } of this.#ahead.flat().reverse()) {
      if (before === undefined) entries.delete(placeKey(place));
      else entries.set(placeKey(place), { ...place, entry: before });
    }
    return entries;
  }

  #stopFor(why: ReaderStop["why"], reason: string): void {
    this.#stop = { why, reason, since: new Date() };
  }
}
