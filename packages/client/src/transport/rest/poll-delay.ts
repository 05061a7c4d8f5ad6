import { LONGEST_TIMER_MS } from "@xdskit/disk";

/** How long to wait after an answer: the delay and up to as much again, by a chance of at least 0 and less than 1 (C-RST-15). */
export function pollDelayMs(refreshDelayMs: number, chance: number): number {
  return Math.min(refreshDelayMs * (1 + chance), LONGEST_TIMER_MS);
}
