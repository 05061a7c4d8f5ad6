import { setTimeout as delay } from "node:timers/promises";
import { closeInStages } from "../close-in-stages.ts";
import { CachedBodies } from "./cached-bodies.ts";
import type { HeldLease, LedgerLease } from "./lease.ts";
import type {
  Appended,
  AppendResult,
  Kept,
  LedgerHead,
  LedgerStore,
  StoreCopyState,
  StoredRecord,
  StoredSnapshot,
  StoreMembers,
  StoreOutage,
  WholeLedger,
} from "./store.ts";
import { StoreCopy } from "./store-copy.ts";

/** What comes in force within this time, in milliseconds, is copied together. */
const COPIED_AFTER_MS = 200;
/** How long to wait before a store that cannot be opened, or copied, is tried again, in milliseconds. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 5_000;
const WAIT_MS = 3_000;

export interface CopiedStoreOptions {
  /** Where the copy is kept. One process uses it at a time. */
  readonly directory: string;
  /** Names the store: a copy of another one is not used. */
  readonly url: string;
  /** Opens the store, which has leases and an engine. Called again if the engine is away at the start. */
  readonly open: () => Promise<LedgerStore>;
  /** How long to wait for the store at the start if there is a copy, in milliseconds. @default 3_000 */
  readonly waitMs?: number;
  /** Called if the copy cannot be used or written. */
  readonly onProblem: (message: string) => void;
}

/**
 * Opens a store that several servers share, with a copy of its ledger in a directory. While the engine is away at the
 * start, the copy takes its place: what was in force is served, and nothing can be appended. The copy follows what this
 * server has in force. Rejects if the store cannot be opened and there is no copy of it.
 */
export async function openCopiedStore(options: CopiedStoreOptions): Promise<LedgerStore> {
  const { directory, url, open, waitMs = WAIT_MS, onProblem } = options;
  const copy = new StoreCopy(directory, url, onProblem);
  const unusable = await copy.open().then(
    () => undefined,
    (cause: unknown) => (cause instanceof Error ? cause.message : String(cause)),
  );
  const hasCopy = unusable === undefined && (copy.head?.number ?? 0) > 0;
  const opening = open();
  try {
    const store = hasCopy ? await Promise.race([opening, delay(waitMs, undefined, { ref: false })]) : await opening;
    if (store === undefined) return new CopiedStore(options, copy, opening, "the store does not answer");
    if (unusable !== undefined) onProblem(`the copy of the store cannot be used, and is made again: ${unusable}`);
    return new CopiedStore(options, copy, store);
  } catch (cause) {
    if (isMisuse(cause) || (unusable === undefined && !hasCopy)) {
      await copy.close();
      throw cause;
    }
    const reason = cause instanceof Error ? cause.message : String(cause);
    if (unusable !== undefined)
      throw new Error(`${reason}; and the copy of the store cannot be used: ${unusable}`, { cause });
    return new CopiedStore(options, copy, undefined, reason);
  }
}

/** What waiting does not mend: an option that cannot be used, a file that is not there. */
function isMisuse(cause: unknown): boolean {
  return cause instanceof TypeError || (cause instanceof Error && "syscall" in cause);
}

class CopiedStore implements LedgerStore {
  readonly #options: CopiedStoreOptions;
  readonly #copy: StoreCopy;
  readonly #closing = new AbortController();
  readonly #listeners = new Set<() => void>();
  readonly #cached = new CachedBodies();
  /** Undefined: it could not be opened yet, and the copy takes its place. */
  #store: LedgerStore | undefined;
  readonly #opened: Promise<LedgerStore | undefined>;
  #outage: StoreOutage | undefined;
  #inForce: LedgerHead | undefined;
  #copying: Promise<void> | undefined;
  #problem: string | undefined;

  /** `reason`: why the store is not open, and its copy takes its place. */
  constructor(
    options: CopiedStoreOptions,
    copy: StoreCopy,
    store: LedgerStore | Promise<LedgerStore> | undefined,
    reason?: string,
  ) {
    this.#options = options;
    this.#copy = copy;
    if (store !== undefined && !(store instanceof Promise)) {
      this.#take(store);
      this.#opened = Promise.resolve(store);
    } else {
      this.#outage = { since: new Date(), reason: reason ?? "" };
      this.#opened = this.#openOn(store);
    }
  }

  get epoch(): string {
    return this.#store?.epoch ?? this.#copy.epoch ?? "";
  }

  get head(): LedgerHead {
    return this.#source.head;
  }

  get completeAfter(): number {
    return this.#source.completeAfter;
  }

  get outage(): StoreOutage | undefined {
    return this.#store === undefined ? this.#outage : this.#store.outage;
  }

  get members(): StoreMembers | undefined {
    return this.#store?.members;
  }

  get copy(): StoreCopyState {
    const isInPlace = this.#store === undefined;
    return { number: this.#copy.head?.number ?? 0, isInPlace, problem: this.#problem };
  }

  get #source(): LedgerStore {
    const source = this.#store ?? this.#copy.ledger;
    if (source === undefined) throw new Error("expected a store or its copy");
    return source;
  }

