/** However much changes, an answer stands no longer than this, in milliseconds, unless its own rest is longer. */
const LONGEST_MS = 5_000;

/**
 * How long an answer stands before it is asked for again. A change after a quiet time is asked for soon; while changes come
 * all the time, each rest is twice the one before, up to a bound.
 */
export class Rest {
  readonly #shortMs: number;
  #restMs: number;
  #answeredAt = Number.NEGATIVE_INFINITY;

  constructor(shortMs: number) {
    this.#shortMs = shortMs;
    this.#restMs = shortMs;
  }

  /** An answer has come. */
  answered(nowMs: number): void {
    this.#answeredAt = nowMs;
  }

  /** The rest from a change on. */
  next(nowMs: number): number {
    const isQuiet = nowMs - this.#answeredAt > 2 * this.#shortMs;
    const rest = isQuiet ? this.#shortMs : this.#restMs;
    this.#restMs = Math.min(2 * rest, Math.max(this.#shortMs, LONGEST_MS));
    return rest;
  }
}
