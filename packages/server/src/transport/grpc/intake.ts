/**
 * What is taken in one turn of the event loop, whoever's it is. A call costs up to 0.6 ms until it is started, and a large
 * message as much until it is taken.
 */
export const TAKEN_PER_TURN = 16;

/** Messages below this, such as ACKs and small requests, never wait for a turn. */
export const SMALL_MESSAGE_BYTES = 1_024;

/** Takes new calls and large messages a few in a turn of the event loop, round-robin over accounts. */
export class Intake {
  /** What waits by account, the next one first. */
  readonly #rows = new Map<string, (() => void)[]>();
  #waiting = 0;
  #left = TAKEN_PER_TURN;
  #isScheduled = false;

  /** While more waits than a turn takes, connections that bring much are not read. */
  get isBusy(): boolean {
    return this.#waiting > TAKEN_PER_TURN;
  }

  /** Takes something of an account: at once, or in a later turn if there was too much in this one. */
  take(account: string, take: () => void): void {
    this.#schedule();
    if (this.#left > 0) {
      this.#left--;
      take();
      return;
    }
    this.#waiting++;
    const row = this.#rows.get(account);
    if (row === undefined) this.#rows.set(account, [take]);
    else row.push(take);
  }

  /** As `take`, for a message. Undefined: it may be taken at once. */
  turnFor(account: string, byteLength: number): Promise<void> | undefined {
    if (byteLength < SMALL_MESSAGE_BYTES) return undefined;
    if (this.#left > 0) {
      this.take(account, () => {});
      return undefined;
    }
    return new Promise((resolve) => {
      this.take(account, resolve);
    });
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#beginTurn());
  }

  #beginTurn(): void {
    this.#isScheduled = false;
    this.#left = TAKEN_PER_TURN;
    // An account that is put back comes again after the others.
    for (const [account, row] of this.#rows) {
      if (this.#left === 0) break;
      this.#left--;
      this.#waiting--;
      this.#rows.delete(account);
      const take = row.shift();
      if (row.length > 0) this.#rows.set(account, row);
      take?.();
    }
    if (this.#left < TAKEN_PER_TURN) this.#schedule();
  }
}
