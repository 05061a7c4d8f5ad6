/** Calls that are started in one turn of the event loop: one costs up to 0.6 ms until its first request is taken. */
export const CALLS_PER_TURN = 16;

/** TLS handshakes that are begun in one turn: one costs up to a millisecond, most of it in a single step. */
export const HANDSHAKES_PER_TURN = 8;

/** While more calls wait to be started, connections that bring much are not read. */
export const MOST_WAITING_CALLS: number = 16 * CALLS_PER_TURN;

/** Starts what costs much a few in a turn of the event loop, whoever's it is, round-robin over accounts. */
export class PacedStarts {
  readonly #perTurn: number;
  /** What waits by account, the next one first. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #waitingStarts = 0;
  #left: number;
  #isScheduled = false;

  constructor(perTurn: number) {
    this.#perTurn = perTurn;
    this.#left = perTurn;
  }

  /** How many wait for a later turn. */
  get waiting(): number {
    return this.#waitingStarts;
  }

  /** Starts something of an account: at once, or in a later turn if there was too much in this one. */
  start(account: string, begin: () => void): void {
    this.#schedule();
    if (this.#left > 0) {
      this.#left--;
      begin();
      return;
    }
    this.#waitingStarts++;
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
    this.#left = this.#perTurn;
    // An account that is put back comes again after the others.
    for (const [account, ofAccount] of this.#waiting) {
      if (this.#left === 0) break;
      this.#left--;
      this.#waitingStarts--;
      this.#waiting.delete(account);
      const begin = ofAccount.shift();
      if (ofAccount.length > 0) this.#waiting.set(account, ofAccount);
      begin?.();
    }
    if (this.#left < this.#perTurn) this.#schedule();
  }
}
