import { setTimeout as delay } from "node:timers/promises";
import type { LedgerStore } from "./store.ts";

/** After how long a store that cannot be read is read again, in milliseconds. */
const READ_AGAIN_MS = 1_000;

export interface StoreFollowerOptions {
  readonly store: Pick<LedgerStore, "whenPast" | "onOutage">;
  /** The number up to which the store was read. */
  readonly readTo: () => number;
  /** Applies what the store has now. Returns why that cannot be read, or is not applied. */
  readonly catchUp: () => Promise<string | undefined>;
}

/** Applies what other processes append to a store, as they do. */
export class StoreFollower {
  readonly #options: StoreFollowerOptions;
  readonly #closing = new AbortController();
  /** Aborted when what is waited for is another number. */
  #waiting = new AbortController();
  #running: Promise<void> | undefined;

  constructor(options: StoreFollowerOptions) {
    this.#options = options;
  }

  start(): void {
    this.#running = this.#follow();
  }

  /** The number up to which the store was read may be a smaller one now. */
  waitAnew(): void {
    this.#waiting.abort();
  }

  /** Resolves when nothing more is applied. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#waiting.abort();
    await this.#running;
  }

  async #follow(): Promise<void> {
    const { store, readTo, catchUp } = this.#options;
    const { signal } = this.#closing;
    const stopListening = store.onOutage?.(() => void catchUp());
    while (!signal.aborted) {
      this.#waiting = new AbortController();
      await store.whenPast(readTo(), this.#waiting.signal);
      if (signal.aborted) break;
      const unreadable = await catchUp();
      if (unreadable !== undefined)
        await delay(READ_AGAIN_MS, undefined, { signal, ref: false }).catch(() => undefined);
    }
    stopListening?.();
  }
}
