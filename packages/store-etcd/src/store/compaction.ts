import { randomBytes } from "node:crypto";
import type { HeldLease, Kept, StoredSnapshot } from "@xdskit/server/ledger-store";
import type { EtcdClient } from "../client/etcd-client.ts";
import { encodeBatch, formatRecords, partsOf } from "../layout/batch.ts";
import { encodePointer } from "../layout/head.ts";
import { endOf, type Keys } from "../layout/keys.ts";
import type { Seal } from "../layout/seal.ts";
import type { Compare, KeyValue, Operation } from "../wire/messages.ts";
import { eachOf, groupsOf, type Put } from "./body-writer.ts";
import type { EtcdLeases } from "./etcd-lease.ts";
import type { HeadFollower } from "./head-follower.ts";
import type { ReadBatch, RecordReader } from "./record-reader.ts";

/** The lease of which ledgers are compacted by one process at a time. */
const LEASE = "compaction";
const KEYS_AT_ONCE = 1_000;
const DELETED_AT_ONCE = 50;

export interface CompactionOptions {
  readonly client: EtcdClient;
  readonly keys: Keys;
  readonly seal: Seal;
  readonly reader: RecordReader;
  readonly leases: EtcdLeases;
  readonly follower: HeadFollower;
}

/**
 * Puts a snapshot in place of the records up to it. First it becomes the one in force, then what it replaces goes: a
 * process that ends in between leaves more than is needed, and the next compaction removes that.
 */
export async function compact(snapshot: StoredSnapshot, keep: Kept, options: CompactionOptions): Promise<void> {
  const lease = await options.leases.tryAcquire(LEASE);
  if (lease === undefined) throw new Error("another process compacts the ledger");
  try {
    await new Compaction(options, lease).run(snapshot, keep);
  } finally {
    await lease.release();
  }
}

/** The value in parts below the names of a blob. */
export function chunksOf(
  blob: string,
  bytes: Uint8Array,
  { keys, seal }: Pick<CompactionOptions, "keys" | "seal">,
): readonly Put[] {
  return partsOf(bytes).map((part, index) => {
    const key = keys.chunk(blob, index);
    return { key, value: seal.close(part, key) };
  });
}

class Compaction {
  readonly #options: CompactionOptions;
  /** Every step is taken only while this process is the one that compacts. */
  readonly #isMine: Compare;

  constructor(options: CompactionOptions, lease: HeldLease) {
    this.#options = options;
    this.#isMine = options.leases.condition(lease.token);
  }

  async run(snapshot: StoredSnapshot, keep: Kept): Promise<void> {
    const { number } = snapshot.head;
    const { follower } = this.#options;
    const head = await follower.refresh();
    if (number > head.number) throw new RangeError(`there is no number ${number} yet`);
    const old = follower.pointer;
    if (old !== undefined && old.head.number > number)
      throw new RangeError(`the ledger is compacted up to ${old.head.number} already`);
    const blob = await this.#write(snapshot, keep.completeAfter);
    const { blobs, before } = await this.#trim(number, keep);
    if (before === 0n) return;
    await this.#removeBodies(before, keep.bodies);
    await this.#removeChunks(before, new Set([...blobs, blob]));
  }

