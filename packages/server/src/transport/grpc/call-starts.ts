/**
 * Calls that are started in one turn of the event loop, whoever's they are. A call costs up to 0.6 ms until its first
 * request is taken.
 */
export const STARTS_PER_TURN = 16;

/** While more calls wait to be started, connections that bring much are not read. */
export const MOST_WAITING_CALLS: number = 16 * STARTS_PER_TURN;

/** Starts new calls a few in a turn of the event loop, round-robin over accounts. */
export class CallStarts {
  /** Waiting calls by account, the next one first. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #waitingCalls = 0;
  #left = STARTS_PER_TURN;
  #isScheduled = false;

  /** The number of calls that wait for a later turn. */
  get waiting(): number {
    return this.#waitingCalls;
  }

  /** Starts a call of an account: at once, or in a later turn if there were too many in this one. */
  start(account: string, begin: () => void): void {
    this.#schedule();
    if (this.#left > 0) {
      this.#left--;
      begin();
      return;
    }
    this.#waitingCalls++;
    const ofAccount = this.#waiting.get(account);
    if (ofAccount === undefined) this.#waiting.set(account, [begin]);
    else ofAccount.push(begin);
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#startWaiting());
  }

  #startWaiting(): void {
    this.#isScheduled = false;
    this.#left = STARTS_PER_TURN;
    // An account that is put back comes again after the others.
    for (const [account, ofAccount] of this.#waiting) {
      if (this.#left === 0) break;
      this.#left--;
      this.#waitingCalls--;
      this.#waiting.delete(account);
      const begin = ofAccount.shift();
      if (ofAccount.length > 0) this.#waiting.set(account, ofAccount);
      begin?.();
    }
    if (this.#left < STARTS_PER_TURN) this.#schedule();
  }
}
