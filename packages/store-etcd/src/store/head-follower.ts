import { HeadWaiters, type LedgerHead, NO_RECORDS, type StoreOutage } from "@xdskit/server/ledger-store";
import type { EtcdClient } from "../client/etcd-client.ts";
import { decodeHead, decodePointer, type SnapshotPointer } from "../layout/head.ts";
import type { Keys } from "../layout/keys.ts";
import { decodeWatch, type ResponseHeader } from "../wire/messages.ts";

/** How often etcd is asked for its head beside the watch: so an outage, or a watch that is silent, is found out. */
const HEARTBEAT_MS = 5_000;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 3_000;

export interface HeadFollowerOptions {
  readonly client: EtcdClient;
  readonly keys: Keys;
  /** The value of the key of the epoch: another one is another ledger. */
  readonly epoch: Buffer;
  /** Whether a ledger without an epoch is an empty one, because this process has not begun it. */
  readonly isReadOnly: boolean;
}

/** Keeps the newest head of a ledger that is seen, by a watch and by asking. */
export class HeadFollower {
  readonly waiters: HeadWaiters = new HeadWaiters();
  readonly #options: HeadFollowerOptions;
  readonly #listeners = new Set<() => void>();
  readonly #closing = new AbortController();
  #head: LedgerHead = NO_RECORDS;
  #pointer: SnapshotPointer | undefined;
  #seen: ResponseHeader = { revision: 0n };
  #outage: StoreOutage | undefined;
  #running: readonly Promise<void>[] = [];

  constructor(options: HeadFollowerOptions) {
    this.#options = options;
  }

  get head(): LedgerHead {
    return this.#head;
  }

  get pointer(): SnapshotPointer | undefined {
    return this.#pointer;
  }

  get outage(): StoreOutage | undefined {
    return this.#outage;
  }

  onOutage(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Reads the head, and begins to follow it. */
  async start(): Promise<void> {
    await this.refresh();
    this.#running = [this.#watchOn(), this.#beat()];
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all(this.#running);
  }

  /**
   * Asks etcd for the head, by a linearizable read. Rejects if it does not answer, has another ledger now, or a value that
   * cannot be read.
   */
  async refresh(): Promise<LedgerHead> {
    const { client, keys, epoch, isReadOnly } = this.#options;
    const { revision: before } = this.#seen;
    try {
      const success = [keys.epoch, keys.head, keys.snapshot].map((key) => ({ range: { key } }));
      const { header, found } = await client.transaction({ success });
      const [epochs, heads, pointers] = found;
      const now = epochs?.[0]?.value;
      if (now === undefined ? !isReadOnly : !now.equals(epoch))
        throw new Error("etcd has another ledger than before: its epoch is another one");
      // An answer cannot be older than what was seen when it was asked for, unless an old backup was restored.
      if (header.revision < before) this.#seen = header;
      this.#take(header, decodeHead(heads?.[0]), decodePointer(pointers?.[0]));
      this.#tell(undefined);
      return this.#head;
    } catch (cause) {
      if (!this.#closing.signal.aborted) this.#tell(cause instanceof Error ? cause.message : String(cause));
      throw cause;
    }
  }

  /** Takes in what etcd had at a revision; what is older than what was seen changes nothing. */
  saw(at: ResponseHeader, head: LedgerHead): void {
    this.#take(at, head, this.#pointer);
  }

  #take(at: ResponseHeader, head: LedgerHead, pointer: SnapshotPointer | undefined): void {
    if (at.revision < this.#seen.revision) return;
    const hasGoneBack = head.number < this.#head.number;
    this.#seen = at;
    this.#head = head;
    this.#pointer = pointer;
    this.waiters.moved(head.number);
    // Whoever waits for a greater number would not see that another history was restored.
    if (hasGoneBack) this.#notify();
  }

  /** Asks again and again, whatever the watch says. */
  async #beat(): Promise<void> {
    const { signal } = this.#closing;
    while (await pause(HEARTBEAT_MS, signal)) await this.refresh().catch(() => undefined);
  }

  async #watchOn(): Promise<void> {
    const { signal } = this.#closing;
    let failures = 0;
    while (!signal.aborted) {
      try {
        // What was appended until then is read; what comes after it, the watch tells.
        const { revision } = this.#seen;
        await this.#watch(revision + 1n, () => {
          failures = 0;
        });
      } catch {
        this.#options.client.turn();
      }
      failures++;
      if (!(await pause(Math.random() * Math.min(FIRST_PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS), signal))) return;
      await this.refresh().catch(() => undefined);
    }
  }

  /** Resolves or rejects when the watch ends. */
  async #watch(from: bigint, onMessage: () => void): Promise<void> {
    const { client, keys } = this.#options;
    const { signal } = this.#closing;
    const stream = await client.watch(keys.head, from);
    await new Promise<void>((resolve, reject) => {
      const cancel = (): void => stream.cancel();
      signal.addEventListener("abort", cancel);
      const end = (cause?: unknown): void => {
        signal.removeEventListener("abort", cancel);
        if (cause === undefined) resolve();
        else reject(cause instanceof Error ? cause : new Error(String(cause)));
      };
      stream.on("data", (message: Buffer) => {
        try {
          const { header, canceled, puts } = decodeWatch(message);
          const newest = puts.at(-1);
          if (newest !== undefined) this.saw({ ...header, revision: newest.modRevision }, decodeHead(newest));
          onMessage();
          // Compacted, or without a leader: the head is read again.
          if (canceled !== undefined) stream.cancel();
        } catch (cause) {
          stream.cancel();
          end(cause);
        }
      });
      stream.on("error", end);
      stream.on("end", () => end());
      if (signal.aborted) cancel();
    });
  }

  #tell(reason: string | undefined): void {
    if (this.#outage?.reason === reason) return;
    const before = this.#outage;
    this.#outage = reason === undefined ? undefined : { since: before?.since ?? new Date(), reason };
    if ((before === undefined) !== (reason === undefined)) this.#notify();
  }

  #notify(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}

/** Resolves to false, and at once, when the signal is aborted. */
export function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve(false);
      return;
    }
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve(!signal.aborted);
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end);
  });
}

/** How long a process that ends waits for etcd. */
const MOMENT_MS = 1_000;

/** Waits for work that does not reject, but not for long. */
export async function withinAMoment(work: Promise<unknown>): Promise<void> {
  const over = new AbortController();
  await Promise.race([work, pause(MOMENT_MS, over.signal)]);
  over.abort();
}