  /** Makes the snapshot the one in force; returns the name of its parts. */
  async #write({ head, text }: StoredSnapshot, completeAfter: number): Promise<string> {
    const { keys, follower } = this.#options;
    const blob = newBlob();
    const chunks = chunksOf(blob, Buffer.from(text), this.#options);
    await eachOf(groupsOf(chunks), (group) => this.#step(group.map(({ key, value }) => ({ put: key, value }))));
    const pointer = { head, completeAfter, blob, parts: chunks.length };
    await this.#step([{ put: keys.snapshot, value: encodePointer(pointer) }]);
    await follower.refresh();
    return blob;
  }

  /**
   * Removes the records up to the number that are not to be kept. `blobs`: where those that stay are. `before`: bodies
   * and parts of an older revision came with appends up to the number; 0: none did.
   */
  async #trim(number: number, keep: Kept): Promise<{ readonly blobs: readonly string[]; readonly before: bigint }> {
    const blobs: string[] = [];
    let before = 0n;
    for await (const batch of this.#options.reader.batches(1, number)) {
      const staying = batch.records.filter((record) => record.number > number || keep.records.has(record.number));
      if ((batch.records.at(-1)?.number ?? 0) <= number && batch.createRevision > before) before = batch.createRevision;
      if (staying.length === batch.records.length) blobs.push(batch.attempt);
      else blobs.push(await this.#replace(batch, staying));
    }
    return { blobs, before };
  }

  async #replace(batch: ReadBatch, records: ReadBatch["records"]): Promise<string> {
    const blob = newBlob();
    const unchanged: Compare = { key: batch.key, modRevision: batch.modRevision };
    if (records.length === 0) await this.#step([{ delete: batch.key }], [unchanged]);
    else {
      const { value, chunks } = encodeRecords(blob, formatRecords(records), batch.key, this.#options);
      await eachOf(groupsOf(chunks), (group) => this.#step(group.map((put) => ({ put: put.key, value: put.value }))));
      await this.#step([{ put: batch.key, value }], [unchanged]);
    }
    return blob;
  }

  /** A body that an append brought after the snapshot, or brings right now, has a newer revision. */
  async #removeBodies(before: bigint, kept: ReadonlySet<string>): Promise<void> {
    const { keys } = this.#options;
    const isGoing = (kv: KeyValue): boolean => kv.modRevision < before && !kept.has(keys.digestOf(kv.key));
    await this.#removeEach(keys.bodies, isGoing, (kv) => {
      const parts = keys.bodyPart(keys.digestOf(kv.key), 0);
      return [{ delete: kv.key }, { delete: parts, end: endOf(parts.slice(0, parts.lastIndexOf("/") + 1)) }];
    });
  }

  async #removeChunks(before: bigint, kept: ReadonlySet<string>): Promise<void> {
    const { keys } = this.#options;
    const isGoing = (kv: KeyValue): boolean => kv.modRevision < before && !kept.has(keys.blobOf(kv.key));
    await this.#removeEach(keys.chunks, isGoing, (kv) => [{ delete: kv.key }]);
  }

  async #removeEach(
    prefix: string,
    isGoing: (kv: KeyValue) => boolean,
    operations: (kv: KeyValue) => readonly Operation[],
  ): Promise<void> {
    const { client } = this.#options;
    let key = prefix;
    for (let more = true; more; ) {
      const page = await client.range({ key, end: endOf(prefix), limit: KEYS_AT_ONCE, keysOnly: true });
      const going = page.kvs.filter(isGoing);
      for (let at = 0; at < going.length; at += DELETED_AT_ONCE)
        await this.#remove(going.slice(at, at + DELETED_AT_ONCE), operations);
      more = page.more;
      key = `${page.kvs.at(-1)?.key}\0`;
    }
  }

  /** If one of them was written meanwhile, it stays, and the others go one by one. */
  async #remove(kvs: readonly KeyValue[], operations: (kv: KeyValue) => readonly Operation[]): Promise<void> {
    const { client } = this.#options;
    const unchanged = kvs.map(({ key, modRevision }): Compare => ({ key, modRevision }));
    const { succeeded } = await client.transaction({
      compare: [this.#isMine, ...unchanged],
      success: kvs.flatMap(operations),
    });
    if (succeeded) return;
    await this.#step([]);
    if (kvs.length > 1) for (const kv of kvs) await this.#remove([kv], operations);
  }

  async #step(success: readonly Operation[], conditions: readonly Compare[] = []): Promise<void> {
    const { succeeded } = await this.#options.client.transaction({ compare: [this.#isMine, ...conditions], success });
    if (!succeeded) throw new Error("another process compacts the ledger now");
  }
}

/** A random name of parts. */
export function newBlob(): string {
  return randomBytes(12).toString("hex");
}

/** The value of the key of an append, and the parts of its text if it is long. */
export function encodeRecords(
  attempt: string,
  text: string,
  key: string,
  layout: Pick<CompactionOptions, "keys" | "seal">,
): { readonly value: Buffer; readonly chunks: readonly Put[] } {
  const bytes = Buffer.from(text);
  const chunks = partsOf(bytes).length === 1 ? [] : chunksOf(attempt, bytes, layout);
  const batch = { attempt, parts: chunks.length, text: chunks.length === 0 ? text : "" };
  return { value: layout.seal.close(encodeBatch(batch), key), chunks };
}
