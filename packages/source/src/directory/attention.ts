import { setTimeout as sleep } from "node:timers/promises";
import { type Burst, burstEndsAtMs, extendBurst, type Patience } from "../quiet.ts";

/** Gathers what may have changed until somebody asks for it. */
export class Attention {
  readonly #patience: Patience;
  readonly #signal: AbortSignal;
  #paths = new Set<string>();
  #burst: Burst | undefined;
  #wake: (() => void) | undefined;

  constructor(patience: Patience, signal: AbortSignal) {
    this.#patience = patience;
    this.#signal = signal;
    signal.addEventListener("abort", () => this.#wake?.(), { once: true });
  }

  /** Whether something happened that nobody has taken yet. */
  get isCalled(): boolean {
    return this.#paths.size > 0;
  }

  /** Something may have changed at this path; "" is everything. */
  call(path: string): void {
    this.#paths.add(path);
    this.#burst = extendBurst(this.#burst, performance.now());
    this.#wake?.();
  }

  /** Waits until something happened, or until the signal. */
  async untilCalled(): Promise<void> {
    if (this.isCalled || this.#signal.aborted) return;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.#wake = undefined;
  }

  /** Waits until the burst is over, and hands out what it concerned and when it began. */
  async untilQuiet(beganAtMs: number | undefined): Promise<{ paths: ReadonlySet<string>; beganAtMs: number }> {
    if (this.#burst !== undefined && beganAtMs !== undefined) this.#burst = { ...this.#burst, firstAtMs: beganAtMs };
    for (;;) {
      const burst = this.#burst;
      const waitMs = burst === undefined ? 0 : burstEndsAtMs(burst, this.#patience) - performance.now();
      if (waitMs <= 0 || this.#signal.aborted) {
        const paths = this.#paths;
        this.#paths = new Set();
        this.#burst = undefined;
        return { paths, beganAtMs: burst?.firstAtMs ?? performance.now() };
      }
      await sleep(waitMs, undefined, { signal: this.#signal }).catch(ignoreAbort);
    }
  }
}

/** Who waits looks at the signal himself. */
function ignoreAbort(error: unknown): void {
  if (!(error instanceof Error) || error.name !== "AbortError") throw error;
}
