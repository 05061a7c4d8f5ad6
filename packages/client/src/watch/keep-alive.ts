import { LONGEST_TIMER_MS } from "@xdskit/disk";

/**
 * Keeps the process alive while a caller waits for the client, even if no server is reachable. Apart from it only
 * connections do.
 */
export class KeepAlive {
  #waiting = 0;
  #timer: NodeJS.Timeout | undefined;

  /** A caller waits, until `end`. */
  begin(): void {
    this.#waiting++;
    // Its only purpose is to keep the process alive.
    this.#timer ??= setInterval(() => {}, LONGEST_TIMER_MS);
  }

  /** One caller no longer waits. */
  end(): void {
    this.#waiting--;
    if (this.#waiting > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
