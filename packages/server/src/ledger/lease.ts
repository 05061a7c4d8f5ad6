/** A right that one process at a time holds, such as to publish a source to a store that several servers share. */
export interface LedgerLease {
  /**
   * Resolves when this process holds the lease; until then another one does, or the engine is away. Undefined: the
   * signal was aborted first, and the lease is not held.
   */
  acquire(signal: AbortSignal): Promise<HeldLease | undefined>;
}

/** A lease while it is held. The store renews it; nobody else has to. */
export interface HeldLease {
  /** Names this time of holding it among all times and processes. */
  readonly token: string;
  /**
   * Aborted when the lease is lost or released. It must be aborted before another process can acquire the lease, by
   * this process's clock: a process that was stopped for longer is found out by `Appended.lease`.
   */
  readonly lost: AbortSignal;
  /** Gives the lease to whoever waits for it. If the engine is away, that is after the time to live. Never rejects. */
  release(): Promise<void>;
}