  onOutage(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async refresh(): Promise<LedgerHead> {
    if (this.#store === undefined) throw new Error(this.#outage?.reason);
    return (await this.#store.refresh?.()) ?? this.#store.head;
  }

  snapshot(): Promise<StoredSnapshot | undefined> {
    return this.#source.snapshot();
  }

  read(after: number): AsyncIterable<StoredRecord> {
    return this.#source.read(after);
  }

  async body(digest: string): Promise<Uint8Array | undefined> {
    const bytes = this.#cached.get(digest) ?? (await this.#source.body(digest));
    if (bytes !== undefined) this.#cached.add(digest, bytes);
    return bytes;
  }

  async append(expected: LedgerHead, appended: Appended): Promise<AppendResult> {
    if (this.#store === undefined) return { kind: "unavailable", reason: this.#outage?.reason ?? "" };
    for (const [digest, bytes] of appended.bodies) this.#cached.add(digest, bytes);
    return await this.#store.append(expected, appended);
  }

  async compact(snapshot: StoredSnapshot, keep: Kept): Promise<void> {
    if (this.#store === undefined) throw new Error(this.#outage?.reason);
    await this.#store.compact(snapshot, keep);
  }

  async begin(ledger: WholeLedger): Promise<AppendResult> {
    if (this.#store === undefined) return { kind: "unavailable", reason: this.#outage?.reason ?? "" };
    return await this.#store.begin(ledger);
  }

  async clear(expected: LedgerHead): Promise<AppendResult> {
    if (this.#store === undefined) return { kind: "unavailable", reason: this.#outage?.reason ?? "" };
    return await this.#store.clear(expected);
  }

  async whenPast(number: number, signal: AbortSignal): Promise<void> {
    const store = this.#store ?? (await until(this.#opened, signal));
    await store?.whenPast(number, signal);
  }

  lease(name: string): LedgerLease {
    return {
      acquire: async (signal): Promise<HeldLease | undefined> => {
        const store = this.#store ?? (await until(this.#opened, signal));
        return await store?.lease?.(name).acquire(signal);
      },
    };
  }

  putInForce(head: LedgerHead): void {
    this.#inForce = head;
    if (this.#store !== undefined) this.#copying ??= this.#copyOn(this.#store);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await closeInStages([
      [() => this.#copying],
      // An attempt to open it may be under way.
      [async () => (await this.#opened)?.close()],
      [() => this.#copy.close()],
    ]);
  }

  /** Opens the store once its engine is there. */
  async #openOn(first: Promise<LedgerStore> | undefined): Promise<LedgerStore | undefined> {
    const { signal } = this.#closing;
    for (let failures = first === undefined ? 0 : -1; !signal.aborted; failures++) {
      const pause = Math.min(FIRST_PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS);
      if (failures >= 0) await delay(pause, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) return undefined;
      try {
        const store = await (failures < 0 && first !== undefined ? first : this.#options.open());
        this.#take(store);
        this.#tellOutage();
        return store;
      } catch (cause) {
        const reason = cause instanceof Error ? cause.message : String(cause);
        this.#outage = { since: this.#outage?.since ?? new Date(), reason };
      }
    }
    return undefined;
  }

  #take(store: LedgerStore): void {
    this.#store = store;
    store.onOutage?.(() => this.#tellOutage());
  }

  #tellOutage(): void {
    for (const listener of [...this.#listeners]) listener();
  }

  /** Copies until the copy has what is in force. */
  async #copyOn(store: LedgerStore): Promise<void> {
    const { signal } = this.#closing;
    const body = (digest: string): Promise<Uint8Array | undefined> => this.body(digest);
    for (let failures = 0; !signal.aborted; ) {
      const pause = failures === 0 ? COPIED_AFTER_MS : Math.min(FIRST_PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS);
      await delay(pause, undefined, { signal, ref: false }).catch(() => undefined);
      const wanted = this.#inForce;
      if (signal.aborted || wanted === undefined) break;
      try {
        await this.#copy.copyUpTo(wanted, { store, body });
        this.#problem = undefined;
        failures = 0;
        if (this.#inForce === wanted) break;
      } catch (cause) {
        failures++;
        if (store.outage === undefined && failures > 1) this.#tell(cause);
      }
    }
    this.#cached.clear();
    this.#copying = undefined;
  }

  #tell(cause: unknown): void {
    const reason = cause instanceof Error ? cause.message : String(cause);
    if (this.#problem === reason) return;
    this.#problem = reason;
    this.#options.onProblem(`the store cannot be copied: ${reason}`);
  }
}

/** Resolves to undefined when the signal aborts first. */
async function until<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  if (signal.aborted) return undefined;
  let stop = (): void => undefined;
  const aborted = new Promise<undefined>((resolve) => {
    stop = () => resolve(undefined);
    signal.addEventListener("abort", stop);
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
