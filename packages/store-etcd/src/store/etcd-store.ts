import {
  type Appended,
  type AppendResult,
  headOf,
  isSameHead,
  type Kept,
  type LedgerHead,
  type LedgerLease,
  type LedgerStore,
  recordsAfter,
  type StoredRecord,
  type StoredSnapshot,
  type StoreOutage,
  type WholeLedger,
} from "@xdskit/server/ledger-store";
import type { EtcdClient } from "../client/etcd-client.ts";
import { decodeFirstPart, formatRecords } from "../layout/batch.ts";
import { encodeHead } from "../layout/head.ts";
import { endOf, type Keys } from "../layout/keys.ts";
import type { Seal } from "../layout/seal.ts";
import type { Compare, Operation } from "../wire/messages.ts";
import { beginLedger } from "./beginning.ts";
import { BodyWriter, eachOf, groupsOf } from "./body-writer.ts";
import { type CompactionOptions, compact, encodeRecords, newBlob } from "./compaction.ts";
import { EtcdLeases } from "./etcd-lease.ts";
import { EtcdMembers } from "./etcd-members.ts";
import { HeadFollower } from "./head-follower.ts";
import { RecordReader } from "./record-reader.ts";

/** The keys and the means of one ledger. */
export interface EtcdLedger {
  readonly client: EtcdClient;
  readonly keys: Keys;
  readonly seal: Seal;
  /** The value of the key of the epoch. */
  readonly epoch: Buffer;
  /** Nothing is written; a ledger without an epoch is an empty one. */
  readonly isReadOnly: boolean;
}

/**
 * A ledger in etcd. An append writes bodies and long records first, and then moves the head in one transaction that
 * compares the head, the epoch and the lease.
 */
export class EtcdLedgerStore implements LedgerStore {
  readonly epoch: string;
  readonly members: EtcdMembers;
  readonly #ledger: EtcdLedger;
  readonly #follower: HeadFollower;
  readonly #leases: EtcdLeases;
  readonly #reader: RecordReader;
  readonly #bodies: BodyWriter;
  /** Why nothing can be appended any more. */
  #failure: string | undefined;
  #isClosed = false;

  constructor(ledger: EtcdLedger, epoch: string) {
    const { client, keys, seal } = ledger;
    this.epoch = epoch;
    this.#ledger = ledger;
    if (ledger.isReadOnly) this.#failure = "the ledger was opened to read only";
    this.#follower = new HeadFollower(ledger);
    this.#leases = new EtcdLeases(client, keys);
    this.members = new EtcdMembers(client, keys, seal);
    this.#reader = new RecordReader(client, keys, seal);
    this.#bodies = new BodyWriter(client, keys, seal);
  }

  /** Reads the head and begins to follow it. */
  async start(): Promise<void> {
    await this.#follower.start();
  }

  get head(): LedgerHead {
    return this.#follower.head;
  }

  get completeAfter(): number {
    return this.#follower.pointer?.completeAfter ?? 0;
  }

  get outage(): StoreOutage | undefined {
    return this.#follower.outage;
  }

  onOutage(listener: () => void): () => void {
    return this.#follower.onOutage(listener);
  }

  refresh(): Promise<LedgerHead> {
    return this.#follower.refresh();
  }

