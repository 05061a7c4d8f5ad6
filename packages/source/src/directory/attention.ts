import { setTimeout as sleep } from "node:timers/promises";
import { type Burst, burstEndsAtMs, burstLimitMs, extendBurst, type Patience, readableAtMs } from "../quiet.ts";

/** Collects paths that may have changed. */
export class Attention {
  readonly #patience: Patience;
  readonly #signal: AbortSignal;
  #paths = new Set<string>();
  /** All paths of this burst, including those already taken. */
  #known = new Set<string>();
  #burst: Burst | undefined;
  #noticedAtMs: number | undefined;
  #wake: (() => void) | undefined;

  constructor(patience: Patience, signal: AbortSignal) {
    this.#patience = patience;
    this.#signal = signal;
    signal.addEventListener("abort", () => this.#wake?.(), { once: true });
  }

  /** When the first change of this burst was reported; undefined: none was, and everything is checked. */
  get noticedAtMs(): number | undefined {
    return this.#noticedAtMs;
  }

  /** Records that this path may have changed; "" stands for everything. */
  call(path: string): void {
    const nowMs = performance.now();
    this.#burst = extendBurst(this.#burst, !this.#known.has(path), nowMs);
    if (path !== "") this.#noticedAtMs ??= nowMs;
    this.#paths.add(path);
    this.#known.add(path);
    this.#wake?.();
  }

  /** Takes the paths of the burst until now. */
  takePaths(): ReadonlySet<string> {
    const paths = this.#paths;
    this.#paths = new Set();
    return paths;
  }

  /** Later changes start a new burst. */
  endBurst(): void {
    this.#known = new Set(this.#paths);
    const nowMs = performance.now();
    this.#burst = this.#paths.size === 0 ? undefined : extendBurst(undefined, true, nowMs);
    this.#noticedAtMs = this.#paths.size === 0 ? undefined : nowMs;
  }

  /** Waits for a change, or for the signal. */
  async untilCalled(): Promise<void> {
    if (this.#paths.size > 0 || this.#signal.aborted) return;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.#wake = undefined;
  }

  /** Waits until nothing was written for a moment, the end of the burst, or the signal. */
  async untilReadable(): Promise<void> {
    await this.#until((burst) => Math.min(readableAtMs(burst, this.#patience), burstEndsAtMs(burst, this.#patience)));
  }

  /** Waits for the end of the burst, or for the signal. */
  async untilQuiet(): Promise<void> {
    await this.#until((burst) => burstEndsAtMs(burst, this.#patience));
  }

  /**
   * Waits for the end of the burst, or for the signal. Returns whether the burst went on instead, after its paths were
   * taken: changes of several files should take effect together.
   */
  async isContinued(): Promise<boolean> {
    await this.#until((burst) => (this.#paths.size > 0 ? 0 : burstEndsAtMs(burst, this.#patience)));
    const burst = this.#burst;
    return this.#paths.size > 0 && burst !== undefined && performance.now() < burstLimitMs(burst, this.#patience);
  }

  /** Waits until a time that each change moves, or for the signal. */
  async #until(atMs: (burst: Burst) => number): Promise<void> {
    while (!this.#signal.aborted) {
      const waitMs = this.#burst === undefined ? 0 : atMs(this.#burst) - performance.now();
      if (waitMs <= 0) return;
      await sleep(waitMs, undefined, { signal: this.#signal }).catch(ignoreAbort);
    }
  }
}

/** The caller checks the signal itself. */
function ignoreAbort(error: unknown): void {
  if (!(error instanceof Error) || error.name !== "AbortError") throw error;
}
