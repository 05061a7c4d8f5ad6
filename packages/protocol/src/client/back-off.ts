import type { BackOff } from "./source.ts";

/**
 * Returns the pause after a number of failures in a row (0 after a stream that was answered): random, up to a doubling
 * bound, in milliseconds (C-REC-02).
 */
export function pauseMs({ baseMs, maxMs }: BackOff, failures: number, chance: number): number {
  const doublings = Math.max(0, failures - 1);
  return Math.round(Math.min(maxMs, baseMs * 2 ** doublings) * chance);
}
