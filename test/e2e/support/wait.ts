import { setTimeout as pause } from "node:timers/promises";

/** How long to wait for something, and what it is called when it does not come. */
export interface Expectation {
  readonly says: string;
  readonly withinMs: number;
  /** How often to look; 5 ms if absent. */
  readonly everyMs?: number;
}

/** What was found, and how long it took to come. */
export interface Waited<T> {
  readonly value: T;
  readonly ms: number;
}

/**
 * Looks until the probe returns something other than undefined or false. An error that the probe throws counts as "not yet". Throws when
 * the time is over, with what the probe said last.
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
    if (performance.now() - startedAt > expectation.withinMs) {
      throw new Error(`not within ${expectation.withinMs} ms: ${expectation.says}`, { cause: lastError });
    }
    await pause(expectation.everyMs ?? 5);
  }
}

/** Lets a stretch of time pass on purpose: for "nothing happens meanwhile", never for "it will have happened by then". */
export async function watchFor(ms: number): Promise<void> {
  await pause(ms);
}
