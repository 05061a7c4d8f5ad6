interface Waiter {
  readonly number: number;
  readonly resolve: () => void;
}

/** Those who wait for a ledger's head to move. */
export class HeadWaiters {
  readonly #waiters = new Set<Waiter>();

  /** Resolves when `moved` is called with a greater number, or the signal aborts. */
  async wait(number: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    await new Promise<void>((resolve) => {
      const end = (): void => {
        this.#waiters.delete(waiter);
        signal.removeEventListener("abort", end);
        resolve();
      };
      const waiter: Waiter = { number, resolve: end };
      this.#waiters.add(waiter);
      signal.addEventListener("abort", end);
    });
  }

  moved(number: number): void {
    for (const waiter of [...this.#waiters]) {
      if (number > waiter.number) waiter.resolve();
    }
  }
}
