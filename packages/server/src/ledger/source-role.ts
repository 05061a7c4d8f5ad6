import type { HeldLease, LedgerLease } from "./lease.ts";

/** Whether a server publishes to its store, or only follows it. */
export type LedgerRole = "publisher" | "follower";

export interface SourceRoleOptions {
  /** `always` and `never` do not change. */
  readonly publishes: "always" | "never" | LedgerLease;
  /** Called with each new role. Before it is that of a publisher, `prepare` is awaited. */
  readonly onChanged: (role: LedgerRole) => void;
  /** Reads what others published until now. */
  readonly prepare: () => Promise<unknown>;
}

/** The role of a server among those that share a store: whoever holds the lease of the source publishes. */
export class SourceRole {
  readonly #options: SourceRoleOptions;
  readonly #closing = new AbortController();
  #lease: HeldLease | undefined;
  #running: Promise<void> | undefined;
  #since = new Date();

  constructor(options: SourceRoleOptions) {
    this.#options = options;
  }

  get role(): LedgerRole {
    return this.mayPublish === false ? "follower" : "publisher";
  }

  /** When the role began. */
  get since(): Date {
    return this.#since;
  }

  /** A lease: while it is held. */
  get mayPublish(): HeldLease | boolean {
    const { publishes } = this.#options;
    if (typeof publishes === "string") return publishes === "always";
    return this.#lease === undefined || this.#lease.lost.aborted ? false : this.#lease;
  }

  /** Begins to ask for the lease, and goes on when it is lost. */
  start(): void {
    const { publishes } = this.#options;
    if (typeof publishes !== "string") this.#running ??= this.#run(publishes);
  }

  /** Gives the lease to another server. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  async #run(wanted: LedgerLease): Promise<void> {
    const { signal } = this.#closing;
    const { prepare, onChanged } = this.#options;
    while (!signal.aborted) {
      const lease = await wanted.acquire(signal);
      if (lease === undefined) continue;
      await prepare();
      if (!lease.lost.aborted && !signal.aborted) {
        this.#become(lease);
        onChanged("publisher");
        await lost(lease, signal);
        this.#become(undefined);
        if (!signal.aborted) onChanged("follower");
      }
      await lease.release();
    }
  }

  #become(lease: HeldLease | undefined): void {
    this.#lease = lease;
    this.#since = new Date();
  }
}

/** Resolves when the lease is lost or the signal aborted. */
async function lost(lease: HeldLease, signal: AbortSignal): Promise<void> {
  const either = AbortSignal.any([lease.lost, signal]);
  if (either.aborted) return;
  await new Promise<void>((resolve) => either.addEventListener("abort", () => resolve(), { once: true }));
}
