/** The longest delay of a Node.js timer, in milliseconds: a timer with a longer one fires at once. */
export const LONGEST_TIMER_MS: number = 2 ** 31 - 1;

/** A running timer. */
export interface Timer {
  /** Cancels the timer; allowed after it fired. */
  cancel(): void;
}

/** Calls back after `ms` milliseconds, without an upper limit. Does not keep the process alive. */
export function startTimer(ms: number, then: () => void): Timer {
  let timeout: NodeJS.Timeout;
  const wait = (leftMs: number): void => {
    const laterMs = leftMs - LONGEST_TIMER_MS;
    timeout = laterMs > 0 ? setTimeout(() => wait(laterMs), LONGEST_TIMER_MS) : setTimeout(then, leftMs);
    timeout.unref();
  };
  wait(ms);
  return { cancel: () => clearTimeout(timeout) };
}

/** Timers by number. They do not keep the process alive. */
export class Timers {
  readonly #running = new Map<number, Timer>();
  readonly #fired: (timer: number) => void;

  constructor(fired: (timer: number) => void) {
    this.#fired = fired;
  }

  /** Fires once after `ms` milliseconds; replaces the timer of the same number. */
  start(timer: number, ms: number): void {
    this.cancel(timer);
    const running = startTimer(ms, () => {
      this.#running.delete(timer);
      this.#fired(timer);
    });
    this.#running.set(timer, running);
  }

  cancel(timer: number): void {
    this.#running.get(timer)?.cancel();
    this.#running.delete(timer);
  }

  cancelAll(): void {
    for (const timer of [...this.#running.keys()]) this.cancel(timer);
  }
}
