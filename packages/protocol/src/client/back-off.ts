import type { BackOff } from "./source.ts";

/** The pause after so many failures in a row, 0 after a stream that was answered on: anything up to its bound (C-REC-02). */
export function pauseMs({ baseMs, maxMs }: BackOff, failures: number, chance: number): number {
  const doublings = Math.max(0, failures - 1);
  return Math.round(Math.min(maxMs, baseMs * 2 ** doublings) * chance);
}
