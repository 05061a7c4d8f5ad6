/** Performs the effects of events in order; effects of an event that happens meanwhile follow. */
export class InOrder<Effect> {
  readonly #perform: (effect: Effect) => void;
  readonly #toDo: (readonly Effect[])[] = [];

  constructor(perform: (effect: Effect) => void) {
    this.#perform = perform;
  }

  do(effects: readonly Effect[]): void {
    this.#toDo.push(effects);
    if (this.#toDo.length > 1) return;
    try {
      for (const some of this.#toDo) for (const effect of some) this.#perform(effect);
    } finally {
      this.#toDo.length = 0;
    }
  }
}
