import type { Steps } from "@xdskit/protocol/internal";
import { nextTurn } from "./next-turn.ts";

/** A slice of the event loop ends after so many items, or bytes in them. */
const ITEMS = 500;
const BYTES = 256 * 1024;

/**
 * Divides long computations: when a slice is over, other work of the event loop has its turn. It ends by count, because
 * their items are alike, and reading the clock may cost as much as one (docs/decisions/0121).
 */
export class Slices {
  #items = 0;
  #bytes = 0;

  /** Counts an item, or several; returns whether the slice is over, and the caller awaits `next`. */
  count(bytes = 0, items = 1): boolean {
    this.#bytes += bytes;
    this.#items += items;
    return this.#items >= ITEMS || this.#bytes >= BYTES;
  }

  async next(): Promise<void> {
    await nextTurn();
    this.#items = 0;
    this.#bytes = 0;
  }

  /** Finishes a computation in steps. */
  async finish<T>(steps: Steps<T>): Promise<T> {
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
      if (this.count(0, step.value)) await this.next();
    }
  }
}
