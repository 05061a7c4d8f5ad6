/**
 * A question that many ask at once. An answer that was asked for before somebody came may be too old, so whoever comes
 * while one is under way shares the next.
 */
export class SharedQuestion<T> {
  readonly #put: () => Promise<T>;
  #asking: Promise<T> | undefined;
  #next: Promise<T> | undefined;

  constructor(put: () => Promise<T>) {
    this.#put = put;
  }

  /** Rejects as the question does. */
  ask(): Promise<T> {
    if (this.#asking === undefined) {
      this.#asking = this.#put().finally(() => {
        this.#asking = undefined;
      });
      return this.#asking;
    }
    this.#next ??= this.#asking
      .catch(() => undefined)
      .then(() => {
        this.#next = undefined;
        return this.ask();
      });
    return this.#next;
  }
}
