import { setTimeout as sleep } from "node:timers/promises";
import { type Burst, burstEndsAtMs, burstLimitMs, extendBurst, type Patience } from "../quiet.ts";

/** Collects paths that may have changed. */
export class Attention {
  readonly #patience: Patience;
  readonly #signal: AbortSignal;
  #paths = new Set<string>();
  /** All paths of this burst, including those already returned. */
  #known = new Set<string>();
  #burst: Burst | undefined;
  #wake: (() => void) | undefined;

  constructor(patience: Patience, signal: AbortSignal) {
    this.#patience = patience;
    this.#signal = signal;
    signal.addEventListener("abort", () => this.#wake?.(), { once: true });
  }

  /** Whether the burst went on after its paths were returned: changes of several files should take effect together. */
  get isContinued(): boolean {
    const { size } = this.#paths;
    return size > 0 && this.#burst !== undefined && performance.now() < burstLimitMs(this.#burst, this.#patience);
  }

  /** Records that this path may have changed; "" stands for everything. */
  call(path: string): void {
    this.#burst = extendBurst(this.#burst, !this.#known.has(path), performance.now());
    this.#paths.add(path);
    this.#known.add(path);
    this.#wake?.();
  }

  /** Later changes start a new burst. */
  endBurst(): void {
    this.#known = new Set(this.#paths);
    const nowMs = performance.now();
    this.#burst = this.#paths.size === 0 ? undefined : extendBurst(undefined, true, nowMs);
  }

  /** Waits for a change, or for the signal. */
  async untilCalled(): Promise<void> {
    if (this.#paths.size > 0 || this.#signal.aborted) return;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.#wake = undefined;
  }

  /** Waits for the end of the burst, or for the signal, and returns its paths. */
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

/** The caller checks the signal itself. */
function ignoreAbort(error: unknown): void {
  if (!(error instanceof Error) || error.name !== "AbortError") throw error;
}
