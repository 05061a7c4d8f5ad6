import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { headOf, isSameHead, NO_RECORDS, recordsAfter } from "./chain.ts";
import { HeadWaiters } from "./head-waiters.ts";
import type { LedgerLease } from "./lease.ts";
import { MemoryLeases } from "./memory-leases.ts";
import { readLedger } from "./reading.ts";
import { bodiesIn } from "./retention.ts";
import type {
  Appended,
  AppendResult,
  Kept,
  LedgerHead,
  LedgerStore,
  StoredRecord,
  StoredSnapshot,
  StoreMembers,
  WholeLedger,
} from "./store.ts";

/** A ledger that ends with its process. */
export class MemoryLedgerStore implements LedgerStore {
  readonly epoch: string = randomBytes(16).toString("hex");
  readonly #waiters = new HeadWaiters();
  readonly #leases = new MemoryLeases();
  readonly #told = new Map<string, string>();
  #head = NO_RECORDS;
  #snapshot: StoredSnapshot | undefined;
  #records: StoredRecord[] = [];
  /** With the number of the first record of the newest append that brought it. */
  readonly #bodies = new Map<string, { readonly number: number; readonly bytes: Uint8Array }>();
  #completeAfter = 0;
  #isClosed = false;

  /** Goes on in memory from what a store came to that cannot be written. */
  static async after(store: LedgerStore): Promise<MemoryLedgerStore> {
    const { state, head } = await readLedger(store);
    const memory = new MemoryLedgerStore();
    memory.#head = head;
    memory.#completeAfter = head.number;
    const snapshot = state.toSnapshot();
    memory.#snapshot = { head, text: JSON.stringify(snapshot) };
    for (const id of new Set(bodiesIn(snapshot))) {
      const bytes = await store.body(id).catch(() => undefined);
      if (bytes !== undefined) memory.#bodies.set(id, { number: 0, bytes });
    }
    return memory;
  }

  get head(): LedgerHead {
    return this.#head;
  }

  get completeAfter(): number {
    return this.#completeAfter;
  }

  snapshot(): Promise<StoredSnapshot | undefined> {
    return Promise.resolve(this.#snapshot);
  }

  read(after: number): AsyncIterable<StoredRecord> {
    return Readable.from(this.#records.filter(({ number }) => number > after));
  }

  body(digest: string): Promise<Uint8Array | undefined> {
    return Promise.resolve(this.#bodies.get(digest)?.bytes);
  }

  async append(expected: LedgerHead, { records, bodies, lease }: Appended): Promise<AppendResult> {
    const added = await recordsAfter(expected, records);
    if (this.#isClosed) return { kind: "unavailable", reason: "the ledger is closed" };
    if (!isSameHead(expected, this.#head)) return { kind: "conflict", head: this.#head };
    if (lease !== undefined && !this.#leases.isHeld(lease.token)) return { kind: "lease-lost" };
    for (const [digest, bytes] of bodies) this.#bodies.set(digest, { number: this.#head.number + 1, bytes });
    for (const record of added) this.#records.push(record);
    this.#head = headOf(added.at(-1) ?? this.#head);
    this.#waiters.moved(this.#head.number);
    return { kind: "appended", head: this.#head };
  }

  compact(snapshot: StoredSnapshot, keep: Kept): Promise<void> {
    this.#snapshot = snapshot;
    this.#completeAfter = keep.completeAfter;
    this.#records = this.#records.filter(({ number }) => number > snapshot.head.number || keep.records.has(number));
    for (const [digest, { number }] of this.#bodies) {
      if (number <= snapshot.head.number && !keep.bodies.has(digest)) this.#bodies.delete(digest);
    }
    return Promise.resolve();
  }

  async begin(ledger: WholeLedger): Promise<AppendResult> {
    const { head, snapshot, completeAfter } = ledger;
    const kept: StoredRecord[] = [];
    for await (const record of ledger.records()) kept.push(record);
    const brought = new Map<string, Uint8Array>();
    for await (const [digest, bytes] of ledger.bodies()) brought.set(digest, bytes);
    if (this.#isClosed) return { kind: "unavailable", reason: "the ledger is closed" };
    if (this.#head.number > 0) return { kind: "conflict", head: this.#head };
    for (const [digest, bytes] of brought) this.#bodies.set(digest, { number: head.number, bytes });
    this.#snapshot = snapshot;
    this.#completeAfter = completeAfter;
    this.#records = kept;
    this.#head = head;
    this.#waiters.moved(head.number);
    return { kind: "appended", head };
  }

  clear(expected: LedgerHead): Promise<AppendResult> {
    if (this.#isClosed) return Promise.resolve({ kind: "unavailable", reason: "the ledger is closed" });
    if (!isSameHead(expected, this.#head)) return Promise.resolve({ kind: "conflict", head: this.#head });
    this.#snapshot = undefined;
    this.#completeAfter = 0;
    this.#records = [];
    this.#bodies.clear();
    this.#head = NO_RECORDS;
    return Promise.resolve({ kind: "appended", head: this.#head });
  }

  /** Of all servers of this process. */
  get members(): StoreMembers {
    return {
      announce: (id, text) => {
        this.#told.set(id, text);
        return Promise.resolve();
      },
      list: () => Promise.resolve(new Map(this.#told)),
    };
  }

  async whenPast(number: number, signal: AbortSignal): Promise<void> {
    if (this.#head.number <= number) await this.#waiters.wait(number, signal);
  }

  lease(name: string): LedgerLease {
    return this.#leases.lease(name);
  }

  close(): Promise<void> {
    this.#isClosed = true;
    return Promise.resolve();
  }
}
