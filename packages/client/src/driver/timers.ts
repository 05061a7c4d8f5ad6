import { LONGEST_TIMER_MS, startTimer } from "../longest-timer.ts";

/** The timers of one client, by their numbers. None of them keeps a process alive. */
export class Timers {
  readonly #running = new Map<number, NodeJS.Timeout>();
  readonly #fired: (timer: number) => void;

  constructor(fired: (timer: number) => void) {
    this.#fired = fired;
  }

  start(timer: number, ms: number): void {
    this.cancel(timer);
    const timeout = startTimer(ms, () => {
      this.#running.delete(timer);
      if (ms > LONGEST_TIMER_MS) this.start(timer, ms - LONGEST_TIMER_MS);
      else this.#fired(timer);
    });
    this.#running.set(timer, timeout);
  }

  cancel(timer: number): void {
    clearTimeout(this.#running.get(timer));
    this.#running.delete(timer);
  }

  cancelAll(): void {
    for (const timer of [...this.#running.keys()]) this.cancel(timer);
  }
}
