/** How often each worker is pinged, in milliseconds. */
export const PING_EVERY_MS = 1_000;
/** A worker with so many unanswered pings counts as unresponsive; a slice of its work takes less than a second. */
const UNRESPONSIVE_AFTER = 3;
/** A worker with so many unanswered pings does not come back: it is to be replaced. */
const LOST_AFTER = 30;

export type Responsiveness = "responsive" | "unresponsive" | "lost";

/**
 * The pings that a worker has not answered. They are counted instead of timed: while the primary is suspended, it sends
 * none, and its workers are not to blame.
 */
export class UnansweredPings {
  #count = 0;

  /** Call this before the next ping is sent: only the earlier ones had the time to be answered. */
  get state(): Responsiveness {
    if (this.#count < UNRESPONSIVE_AFTER) return "responsive";
    return this.#count < LOST_AFTER ? "unresponsive" : "lost";
  }

  sent(): void {
    this.#count++;
  }

  /** The worker handles messages in order, so an answer is an answer to all pings before. */
  answered(): void {
    this.#count = 0;
  }
}
