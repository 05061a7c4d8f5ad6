import { LONGEST_TIMER_MS } from "@xdskit/disk";

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
    // It is there to keep the process alive, not to do anything.
    this.#timer ??= setInterval(() => {}, LONGEST_TIMER_MS);
  }

  /** One of those who wait waits no longer. */
  end(): void {
    this.#waiting--;
    if (this.#waiting > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
