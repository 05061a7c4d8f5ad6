import { LONGEST_TIMER_MS } from "@xdskit/disk";

/**
 * The pause after a response: the delay plus a random part of up to the same length; `chance` is from 0 up to, not
 * including, 1 (C-RST-15).
 */
export function pollDelayMs(refreshDelayMs: number, chance: number): number {
  return Math.min(refreshDelayMs * (1 + chance), LONGEST_TIMER_MS);
}
