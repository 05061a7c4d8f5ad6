import {
  type EntryChange,
  type HeldRecord,
  type LedgerRecord,
  type PublishOrigin,
  placeKey,
} from "@xdskit/protocol/internal";
import type { LedgerStore } from "./store.ts";

/** What was recorded, as far back as the store keeps it. */
export class LedgerHistory {
  readonly #store: LedgerStore;

  constructor(store: LedgerStore) {
    this.#store = store;
  }

  /** The newest records with numbers below `before`, newest first. */
  async newest({
    before,
    limit,
  }: {
    readonly before: number;
    readonly limit: number;
  }): Promise<readonly LedgerRecord[]> {
    let span = limit;
    for (;;) {
      const after = Math.max(0, before - 1 - span);
      const records = await this.#between(after, before - 1);
      // Some of the numbers are not kept.
      if (records.length >= limit || after === 0) return records.reverse().slice(0, limit);
      span *= 4;
    }
  }

  /** The newest number by which anything but live data changed. */
  async newestChange(): Promise<number | undefined> {
    let found: number | undefined;
    for await (const { text } of this.#store.read(0)) {
      const record = JSON.parse(text) as LedgerRecord;
      if (isChange(record)) found = record.number;
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
    for await (const { text } of this.#store.read(0)) {
      const record = JSON.parse(text) as LedgerRecord;
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
    return record.kind === "approved" ? ((await this.#held(record.of))?.changes ?? []) : [];
  }

  /** What is different at the number `to` from what was at `from`, but live data. Undefined: it is not kept. */
  async difference(from: number, to: number): Promise<readonly EntryChange[] | undefined> {
    if (from > to) return (await this.difference(to, from))?.map(reversed);
    if (from < this.#store.completeAfter) return undefined;
    const changes = new Map<string, EntryChange>();
    for (const record of await this.#between(from, to)) {
      if (record.kind === "held" || record.kind === "live") continue;
      for (const change of await this.changesOf(record)) {
        const key = placeKey(change);
        const first = changes.get(key);
        changes.set(key, first === undefined ? change : { ...change, before: first.before });
      }
    }
    return [...changes.values()].filter(({ before, after }) => !isSame(before, after));
  }

  /** The stored body of a resource. */
  body(id: string): Promise<Uint8Array | undefined> {
    return this.#store.body(id);
  }

  async #held(number: number): Promise<HeldRecord | undefined> {
    const record = await this.record(number);
    return record?.kind === "held" ? record : undefined;
  }

  async #between(after: number, last: number): Promise<LedgerRecord[]> {
    const records: LedgerRecord[] = [];
    if (last <= after) return records;
    for await (const { number, text } of this.#store.read(after)) {
      if (number > last) break;
      records.push(JSON.parse(text) as LedgerRecord);
    }
    return records;
  }
}

/** Whether a record changed anything but live data. */
export function isChange({ kind }: LedgerRecord): boolean {
  return kind === "revision" || kind === "approved" || kind === "rolled-back";
}

function reversed({ before, after, ...place }: EntryChange): EntryChange {
  return { ...place, before: after, after: before };
}

function isSame(one: EntryChange["before"], other: EntryChange["before"]): boolean {
  return one?.version === other?.version && one?.body === other?.body && (one === undefined) === (other === undefined);
}
