import type { EtcdClient } from "../client/etcd-client.ts";
import { encodeFirstPart, PART_BYTES, partsOf } from "../layout/batch.ts";
import type { Keys } from "../layout/keys.ts";
import type { Seal } from "../layout/seal.ts";
import type { Compare, Operation } from "../wire/messages.ts";

/** etcd takes 128 operations in a transaction. */
const OPERATIONS_AT_ONCE = 100;
const BYTES_AT_ONCE: number = 2 * PART_BYTES;
const TRANSACTIONS_AT_ONCE = 4;
/** A body that a compaction removes meanwhile is written again, so often. */
const ATTEMPTS = 5;

/** A key and the value that it is to have. */
export interface Put {
  readonly key: string;
  readonly value: Buffer;
}

/** Calls `work` with each, some at a time. Rejects with the first failure, when all that was begun has ended. */
export async function eachOf<T>(items: Iterable<T>, work: (item: T) => Promise<void>): Promise<void> {
  const iterator = items[Symbol.iterator]();
  let failure: { readonly cause: unknown } | undefined;
  const run = async (): Promise<void> => {
    for (let next = iterator.next(); next.done !== true && failure === undefined; next = iterator.next())
      await work(next.value).catch((cause: unknown) => {
        failure ??= { cause };
      });
  };
  await Promise.all(Array.from({ length: TRANSACTIONS_AT_ONCE }, run));
  if (failure !== undefined) throw failure.cause;
}

/** Puts that go together into one request. */
export function* groupsOf(puts: Iterable<Put>): Iterable<readonly Put[]> {
  let group: Put[] = [];
  let bytes = 0;
  for (const put of puts) {
    if (group.length > 0 && (group.length === OPERATIONS_AT_ONCE || bytes + put.value.length > BYTES_AT_ONCE)) {
      yield group;
      group = [];
      bytes = 0;
    }
    group.push(put);
    bytes += put.value.length;
  }
  if (group.length > 0) yield group;
}

/** Writes bodies, each once, so that none is older than the call. */
export class BodyWriter {
  readonly #client: EtcdClient;
  readonly #keys: Keys;
  readonly #seal: Seal;

  constructor(client: EtcdClient, keys: Keys, seal: Seal) {
    this.#client = client;
    this.#keys = keys;
    this.#seal = seal;
  }

  /** A body that is there gets a new revision: a compaction removes only older ones. */
  async write(bodies: ReadonlyMap<string, Uint8Array>): Promise<void> {
    await eachOf(groupsOf(this.#restOf(bodies)), (group) => this.#put(group));
    await eachOf(groupsOf(this.#firstOf(bodies)), (group) => this.#putOrTouch(group));
  }

  *#firstOf(bodies: ReadonlyMap<string, Uint8Array>): Iterable<Put> {
    for (const [digest, bytes] of bodies) {
      const [first = bytes, ...rest] = partsOf(bytes);
      const key = this.#keys.body(digest);
      yield { key, value: this.#seal.close(encodeFirstPart(first, rest.length + 1), key) };
    }
  }

  /** Written first: who sees the first part finds the others. */
  *#restOf(bodies: ReadonlyMap<string, Uint8Array>): Iterable<Put> {
    for (const [digest, bytes] of bodies) {
      if (bytes.length <= PART_BYTES) continue;
      for (const [index, part] of partsOf(bytes).entries()) {
        if (index === 0) continue;
        const key = this.#keys.bodyPart(digest, index);
        yield { key, value: this.#seal.close(part, key) };
      }
    }
  }

  async #put(group: readonly Put[]): Promise<void> {
    await this.#client.transaction({ success: group.map(({ key, value }) => ({ put: key, value })) });
  }

  async #putOrTouch(group: readonly Put[]): Promise<void> {
    let known: ReadonlySet<string> = new Set();
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const { succeeded, found } = await this.#client.transaction({
        compare: group.map(
          ({ key }): Compare => (known.has(key) ? { key, exists: true } : { key, createRevision: 0n }),
        ),
        success: group.map(({ key, value }): Operation => (known.has(key) ? { touch: key } : { put: key, value })),
        failure: group.map(({ key }) => ({ range: { key, keysOnly: true } })),
      });
      if (succeeded) return;
      known = new Set(found.flatMap((kvs) => kvs.map(({ key }) => key)));
    }
    // Others write the same bodies all the time: what they contain is the same.
    await this.#put(group);
  }
}