  async snapshot(): Promise<StoredSnapshot | undefined> {
    await this.#follower.refresh();
    const { pointer } = this.#follower;
    if (pointer === undefined) return undefined;
    try {
      return await this.#readSnapshot();
    } catch (cause) {
      // Another process may have put a newer one in its place.
      await this.#follower.refresh();
      if (this.#follower.pointer?.blob === pointer.blob) throw cause;
      return await this.#readSnapshot();
    }
  }

  read(after: number): AsyncIterable<StoredRecord> {
    return this.#read(after, this.head.number);
  }

  async body(digest: string): Promise<Uint8Array | undefined> {
    const { client, keys, seal } = this.#ledger;
    const key = keys.body(digest);
    const kv = (await client.range({ key })).kvs[0];
    if (kv === undefined) return undefined;
    const { first, parts } = decodeFirstPart(seal.open(kv.value, key), key);
    if (parts === 1) return first;
    const rest = await this.#reader.restOf(digest, parts);
    return rest && Buffer.concat([first, ...rest]);
  }

  async append(expected: LedgerHead, appended: Appended): Promise<AppendResult> {
    if (this.#failure !== undefined) return { kind: "unavailable", reason: this.#failure };
    const records = await recordsAfter(expected, appended.records);
    try {
      // Bodies that are written from here on are newer than the record of the head.
      const head = await this.#follower.refresh();
      if (!isSameHead(head, expected)) return { kind: "conflict", head };
      await this.#bodies.write(appended.bodies);
      return await this.#append(expected, records, appended.lease?.token);
    } catch (cause) {
      return { kind: "unavailable", reason: cause instanceof Error ? cause.message : String(cause) };
    }
  }

  async compact(snapshot: StoredSnapshot, keep: Kept): Promise<void> {
    if (this.#ledger.isReadOnly) throw new Error(this.#failure);
    const { client, keys, seal } = this.#ledger;
    const options: CompactionOptions = {
      ...{ client, keys, seal, reader: this.#reader },
      ...{ leases: this.#leases, follower: this.#follower },
    };
    await compact(snapshot, keep, options);
  }

  async begin(ledger: WholeLedger): Promise<AppendResult> {
    if (this.#failure !== undefined) return { kind: "unavailable", reason: this.#failure };
    const head = await this.#follower.refresh();
    if (head.number > 0) return { kind: "conflict", head };
    const hasBegun = await beginLedger(ledger, { ...this.#ledger, bodies: this.#bodies });
    const now = await this.#follower.refresh();
    return hasBegun ? { kind: "appended", head: now } : { kind: "conflict", head: now };
  }

  async clear(expected: LedgerHead): Promise<AppendResult> {
    if (this.#failure !== undefined) return { kind: "unavailable", reason: this.#failure };
    try {
      const { client, keys, epoch } = this.#ledger;
      const { succeeded } = await client.transaction({
        compare: [{ key: keys.epoch, value: epoch }, isHead(keys, expected)],
        success: [
          ...[{ delete: keys.head }, { delete: keys.snapshot }],
          // The bodies go with the next compaction, unless they are brought again.
          { delete: keys.batches, end: endOf(keys.batches) },
        ],
      });
      const head = await this.#follower.refresh();
      return succeeded ? { kind: "appended", head } : { kind: "conflict", head };
    } catch (cause) {
      return { kind: "unavailable", reason: cause instanceof Error ? cause.message : String(cause) };
    }
  }

  async whenPast(number: number, signal: AbortSignal): Promise<void> {
    if (this.head.number <= number) await this.#follower.waiters.wait(number, signal);
  }

  lease(name: string): LedgerLease {
    return this.#leases.lease(`held/${name}`);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#failure ??= "the ledger is closed";
    await Promise.all([this.#leases.close(), this.members.close()]);
    const closed = this.#follower.close();
    this.#ledger.client.close();
    await Promise.all([closed, this.members.ended]);
  }

  async #append(
    expected: LedgerHead,
    records: readonly StoredRecord[],
    token: string | undefined,
  ): Promise<AppendResult> {
    const { client, keys, epoch } = this.#ledger;
    const first = keys.batch(expected.number + 1);
    const head = headOf(records.at(-1) ?? expected);
    const attempt = newBlob();
    const { value, chunks } = encodeRecords(attempt, formatRecords(records), first, this.#ledger);
    await eachOf(groupsOf(chunks), async (group) => {
      await client.transaction({ success: group.map((put) => ({ put: put.key, value: put.value })) });
    });
    const isHeld = token === undefined ? [] : [this.#leases.condition(token)];
    const puts: readonly Operation[] = [
      { put: first, value },
      { put: keys.head, value: encodeHead(head) },
    ];
    const { succeeded, header, found } = await client.transaction({
      compare: [{ key: keys.epoch, value: epoch }, isHead(keys, expected), ...isHeld],
      success: records.length === 0 ? [] : puts,
      failure: [{ range: { key: first } }],
    });
    if (succeeded) this.#follower.saw(header, head);
    const kv = found[0]?.[0];
    // The answer of an earlier attempt of the same transaction may have been lost.
    const isOurs = kv !== undefined && !succeeded && (await this.#reader.batch(kv)).attempt === attempt;
    if (succeeded) return { kind: "appended", head };
    const now = await this.#follower.refresh();
    if (isOurs) return { kind: "appended", head };
    return isSameHead(now, expected) ? { kind: "lease-lost" } : { kind: "conflict", head: now };
  }

  async #readSnapshot(): Promise<StoredSnapshot | undefined> {
    const { pointer } = this.#follower;
    if (pointer === undefined) return undefined;
    const bytes = await this.#reader.blob(pointer.blob, pointer.parts);
    return { head: pointer.head, text: bytes.toString("utf8") };
  }

  async *#read(after: number, last: number): AsyncIterable<StoredRecord> {
    let newest = after;
    for await (const { records } of this.#reader.batches(after + 1, last)) {
      for (const record of records) {
        if (record.number <= after || record.number > last) continue;
        yield record;
        newest = record.number;
      }
    }
    if (newest < last) await this.#checkEnd(newest, last);
  }

  /** Throws if records up to `last` are missing that no snapshot has taken the place of. */
  async #checkEnd(newest: number, last: number): Promise<void> {
    const head = await this.#follower.refresh();
    const { pointer } = this.#follower;
    if (head.number < last || (pointer?.head.number ?? 0) >= last) return;
    throw new Error(`the ledger in etcd ends at record ${newest}, but its head is ${head.number}`);
  }
}

/** That a ledger has this head. */
function isHead(keys: Keys, { number, id }: LedgerHead): Compare {
  return number === 0 ? { key: keys.head, createRevision: 0n } : { key: keys.head, value: encodeHead({ number, id }) };
}
