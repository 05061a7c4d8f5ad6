/** Work is done for so long at a time; then reads, and whatever else waits, go first. */
const SLICE_MS = 5;

/** Does work in the order it came, a slice of the event loop at a time: what waited for one thing would else go in one go. */
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
