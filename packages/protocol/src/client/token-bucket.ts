import type { RateLimit } from "./source.ts";

/** Tolerates the rounding error of a token gained in fractions. */
const WHOLE = 1 - 1e-9;

/** Limits requests to a burst and a rate per second (C-CFG-07). */
export class TokenBucket {
  readonly #limit: RateLimit;
  #tokens: number;
  #filledAtMs: number;

  constructor(limit: RateLimit, nowMs: number) {
    this.#limit = limit;
    this.#tokens = limit.maxTokens;
    this.#filledAtMs = nowMs;
  }

  /** Takes a token if there is one. */
  take(nowMs: number): boolean {
    this.#fill(nowMs);
    if (this.#tokens < WHOLE) return false;
    this.#tokens--;
    return true;
  }

  /** Returns the time until a token is available, in milliseconds. */
  waitMs(nowMs: number): number {
    this.#fill(nowMs);
    return this.#tokens >= WHOLE ? 0 : Math.ceil(((1 - this.#tokens) / this.#limit.tokensPerSecond) * 1000);
  }

  #fill(nowMs: number): void {
    const gained = ((nowMs - this.#filledAtMs) / 1000) * this.#limit.tokensPerSecond;
    this.#tokens = Math.min(this.#limit.maxTokens, this.#tokens + gained);
    this.#filledAtMs = nowMs;
  }
}
