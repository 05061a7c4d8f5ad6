/** Far enough away: it is there to keep a process alive, not to do anything. */
const NEVER_MS = 2 ** 31 - 1;

/**
 * Keeps a process alive while somebody waits for something of a client, even while no server can be reached. Nothing else of a client
 * does, but the connections that it has.
 */
export class Vigil {
  #waiting = 0;
  #timer: NodeJS.Timeout | undefined;

  /** Somebody waits, until `end`. */
  begin(): void {
    this.#waiting++;
    this.#timer ??= setInterval(() => {}, NEVER_MS);
  }

  /** One of those who wait waits no longer. */
  end(): void {
    this.#waiting--;
    if (this.#waiting > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
