import type { PlaneEffect } from "@xdskit/protocol";

/** Performs effects in the order in which they were asked for, also when performing one leads to others. */
export class EffectQueue {
  readonly #perform: (effect: PlaneEffect) => void;
  readonly #waiting: PlaneEffect[] = [];
  #isPerforming = false;

  constructor(perform: (effect: PlaneEffect) => void) {
    this.#perform = perform;
  }

  /** Performs these, and whatever they lead to; inside of a `perform`, after what waits already. */
  add(effects: readonly PlaneEffect[]): void {
    for (const effect of effects) this.#waiting.push(effect);
    if (this.#isPerforming) return;
    this.#isPerforming = true;
    try {
      for (const effect of drained(this.#waiting)) this.#perform(effect);
    } finally {
      this.#isPerforming = false;
    }
  }
}

/** Walks a queue that grows while it is walked, and leaves it empty. */
function* drained<T>(queue: T[]): Iterable<T> {
  try {
    for (let i = 0; i < queue.length; i++) {
      const item = queue[i];
      if (item !== undefined) yield item;
    }
  } finally {
    queue.length = 0;
  }
}
