import type { KeepAlive } from "./keep-alive.ts";

/** Pending reads of an iterator. They keep the process alive. */
export class Readers<T> {
  readonly #waiting: ((result: IteratorResult<T, undefined>) => void)[] = [];
  readonly #vigil: KeepAlive;

  constructor(vigil: KeepAlive) {
    this.#vigil = vigil;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** Waits for the next value. */
  wait(): Promise<IteratorResult<T, undefined>> {
    if (this.isEmpty) this.#vigil.begin();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Resolves the oldest pending read, if there is one. */
  give(value: T): void {
    const resolve = this.#waiting.shift();
    if (resolve === undefined) return;
    if (this.isEmpty) this.#vigil.end();
    resolve({ done: false, value });
  }

  /** Ends all pending reads. */
  end(): void {
    if (this.isEmpty) return;
    this.#vigil.end();
    for (const resolve of this.#waiting.splice(0)) resolve({ done: true, value: undefined });
  }
}
