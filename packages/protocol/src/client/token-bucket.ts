import type { RateLimit } from "./source.ts";

/** A token that was gained bit by bit may lack a rounding error. */
const WHOLE = 1 - 1e-9;

/** So many requests at once, and so many a second (C-CFG-07). */
export class TokenBucket {
  readonly #limit: RateLimit;
  #tokens: number;
  #filledAtMs: number;

  constructor(limit: RateLimit, nowMs: number) {
    this.#limit = limit;
    this.#tokens = limit.maxTokens;
    this.#filledAtMs = nowMs;
  }

  /** Takes a token, if there is one. */
  take(nowMs: number): boolean {
    this.#fill(nowMs);
    if (this.#tokens < WHOLE) return false;
    this.#tokens--;
    return true;
  }

  /** How long until there is a token. */
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
