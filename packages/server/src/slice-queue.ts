import type { Steps } from "@xdskit/protocol/internal";
import { Slices } from "./slices.ts";

/**
 * Finishes computations for many clients, all in the same slices of the event loop: with slices of their own, a hundred
 * computations would make each turn a hundred slices long. The lanes take turns, a slice each; what one lane waits for
 * is in order.
 */
export class SliceQueue {
  readonly #lanes = new Map<string, Steps<void>[]>();
  readonly #slices = new Slices();
  #isRunning = false;

  /**
   * Finishes a computation after those before it in its lane. `itemsIn`: what the result takes besides, without steps of
   * its own, counts as so many items.
   */
  finish<T>(lane: string, steps: Steps<T>, itemsIn: (result: T) => number): Promise<T> {
    return new Promise((resolve, reject) => {
      const waiting = this.#lanes.get(lane) ?? [];
      waiting.push(settle(steps, { resolve, reject, itemsIn }));
      this.#lanes.set(lane, waiting);
      if (!this.#isRunning) void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    for (const [lane, waiting] of this.#lanes) {
      this.#lanes.delete(lane);
      const isSliceOver = this.#work(waiting);
      if (waiting.length > 0) this.#lanes.set(lane, waiting);
      if (isSliceOver) await this.#slices.next();
    }
    this.#isRunning = false;
  }

  /** Works on a lane until the slice is over or nothing waits; returns whether the slice is over. */
  #work(waiting: Steps<void>[]): boolean {
    for (let first = waiting[0]; first !== undefined; first = waiting[0]) {
      const { done, value = 1 } = first.next();
      if (done === true) waiting.shift();
      if (this.#slices.count(0, done === true ? 1 : value)) return true;
    }
    return false;
  }
}

interface Settling<T> {
  readonly resolve: (result: T) => void;
  readonly reject: (cause: unknown) => void;
  readonly itemsIn: (result: T) => number;
}

/** A computation that passes its result on, and then the items of it. */
function* settle<T>(steps: Steps<T>, { resolve, reject, itemsIn }: Settling<T>): Steps<void> {
  try {
    const result = yield* steps;
    resolve(result);
    for (let left = itemsIn(result); left > 0; left--) yield;
  } catch (cause) {
    reject(cause);
  }
}
