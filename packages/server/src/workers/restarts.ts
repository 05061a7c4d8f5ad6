/** The pause before a worker that ended is started again, in milliseconds, the first time and at most. */
const PAUSES_MS = { first: 50, most: 10_000 };
/** A worker that ran for so long, in milliseconds, starts anew with the shortest pause. */
const GOOD_AFTER_MS = 30_000;

/** How soon workers that end are started again: the more often one fails, the later. */
export class Restarts {
  readonly #failures = new Map<number, number>();

  /** The pause before a worker that ran for so long is started again, in milliseconds. */
  next(worker: number, ranMs: number): number {
    const before = ranMs >= GOOD_AFTER_MS ? 0 : (this.#failures.get(worker) ?? 0);
    this.#failures.set(worker, before + 1);
    return Math.min(PAUSES_MS.most, PAUSES_MS.first * 2 ** before);
  }
}
