/** Far enough away: it is there to keep a process alive, not to do anything. */
const NEVER_MS = 2 ** 31 - 1;

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
    this.#timer ??= setInterval(() => {}, NEVER_MS);
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
