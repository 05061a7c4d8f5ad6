/** The longest that the platform can wait; what is longer would not wait at all. */
export const LONGEST_MS: number = 2 ** 31 - 1;

/** How long to wait after an answer: the delay and up to as much again, by a chance of at least 0 and less than 1 (C-RST-15). */
export function pollDelayMs(refreshDelayMs: number, chance: number): number {
  return Math.min(refreshDelayMs * (1 + chance), LONGEST_MS);
}
