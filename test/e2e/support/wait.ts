import { availableParallelism, loadavg } from "node:os";
import { setTimeout as pause } from "node:timers/promises";

/** A condition to wait for, and its time limit. */
export interface Expectation {
  readonly says: string;
  /** The limit on an idle machine in milliseconds; `until` gives up after twice that, times `slowdown`. */
  readonly withinMs: number;
  /** The interval between attempts in milliseconds. @default 5, later a twentieth of the time waited so far, 100 at most */
  readonly everyMs?: number;
}

/** The result, and the milliseconds that it took. */
export interface Waited<T> {
  readonly value: T;
  readonly ms: number;
}

/** How many times as long something takes as on an idle machine: the average of who shared a processor in the last minute. */
export function slowdown(): number {
  return Math.max(1, (loadavg()[0] ?? 0) / availableParallelism());
}

/**
 * Probes until the result is neither undefined nor false; an error of the probe counts as "not yet". Throws at the time
 * limit, with the last error.
 */
export async function until<T>(
  expectation: Expectation,
  probe: () => T | undefined | false | Promise<T | undefined | false>,
): Promise<Waited<T>> {
  const startedAt = performance.now();
  let lastError: unknown;
  for (;;) {
    try {
      const value = await probe();
      if (value !== undefined && value !== false) return { value, ms: Math.round(performance.now() - startedAt) };
      lastError = undefined;
    } catch (error) {
      lastError = error;
    }
    const tookMs = performance.now() - startedAt;
    if (tookMs > 2 * slowdown() * expectation.withinMs) {
      throw new Error(`not within ${Math.round(tookMs)} ms: ${expectation.says}`, { cause: lastError });
    }
    await pause(expectation.everyMs ?? intervalAfter(tookMs));
  }
}

/** Long waits are asked about less often: what answers takes time from what is waited for. */
function intervalAfter(tookMs: number): number {
  return Math.min(Math.max(tookMs / 20, 5), 100);
}

/** Waits on purpose, to check that nothing happens; not for something to happen. */
export async function watchFor(ms: number): Promise<void> {
  await pause(ms);
}
