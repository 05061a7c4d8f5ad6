/** The pause after a fan-out is this many times what the fan-out cost, so that fan-outs take a fifth of the time. */
const PAUSE_PER_COST = 4;
/** Shorter pauses are not worth a timer, in milliseconds. */
const SHORTEST_PAUSE_MS = 1;

/**
 * Decides when the next fan-out of changes may begin, so that changes that follow each other fast are gathered and sent
 * together. A fan-out flushes the streams that were due when it began. While it runs, and in the pause after it,
 * further changes are gathered; the pause grows with the cost of the fan-out up to a maximum. After that, a change is
 * sent at once.
 *
 * Times are milliseconds of a monotonic clock. `taken` counts the flushes because of changes so far, `due` the streams that
 * wait for such a flush.
 */
export class FanOutPacer {
  readonly #maxPauseMs: number;
  /** The count of flushes at which the running fan-out is complete; undefined: none runs. */
  #until: number | undefined;
  #costMs = 0;
  #resumeAt = Number.NEGATIVE_INFINITY;
  #isGathering = false;

  constructor(maxPauseMs: number) {
    this.#maxPauseMs = maxPauseMs;
  }

  /** A change made streams due. */
  changed(now: number, taken: number, due: number): void {
    if (due === 0) return;
    if (this.#until !== undefined || now < this.#resumeAt) this.#isGathering = true;
    else this.#begin(taken, due);
  }

  /** Whether the next stream of the queue may be flushed. Begins a fan-out of what was gathered once its pause is over. */
  mayFlush(now: number, taken: number, due: number): boolean {
    if (!this.#isGathering) return true;
    if (this.#until !== undefined) return taken < this.#until;
    if (now < this.#resumeAt) return false;
    this.#begin(taken, due);
    return true;
  }

  /** Adds the cost of a slice to the running fan-out, and ends it if it is complete. */
  sliceEnded(now: number, costMs: number, taken: number, due: number): void {
    if (this.#until === undefined) return;
    this.#costMs += costMs;
    if (taken < this.#until && due > 0) return;
    const pauseMs = Math.min(this.#maxPauseMs, this.#costMs * PAUSE_PER_COST);
    this.#resumeAt = pauseMs < SHORTEST_PAUSE_MS ? now : now + pauseMs;
    this.#until = undefined;
  }

  /** The milliseconds until the queue goes on. */
  waitMs(now: number): number {
    return this.#isGathering && this.#until === undefined ? Math.max(0, this.#resumeAt - now) : 0;
  }

  #begin(taken: number, due: number): void {
    this.#until = taken + due;
    this.#costMs = 0;
    this.#isGathering = false;
  }
}
