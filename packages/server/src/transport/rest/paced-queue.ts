/** Milliseconds of work at a time; then reads and other work run first. */
const SLICE_MS = 5;

/**
 * Runs work in order, a slice of the event loop at a time: work that waited for the same event would otherwise run all
 * at once.
 */
export class PacedQueue {
  #work: (() => void)[] = [];
  #isScheduled = false;

  push(work: () => void): void {
    this.#work.push(work);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#doSlice());
  }

  #doSlice(): void {
    const endAt = performance.now() + SLICE_MS;
    let done = 0;
    for (const work of this.#work) {
      done++;
      work();
      if (performance.now() >= endAt) break;
    }
    this.#work = this.#work.slice(done);
    this.#isScheduled = this.#work.length > 0;
    if (this.#isScheduled) setImmediate(() => this.#doSlice());
  }
}
