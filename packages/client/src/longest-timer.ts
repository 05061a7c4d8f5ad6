/** The longest that a timer of the platform waits, in milliseconds: one that is set to more goes off at once. */
export const LONGEST_TIMER_MS: number = 2 ** 31 - 1;
