/** The longest that a timer of the platform waits, in milliseconds: one that is set to more goes off at once. */
export const LONGEST_TIMER_MS: number = 2 ** 31 - 1;

/** A wait that was begun. */
export interface Timer {
  /** Ends it; also when it is over. */
  cancel(): void;
}

/** Calls back after so many milliseconds, however many. Keeps no process alive. */
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

/** Timers by their numbers. None of them keeps the process alive. */
export class Timers {
  readonly #running = new Map<number, Timer>();
  readonly #fired: (timer: number) => void;

  constructor(fired: (timer: number) => void) {
    this.#fired = fired;
  }

  /** Fires once, after `ms` milliseconds; what ran under that number does not any more. */
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
