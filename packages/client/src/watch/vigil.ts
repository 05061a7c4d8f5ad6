import { LONGEST_TIMER_MS } from "../longest-timer.ts";

/**
 * Keeps a process alive while somebody waits for something of a client, even while no server can be reached. Nothing else of a client
 * does, but the connections that it has.
 */
export class Vigil {
  #waiting = 0;
  #timer: NodeJS.Timeout | undefined;

  /** What is returned ends it, and may be called more than once. */
  begin(): () => void {
    this.#waiting++;
    // It is there to keep the process alive, not to do anything.
    this.#timer ??= setInterval(() => {}, LONGEST_TIMER_MS);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#waiting--;
      if (this.#waiting > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }
}
