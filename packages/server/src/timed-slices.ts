import { nextTurn } from "./next-turn.ts";

/** Milliseconds of work at a time; then streams and requests run first. */
const SLICE_MS = 3;

/** Divides work whose items may each cost anything, such as the rows of a page: a slice ends by the clock. */
export class TimedSlices {
  #endsAt = performance.now() + SLICE_MS;

  get isOver(): boolean {
    return performance.now() >= this.#endsAt;
  }

  async next(): Promise<void> {
    await nextTurn();
    this.#endsAt = performance.now() + SLICE_MS;
  }
}
