import { setTimeout as sleep } from "node:timers/promises";
import { type Burst, burstEndsAtMs, burstLimitMs, extendBurst, type Patience } from "../quiet.ts";

/** Gathers what may have changed until somebody asks for it. */
export class Attention {
  readonly #patience: Patience;
  readonly #signal: AbortSignal;
  #paths = new Set<string>();
  /** Everything in this burst, what was handed out as well. */
  #known = new Set<string>();
  #burst: Burst | undefined;
  #wake: (() => void) | undefined;

  constructor(patience: Patience, signal: AbortSignal) {
    this.#patience = patience;
    this.#signal = signal;
    signal.addEventListener("abort", () => this.#wake?.(), { once: true });
  }

  /**
   * Whether more has happened since something was handed out that belongs to it: who changes several files wants them to
   * take effect together.
   */
  get isContinued(): boolean {
    const { size } = this.#paths;
    return size > 0 && this.#burst !== undefined && performance.now() < burstLimitMs(this.#burst, this.#patience);
  }

  /** Something may have changed at this path; "" is everything. */
  call(path: string): void {
    this.#burst = extendBurst(this.#burst, !this.#known.has(path), performance.now());
    this.#paths.add(path);
    this.#known.add(path);
    this.#wake?.();
  }

  /** What happens from now on is another burst. */
  endBurst(): void {
    this.#known = new Set(this.#paths);
    const nowMs = performance.now();
    this.#burst = this.#paths.size === 0 ? undefined : extendBurst(undefined, true, nowMs);
  }

  /** Waits until something happened, or until the signal. */
  async untilCalled(): Promise<void> {
    if (this.#paths.size > 0 || this.#signal.aborted) return;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.#wake = undefined;
  }

  /** Waits until the burst is over, or until the signal, and hands out what it concerned. */
  async untilQuiet(): Promise<ReadonlySet<string>> {
    for (;;) {
      const waitMs = this.#burst === undefined ? 0 : burstEndsAtMs(this.#burst, this.#patience) - performance.now();
      if (waitMs <= 0 || this.#signal.aborted) {
        const paths = this.#paths;
        this.#paths = new Set();
        return paths;
      }
      await sleep(waitMs, undefined, { signal: this.#signal }).catch(ignoreAbort);
    }
  }
}

/** Who waits looks at the signal himself. */
function ignoreAbort(error: unknown): void {
  if (!(error instanceof Error) || error.name !== "AbortError") throw error;
}
