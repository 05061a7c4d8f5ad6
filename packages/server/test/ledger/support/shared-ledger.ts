import { HeadWaiters } from "../../../src/ledger/head-waiters.ts";
import type { HeldLease, LedgerLease } from "../../../src/ledger/lease.ts";
import { MemoryLedgerStore } from "../../../src/ledger/memory-store.ts";
import type {
  Appended,
  AppendResult,
  Kept,
  LedgerHead,
  LedgerStore,
  StoredRecord,
  StoredSnapshot,
  StoreMembers,
  StoreOutage,
  WholeLedger,
} from "../../../src/ledger/store.ts";

/** An engine in memory that several servers reach over connections that can lag and break. */
export class SharedLedger {
  store = new MemoryLedgerStore();
  readonly #connections = new Set<LedgerConnection>();

  connect(): LedgerConnection {
    return this.adopt(new LedgerConnection(this));
  }

  adopt(connection: LedgerConnection): LedgerConnection {
    this.#connections.add(connection);
    return connection;
  }

  /** Goes on with the first records only, as after a restored backup. */
  async restore(upTo: number): Promise<void> {
    const old = this.store;
    const restored = new MemoryLedgerStore();
    for await (const { number, text } of old.read(0)) {
      if (number > upTo) break;
      const bodies = new Map<string, Uint8Array>();
      for (const digest of text.match(/[0-9a-f]{32}/g) ?? []) {
        const bytes = await old.body(digest);
        if (bytes !== undefined) bodies.set(digest, bytes);
      }
      await restored.append(restored.head, { records: [text], bodies });
    }
    this.store = restored;
  }

  /** Every connection that does not lag sees the head. */
  moved(): void {
    for (const connection of this.#connections) connection.follow();
  }
}

export class LedgerConnection implements LedgerStore {
  /** How many times the engine was asked for its head. */
  refreshes = 0;
  /** Awaited before each answer of the engine. */
  delay: () => Promise<void> = () => Promise.resolve();
  readonly #ledger: SharedLedger;
  readonly #waiters = new HeadWaiters();
  readonly #listeners = new Set<() => void>();
  readonly #leases = new Map<HeldLease, AbortController>();
  #seen: LedgerHead;
  #isLagging = false;
  #outage: StoreOutage | undefined;

  constructor(ledger: SharedLedger) {
    this.#ledger = ledger;
    this.#seen = ledger.store.head;
  }

  get epoch(): string {
    return this.#ledger.store.epoch;
  }

  get head(): LedgerHead {
    return this.#seen;
  }

  get completeAfter(): number {
    return this.#ledger.store.completeAfter;
  }

  get outage(): StoreOutage | undefined {
    return this.#outage;
  }

  onOutage(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The watch stands still; what is asked is answered. */
  lag(): void {
    this.#isLagging = true;
  }

  keepUp(): void {
    this.#isLagging = false;
    this.follow();
  }

  /** The engine is away for this server, and its leases run out. */
  cut({ isKnown = true }: { readonly isKnown?: boolean } = {}): void {
    this.#outage = { since: new Date(), reason: "the engine is away" };
    if (!isKnown) return;
    for (const listener of [...this.#listeners]) listener();
  }

  expireLeases(): void {
    for (const [lease, lost] of [...this.#leases]) {
      this.#leases.delete(lease);
      lost.abort();
      void lease.release();
    }
  }

  mend(): void {
    this.#outage = undefined;
    this.follow();
    for (const listener of [...this.#listeners]) listener();
  }

  follow(): void {
    if (this.#isLagging || this.#outage !== undefined) return;
    this.#see();
  }

  async refresh(): Promise<LedgerHead> {
    await this.#ask();
    this.refreshes++;
    this.#see();
    return this.#seen;
  }

  async snapshot(): Promise<StoredSnapshot | undefined> {
    await this.#ask();
    return await this.#ledger.store.snapshot();
  }

  async *read(after: number): AsyncIterable<StoredRecord> {
    await this.#ask();
    const { number: last } = this.#seen;
    for await (const record of this.#ledger.store.read(after)) if (record.number <= last) yield record;
  }

  async body(digest: string): Promise<Uint8Array | undefined> {
    await this.#ask();
    return await this.#ledger.store.body(digest);
  }

  async append(expected: LedgerHead, appended: Appended): Promise<AppendResult> {
    try {
      await this.#ask();
    } catch (cause) {
      return { kind: "unavailable", reason: cause instanceof Error ? cause.message : String(cause) };
    }
    const result = await this.#ledger.store.append(expected, appended);
    this.#see();
    this.#ledger.moved();
    return result;
  }

  async compact(snapshot: StoredSnapshot, keep: Kept): Promise<void> {
    await this.#ask();
    await this.#ledger.store.compact(snapshot, keep);
  }

  async begin(ledger: WholeLedger): Promise<AppendResult> {
    await this.#ask();
    return await this.#ledger.store.begin(ledger);
  }

  async clear(expected: LedgerHead): Promise<AppendResult> {
    await this.#ask();
    return await this.#ledger.store.clear(expected);
  }

  get members(): StoreMembers {
    const { members } = this.#ledger.store;
    return {
      announce: async (id, text) => {
        await this.#ask();
        await members.announce(id, text);
      },
      list: async () => {
        await this.#ask();
        return await members.list();
      },
    };
  }

  async whenPast(number: number, signal: AbortSignal): Promise<void> {
    if (this.#seen.number <= number) await this.#waiters.wait(number, signal);
  }

  lease(name: string): LedgerLease {
    return {
      acquire: async (signal) => {
        const held = await this.#ledger.store.lease(name).acquire(signal);
        if (held === undefined) return undefined;
        const lost = new AbortController();
        const lease = {
          ...{ token: held.token, lost: lost.signal },
          release: async (): Promise<void> => {
            lost.abort();
            await held.release();
          },
        };
        this.#leases.set(lease, lost);
        return lease;
      },
    };
  }

  close(): Promise<void> {
    this.expireLeases();
    return Promise.resolve();
  }

  async #ask(): Promise<void> {
    await this.delay();
    if (this.#outage !== undefined) throw new Error(this.#outage.reason);
  }

  #see(): void {
    this.#seen = this.#ledger.store.head;
    this.#waiters.moved(this.#seen.number);
  }
}
