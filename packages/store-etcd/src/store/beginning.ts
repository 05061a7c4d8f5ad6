import type { StoredRecord, WholeLedger } from "@xdskit/server/ledger-store";
import type { EtcdClient } from "../client/etcd-client.ts";
import { formatRecords } from "../layout/batch.ts";
import { encodeHead, encodePointer } from "../layout/head.ts";
import type { Keys } from "../layout/keys.ts";
import type { Seal } from "../layout/seal.ts";
import type { Operation } from "../wire/messages.ts";
import { type BodyWriter, eachOf, groupsOf, type Put } from "./body-writer.ts";
import { chunksOf, encodeRecords, newBlob } from "./compaction.ts";

/** Bodies that are written together. */
const BODY_BYTES_AT_ONCE = 4 * 1024 * 1024;
/** Records under one key. Above what etcd takes in a value, so that their text stands elsewhere. */
const BATCH_BYTES = 1024 * 1024;
/** After so many keys twice as much stands under one: a transaction takes some hundred. */
const BATCHES_OF_A_SIZE = 16;

export interface BeginningOptions {
  readonly client: EtcdClient;
  readonly keys: Keys;
  readonly seal: Seal;
  readonly epoch: Buffer;
  readonly bodies: BodyWriter;
}

/**
 * Writes what another store has where there is no record. What is large comes first, below names that nothing refers to
 * yet; then one transaction puts the records, the snapshot and the head. Resolves to false if there is a record by now.
 */
export async function beginLedger(ledger: WholeLedger, options: BeginningOptions): Promise<boolean> {
  const { client, keys, epoch } = options;
  await writeBodies(ledger, options);
  const puts: Operation[] = [];
  for await (const batch of batchesOf(ledger.records())) {
    const first = keys.batch(batch[0]?.number ?? 0);
    const { value, chunks } = encodeRecords(newBlob(), formatRecords(batch), first, options);
    await writeChunks(chunks, client);
    puts.push({ put: first, value });
  }
  if (ledger.snapshot !== undefined) {
    const { head, text } = ledger.snapshot;
    const blob = newBlob();
    const chunks = chunksOf(blob, Buffer.from(text), options);
    await writeChunks(chunks, client);
    const pointer = { head, completeAfter: ledger.completeAfter, blob, parts: chunks.length };
    puts.push({ put: keys.snapshot, value: encodePointer(pointer) });
  }
  const head = encodeHead(ledger.head);
  const { succeeded, found } = await client.transaction({
    compare: [
      { key: keys.epoch, value: epoch },
      { key: keys.head, createRevision: 0n },
    ],
    success: [...puts, { put: keys.head, value: head }],
    failure: [{ range: { key: keys.head } }],
  });
  // The answer of an earlier attempt of the same transaction may have been lost.
  return succeeded || found[0]?.[0]?.value.equals(head) === true;
}

async function writeBodies(ledger: WholeLedger, { bodies: writer }: BeginningOptions): Promise<void> {
  let group = new Map<string, Uint8Array>();
  let length = 0;
  for await (const [digest, bytes] of ledger.bodies()) {
    group.set(digest, bytes);
    length += bytes.byteLength;
    if (length < BODY_BYTES_AT_ONCE) continue;
    await writer.write(group);
    group = new Map();
    length = 0;
  }
  await writer.write(group);
}

async function writeChunks(chunks: readonly Put[], client: EtcdClient): Promise<void> {
  await eachOf(groupsOf(chunks), async (group) => {
    await client.transaction({ success: group.map(({ key, value }) => ({ put: key, value })) });
  });
}

async function* batchesOf(records: AsyncIterable<StoredRecord>): AsyncIterable<readonly StoredRecord[]> {
  let batch: StoredRecord[] = [];
  let length = 0;
  let count = 0;
  for await (const record of records) {
    batch.push(record);
    length += record.text.length;
    if (length < BATCH_BYTES * 2 ** Math.floor(count / BATCHES_OF_A_SIZE)) continue;
    yield batch;
    batch = [];
    length = 0;
    count++;
  }
  if (batch.length > 0) yield batch;
}
