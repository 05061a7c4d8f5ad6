import {
  type EntryChange,
  type HeldRecord,
  type LedgerRecord,
  type PublishOrigin,
  placeKey,
} from "@xdskit/protocol/internal";
import { parseRecord } from "./parse-record.ts";
import type { LedgerStore } from "./store.ts";

/** Chooses records. */
export type RecordFilter = (record: LedgerRecord) => boolean | Promise<boolean>;

/** The store is away, or has something that cannot be read; the message says which. */
export class HistoryUnreadable extends Error {
  override readonly name = "HistoryUnreadable";
}

/** What was recorded, as far back as the store keeps it. Methods reject with `HistoryUnreadable` if that cannot be read. */
export class LedgerHistory {
  readonly #store: LedgerStore;

  constructor(store: LedgerStore) {
    this.#store = store;
  }

  /** The newest records with numbers below `before` that are wanted, newest first. */
  async newest({
    before,
    limit,
    isWanted = () => true,
  }: {
    readonly before: number;
    readonly limit: number;
    readonly isWanted?: RecordFilter;
  }): Promise<readonly LedgerRecord[]> {
    const found: LedgerRecord[] = [];
    let span = limit;
    let last = before - 1;
    // Some of the numbers are not kept, or not wanted.
    while (found.length < limit && last > 0) {
      const after = Math.max(0, last - span);
      for (const record of (await this.#between(after, last)).reverse())
        if (found.length < limit && (await isWanted(record))) found.push(record);
      last = after;
      span *= 4;
    }
    return found;
  }

  /** The later records that decide on one, or take it back, oldest first. */
  async decisionsOn({ number, kind }: LedgerRecord, limit: number): Promise<readonly LedgerRecord[]> {
    const found: LedgerRecord[] = [];
    const isEffective = kind === "revision" || kind === "approved" || kind === "rolled-back";
    for await (const record of this.#recordsAfter(number)) {
      const isOnIt = "of" in record && record.of === number;
      const takesBack = record.kind === "rolled-back" && record.to < number && isEffective;
      if (isOnIt || takesBack) found.push(record);
      if (found.length === limit) break;
    }
    return found;
  }

  /** Undefined: there is none of that number, or it is not kept. */
  async record(number: number): Promise<LedgerRecord | undefined> {
    const [record] = await this.#between(number - 1, number);
    return record;
  }

  /** The record by which a source published this content, if it published other content since. */
  async publishedAs({ writer, digest }: PublishOrigin): Promise<number | undefined> {
    let found: number | undefined;
    let isNewest = false;
    const held = new Map<number, HeldRecord>();
    for await (const record of this.#recordsAfter(0)) {
      if (record.kind === "held") held.set(record.number, record);
      if (record.kind !== "revision" && record.kind !== "approved") continue;
      const published = record.kind === "approved" ? held.get(record.of) : record;
      if (published?.origin.writer !== writer) continue;
      isNewest = published.origin.digest === digest;
      if (isNewest) found = record.number;
    }
    return isNewest ? undefined : found;
  }

  /** What a record changed, or would change while it is held. */
  async changesOf(record: LedgerRecord): Promise<readonly EntryChange[]> {
    if ("changes" in record) return record.changes;
    if (record.kind !== "approved") return [];
    const decided = await this.record(record.of);
    return decided?.kind === "held" || decided?.kind === "emptied" ? decided.changes : [];
  }

  /** What is different at the number `to` from what was at `from`, but live data. Undefined: it is not kept. */
  async difference(from: number, to: number): Promise<readonly EntryChange[] | undefined> {
    if (from > to) return (await this.difference(to, from))?.map(reversed);
    if (from < this.#store.completeAfter) return undefined;
    const changes = new Map<string, EntryChange>();
    for (const record of await this.#between(from, to)) {
      if (record.kind === "held" || record.kind === "emptied" || !isStable(record)) continue;
      for (const change of await this.changesOf(record)) {
        const key = placeKey(change);
        const first = changes.get(key);
        changes.set(key, first === undefined ? change : { ...change, before: first.before });
      }
    }
    return [...changes.values()].filter(({ before, after }) => !isSame(before, after));
  }

  /** The stored body of a resource. */
  async body(id: string): Promise<Uint8Array | undefined> {
    this.#requireStore();
    try {
      return await this.#store.body(id);
    } catch (cause) {
      throw this.#unreadable(cause);
    }
  }

  async #between(after: number, last: number): Promise<LedgerRecord[]> {
    const records: LedgerRecord[] = [];
    if (last <= after) return records;
    for await (const record of this.#recordsAfter(after, last)) records.push(record);
    return records;
  }

  async *#recordsAfter(after: number, last = Number.POSITIVE_INFINITY): AsyncIterable<LedgerRecord> {
    this.#requireStore();
    try {
      for await (const stored of this.#store.read(after)) {
        if (stored.number > last) return;
        yield parseRecord(stored);
      }
    } catch (cause) {
      throw this.#unreadable(cause);
    }
  }

  /** An engine that is known to be away is not asked: it would take as long as its timeout. */
  #requireStore(): void {
    const { outage, copy } = this.#store;
    if (outage !== undefined && copy?.isInPlace !== true) throw this.#unreadable(undefined);
  }

  #unreadable(cause: unknown): HistoryUnreadable {
    const { outage } = this.#store;
    const reason = cause instanceof Error ? cause.message : String(cause);
    const what = outage === undefined ? "the ledger cannot be read" : "the store is unreachable";
    return new HistoryUnreadable(`${what}: ${outage?.reason ?? reason}`, { cause });
  }
}

/** Whether a record changed anything but live data. */
export function isChange(record: LedgerRecord): boolean {
  const { kind } = record;
  return (kind === "revision" || kind === "approved" || kind === "rolled-back") && isStable(record);
}

/** Whether anything comes in force by a record. */
export function isInForce(record: LedgerRecord): boolean {
  return record.kind === "live" || record.kind === "approved" || isChange(record);
}

function isStable(record: LedgerRecord): boolean {
  return record.kind !== "live" && !("isLive" in record);
}

function reversed({ before, after, ...place }: EntryChange): EntryChange {
  return { ...place, before: after, after: before };
}

function isSame(one: EntryChange["before"], other: EntryChange["before"]): boolean {
  return one?.version === other?.version && one?.body === other?.body && (one === undefined) === (other === undefined);
}
