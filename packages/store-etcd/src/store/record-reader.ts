import type { StoredRecord } from "@xdskit/server/ledger-store";
import { type EtcdClient, EtcdError } from "../client/etcd-client.ts";
import { decodeBatch, parseRecords } from "../layout/batch.ts";
import { endOf, type Keys } from "../layout/keys.ts";
import type { Seal } from "../layout/seal.ts";
import type { KeyValue } from "../wire/messages.ts";

/** Values that one request reads; each is below a mebibyte. */
const READ_AT_ONCE = 16;
/** How often a read begins again at a newer revision of etcd before it fails. */
const ATTEMPTS = 5;

/** The records of one append as they are stored. */
export interface ReadBatch {
  readonly key: string;
  readonly attempt: string;
  readonly parts: number;
  readonly createRevision: bigint;
  readonly modRevision: bigint;
  readonly records: readonly StoredRecord[];
}

/** Reads what is stored in parts. */
export class RecordReader {
  readonly #client: EtcdClient;
  readonly #keys: Keys;
  readonly #seal: Seal;

  constructor(client: EtcdClient, keys: Keys, seal: Seal) {
    this.#client = client;
    this.#keys = keys;
    this.#seal = seal;
  }

  /** The appends with records between these numbers, in order, all as they were at one moment. */
  async *batches(first: number, last: number): AsyncIterable<ReadBatch> {
    let from = first;
    for (let attempt = 1; from <= last; attempt++) {
      try {
        for await (const batch of this.#batchesAtOnce(from, last)) {
          yield batch;
          from = (batch.records.at(-1)?.number ?? from) + 1;
        }
        return;
      } catch (cause) {
        if (!(cause instanceof EtcdError && cause.isCompacted) || attempt === ATTEMPTS) throw cause;
      }
    }
  }

  async batch(kv: KeyValue, revision?: bigint): Promise<ReadBatch> {
    const { key, createRevision, modRevision } = kv;
    const { attempt, parts, text } = decodeBatch(this.#seal.open(kv.value, key), key);
    const whole = parts === 0 ? text : (await this.blob(attempt, parts, revision)).toString("utf8");
    return { key, attempt, parts, createRevision, modRevision, records: parseRecords(whole, key) };
  }

  /** Throws if a part is missing. */
  async blob(blob: string, parts: number, revision = 0n): Promise<Buffer> {
    const first = this.#keys.chunk(blob, 0);
    return Buffer.concat(
      await this.#partsFrom(first, endOf(first.slice(0, first.lastIndexOf("/") + 1)), parts, revision),
    );
  }

  /** The parts of a body behind the first; undefined if some are gone. */
  async restOf(digest: string, parts: number): Promise<readonly Buffer[] | undefined> {
    const first = this.#keys.bodyPart(digest, 1);
    const end = this.#keys.bodyPart(digest, parts);
    return await this.#partsFrom(first, end, parts - 1, 0n).catch((cause: unknown) => {
      if (cause instanceof RangeError) return undefined;
      throw cause;
    });
  }

  async *#batchesAtOnce(first: number, last: number): AsyncIterable<ReadBatch> {
    const { batches } = this.#keys;
    const end = this.#keys.batch(last + 1);
    // The first record may be amidst those of an append.
    const before = { key: batches, end: this.#keys.batch(first + 1), limit: 1, isDescending: true, keysOnly: true };
    const { kvs: found, header } = await this.#client.range(before);
    const { revision } = header;
    let key = found[0]?.key ?? batches;
    for (let more = true; more; ) {
      const page = await this.#client.range({ key, end, limit: READ_AT_ONCE, revision });
      for (const kv of page.kvs) {
        const batch = await this.batch(kv, revision);
        if ((batch.records.at(-1)?.number ?? 0) >= first) yield batch;
      }
      more = page.more;
      key = `${page.kvs.at(-1)?.key}\0`;
    }
  }

  async #partsFrom(first: string, end: string, count: number, revision: bigint): Promise<readonly Buffer[]> {
    const parts: Buffer[] = [];
    let key = first;
    for (let more = true; more; ) {
      const page = await this.#client.range({ key, end, limit: READ_AT_ONCE, revision });
      for (const kv of page.kvs) parts.push(this.#seal.open(kv.value, kv.key));
      more = page.more;
      key = `${page.kvs.at(-1)?.key}\0`;
    }
    if (parts.length < count)
      throw new RangeError(`the ledger in etcd has ${parts.length} of ${count} parts of a value`);
    return parts.slice(0, count);
  }
}
