import type { HeldLease, LedgerLease } from "./lease.ts";

interface LeaseWaiter {
  readonly take: (lease: HeldLease) => void;
}

/** Leases among the servers of one process. */
export class MemoryLeases {
  readonly #held = new Map<string, string>();
  readonly #waiters = new Map<string, Set<LeaseWaiter>>();
  #last = 0;

  lease(name: string): LedgerLease {
    return { acquire: (signal) => this.#acquire(name, signal) };
  }

  /** Whether the lease with this token is held. */
  isHeld(token: string): boolean {
    for (const held of this.#held.values()) if (held === token) return true;
    return false;
  }

  async #acquire(name: string, signal: AbortSignal): Promise<HeldLease | undefined> {
    if (signal.aborted) return undefined;
    if (!this.#held.has(name)) return this.#hold(name);
    return await new Promise((resolve) => {
      const waiters = this.#waiters.get(name) ?? new Set();
      this.#waiters.set(name, waiters);
      const end = (lease: HeldLease | undefined): void => {
        waiters.delete(waiter);
        signal.removeEventListener("abort", giveUp);
        resolve(lease);
      };
      const giveUp = (): void => end(undefined);
      const waiter: LeaseWaiter = { take: end };
      waiters.add(waiter);
      signal.addEventListener("abort", giveUp);
    });
  }

  #hold(name: string): HeldLease {
    const token = `${name} ${++this.#last}`;
    const lost = new AbortController();
    this.#held.set(name, token);
    const release = (): Promise<void> => {
      if (lost.signal.aborted) return Promise.resolve();
      lost.abort();
      this.#held.delete(name);
      const [next] = this.#waiters.get(name) ?? [];
      next?.take(this.#hold(name));
      return Promise.resolve();
    };
    return { token, lost: lost.signal, release };
  }
}
