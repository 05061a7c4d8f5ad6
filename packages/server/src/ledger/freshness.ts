import type { Publisher } from "./publisher.ts";

/** How long a client waits for the newest state, in milliseconds. */
const WAITS_MS = 10_000;

/** Why a client was served although there may be a newer state. */
export type UncheckedReason = "away" | "timeout";

/**
 * Sees to it that a client that comes from another server is not set back: versions are digests and have no order, so the
 * store is asked how far it is. Who comes while it is being asked shares the next answer.
 */
export class StoreFreshness {
  readonly #publisher: Publisher;
  readonly #onUnchecked: (reason: UncheckedReason) => void;
  #asking: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  constructor(publisher: Publisher, onUnchecked: (reason: UncheckedReason) => void) {
    this.#publisher = publisher;
    this.#onUnchecked = onUnchecked;
  }

  /** Undefined: nothing newer is known, and nobody has to be asked. */
  check(bringsVersions: boolean): Promise<void> | undefined {
    const { store, number, stop } = this.#publisher;
    // A copy may be older than what any other server serves.
    const isBehind = store.head.number > number || store.copy?.isInPlace === true;
    if (store.refresh === undefined || (!bringsVersions && !isBehind)) return undefined;
    if (store.outage !== undefined || stop !== undefined) {
      this.#onUnchecked("away");
      return undefined;
    }
    return this.#within(bringsVersions ? this.#ask() : Promise.resolve());
  }

  /** Then waits for what the store has to be in force. */
  async #within(asked: Promise<void>): Promise<void> {
    const timeout = AbortSignal.timeout(WAITS_MS);
    let isOver = false;
    const over = new Promise<void>((resolve) => {
      timeout.addEventListener("abort", () => {
        isOver = true;
        resolve();
      });
    });
    try {
      await Promise.race([asked, over]);
      await this.#publisher.whenInForce(this.#publisher.store.head.number, timeout);
      if (isOver) this.#onUnchecked("timeout");
    } catch {
      this.#onUnchecked("away");
    }
  }

  /** An answer that was asked for before the client came may be too old for it, so the next one counts. */
  #ask(): Promise<void> {
    if (this.#asking === undefined) {
      this.#asking = this.#refresh().finally(() => {
        this.#asking = undefined;
      });
      return this.#asking;
    }
    this.#next ??= this.#asking
      .catch(() => undefined)
      .then(() => {
        this.#next = undefined;
        return this.#ask();
      });
    return this.#next;
  }

  async #refresh(): Promise<void> {
    await this.#publisher.store.refresh?.();
  }
}
