/**
 * Performs effects in the order in which they were added, also when performing one adds others: those follow everything
 * that waits already. An effect that throws drops the effects behind it.
 */
export class EffectQueue<Effect> {
  readonly #perform: (effect: Effect) => void;
  readonly #waiting: Effect[] = [];
  #isPerforming = false;

  constructor(perform: (effect: Effect) => void) {
    this.#perform = perform;
  }

  /** Performs the effects and whatever they lead to. Called from within `perform`, it only appends. */
  add(effects: readonly Effect[]): void {
    if (this.#isPerforming) {
      for (const effect of effects) this.#waiting.push(effect);
      return;
    }
    this.#isPerforming = true;
    try {
      for (const effect of effects) this.#perform(effect);
      // The array grows while it is walked.
      for (const effect of this.#waiting) this.#perform(effect);
    } finally {
      if (this.#waiting.length > 0) this.#waiting.length = 0;
      this.#isPerforming = false;
    }
  }
}
