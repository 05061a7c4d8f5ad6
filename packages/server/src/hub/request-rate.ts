import type { Account } from "@xdskit/protocol/internal";

/** Accounts that are kept before those without a delay are forgotten. */
const PURGE_ABOVE = 1_024;
/**
 * The longest delay, in milliseconds. Without it the calls of a flood that are long gone would delay those that come
 * after it.
 */
const MOST_DELAY_MS = 30_000;

/**
 * Slows the requests of an identity down to a rate. A second's worth may come at once. Every request is counted once and
 * gets the delay after which it is due, so the requests of an identity are due one after another.
 */
export class RequestRate {
  readonly #perSecond: number;
  readonly #now: () => number;
  /** By account: when its last request would be due if they came evenly, in milliseconds. */
  readonly #dueAt = new Map<string, number>();
  #purgeAbove = PURGE_ABOVE;

  /** `perSecond` 0: no limit. */
  constructor(perSecond: number, now: () => number = () => performance.now()) {
    this.#perSecond = perSecond;
    this.#now = now;
  }

  /** Number of accounts that are kept. */
  get size(): number {
    return this.#dueAt.size;
  }

  /** Counts a request; returns the milliseconds that it has to wait. */
  delayOf({ key, by }: Account): number {
    if (this.#perSecond === 0 || by === "address") return 0;
    const now = this.#now();
    const inTurn = Math.max(now, this.#dueAt.get(key) ?? 0) + 1_000 / this.#perSecond;
    const dueAt = Math.min(inTurn, now + 1_000 + MOST_DELAY_MS);
    this.#dueAt.set(key, dueAt);
    if (this.#dueAt.size > this.#purgeAbove) this.#purge(now);
    return Math.max(0, dueAt - now - 1_000);
  }

  #purge(now: number): void {
    for (const [key, dueAt] of this.#dueAt) if (dueAt <= now) this.#dueAt.delete(key);
    this.#purgeAbove = Math.max(PURGE_ABOVE, 2 * this.#dueAt.size);
  }
}
