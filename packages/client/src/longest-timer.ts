/** The longest that a timer of the platform waits, in milliseconds: one that is set to more goes off at once. */
export const LONGEST_TIMER_MS: number = 2 ** 31 - 1;

/** Calls back after so many milliseconds, or after the longest that a timer waits. Keeps no process alive. */
export function startTimer(ms: number, then: () => void): NodeJS.Timeout {
  const timer = setTimeout(then, Math.min(ms, LONGEST_TIMER_MS));
  timer.unref();
  return timer;
}
