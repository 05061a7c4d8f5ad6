/** The timers that the plane asked for. */
export class Timers {
  readonly #running = new Map<number, NodeJS.Timeout>();
  readonly #fire: (timer: number) => void;

  constructor(fire: (timer: number) => void) {
    this.#fire = fire;
  }

  /** Fires once, after `ms` milliseconds. A timer does not keep the process alive. */
  start(timer: number, ms: number): void {
    this.cancel(timer);
    const timeout = setTimeout(() => {
      this.#running.delete(timer);
      this.#fire(timer);
    }, ms);
    timeout.unref();
    this.#running.set(timer, timeout);
  }

  cancel(timer: number): void {
    const timeout = this.#running.get(timer);
    if (timeout === undefined) return;
    clearTimeout(timeout);
    this.#running.delete(timer);
  }

  cancelAll(): void {
    for (const timeout of this.#running.values()) clearTimeout(timeout);
    this.#running.clear();
  }
}
