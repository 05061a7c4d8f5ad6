/** How many of something a client may do: some at once, and more as time passes. */
export interface AllowanceOptions {
  readonly burst: number;
  readonly perSecond: number;
}

export class Allowance {
  readonly #options: AllowanceOptions;
  #left: number;
  #filledAtMs: number | undefined;

  constructor(options: AllowanceOptions) {
    this.#options = options;
    this.#left = options.burst;
  }

  /** Takes one; returns whether there was one. */
  take(nowMs: number): boolean {
    const { burst, perSecond } = this.#options;
    const passedMs = nowMs - (this.#filledAtMs ?? nowMs);
    this.#filledAtMs = nowMs;
    this.#left = Math.min(burst, this.#left + (passedMs * perSecond) / 1_000) - 1;
    return this.#left >= 0;
  }

  /** Gives one back. */
  give(): void {
    this.#left = Math.min(this.#options.burst, this.#left + 1);
  }
}
