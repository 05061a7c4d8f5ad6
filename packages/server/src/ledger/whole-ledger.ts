import type { EntryChange, LedgerSnapshot } from "@xdskit/protocol/internal";
import { isSameHead } from "./chain.ts";
import { parseRecord } from "./parse-record.ts";
import { bodiesIn, bodiesOf } from "./retention.ts";
import type { LedgerHead, LedgerStore, StoredRecord, WholeLedger } from "./store.ts";

/** So many digests are remembered, so that a body that is named again is not read again. */
const REMEMBERED = 200_000;
/** Bodies that are read at a time. */
const READ_AT_ONCE = 64;

/** What a store has, read as it is asked for. */
export interface ReadWhole extends WholeLedger {
  /** How many bodies were named that the store does not have. */
  readonly absent: number;
}

export interface WholeOptions {
  /** Up to which record. @default the newest */
  readonly head?: LedgerHead;
  /** Reads a body. @default from the store */
  readonly body?: (digest: string) => Promise<Uint8Array | undefined>;
}

/** What a store has now. No more of it is in memory than the snapshot and a record. */
export async function wholeOf(store: LedgerStore, options: WholeOptions = {}): Promise<ReadWhole> {
  await store.refresh?.();
  const { head = store.head, body = (digest) => store.body(digest) } = options;
  const [completeAfter, snapshot] = [store.completeAfter, await store.snapshot()];
  if (snapshot !== undefined && snapshot.head.number > head.number) throw compactedMeanwhile();
  const records = (): AsyncIterable<StoredRecord> => whole(store.read(0), snapshot?.head, head);
  const absent = { count: 0 };
  const bodies = (): AsyncIterable<readonly [string, Uint8Array]> => {
    absent.count = 0;
    return readBodies(namesIn(snapshot, records()), body, absent);
  };
  return {
    ...{ head, completeAfter, snapshot, records, bodies },
    get absent() {
      return absent.count;
    },
  };
}

/** Throws at a gap behind the snapshot. */
async function* whole(
  records: AsyncIterable<StoredRecord>,
  from: LedgerHead = { number: 0, id: "" },
  head: LedgerHead,
): AsyncIterable<StoredRecord> {
  let last = from;
  for await (const record of records) {
    if (record.number > head.number) break;
    if (record.number > from.number) {
      if (record.number !== last.number + 1) throw compactedMeanwhile();
      last = record;
    }
    yield record;
  }
  if (!isSameHead(last, head)) throw compactedMeanwhile();
}

function compactedMeanwhile(): Error {
  return new Error("the ledger was compacted while it was read: repeat it");
}

async function* namesIn(
  snapshot: WholeLedger["snapshot"],
  records: AsyncIterable<StoredRecord>,
): AsyncIterable<string> {
  if (snapshot !== undefined) yield* bodiesIn(JSON.parse(snapshot.text) as LedgerSnapshot);
  for await (const stored of records) {
    const record = parseRecord(stored);
    if ("changes" in record) yield* bodiesOf(record.changes as readonly EntryChange[]);
  }
}

async function* readBodies(
  names: AsyncIterable<string>,
  readBody: (digest: string) => Promise<Uint8Array | undefined>,
  absent: { count: number },
): AsyncIterable<readonly [string, Uint8Array]> {
  const read = new Set<string>();
  let group: string[] = [];
  const flush = async function* (): AsyncIterable<readonly [string, Uint8Array]> {
    const bytes = await Promise.all(group.map((digest) => readBody(digest)));
    for (const [index, digest] of group.entries()) {
      const body = bytes[index];
      if (body === undefined) absent.count++;
      else yield [digest, body];
    }
    group = [];
  };
  for await (const digest of names) {
    if (read.has(digest)) continue;
    if (read.size === REMEMBERED) read.clear();
    read.add(digest);
    group.push(digest);
    if (group.length === READ_AT_ONCE) yield* flush();
  }
  yield* flush();
}
