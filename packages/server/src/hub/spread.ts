import { setTimeout as elapsed } from "node:timers/promises";

/** Longest pause between two steps, in milliseconds. */
const MAX_PAUSE_MS = 50;

export interface SpreadOptions {
  readonly ms: number;
  /** Leaves out the rest when it is aborted. */
  readonly signal: AbortSignal;
}

/** Calls `each` for every item in order, spread evenly over `ms` milliseconds; the first at once. */
export async function spread<T>(
  items: readonly T[],
  { ms, signal }: SpreadOptions,
  each: (item: T) => void,
): Promise<void> {
  const startedAt = performance.now();
  for (let done = 0; done < items.length && !signal.aborted; ) {
    const share = ms === 0 ? 1 : (performance.now() - startedAt) / ms;
    const until = Math.min(items.length, Math.floor(share * items.length) + 1);
    for (const item of items.slice(done, until)) each(item);
    done = until;
    if (done < items.length) await pause(Math.min(MAX_PAUSE_MS, ms / items.length), signal);
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  // It rejects if it is aborted, which the caller looks at.
  await elapsed(ms, undefined, { signal }).catch(() => undefined);
}
