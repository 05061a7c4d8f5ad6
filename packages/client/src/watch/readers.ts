import type { Vigil } from "./vigil.ts";

/** Those who iterate something and wait for what comes next. While there are any, the process is kept alive. */
export class Readers<T> {
  readonly #waiting: ((result: IteratorResult<T, undefined>) => void)[] = [];
  readonly #vigil: Vigil;

  constructor(vigil: Vigil) {
    this.#vigil = vigil;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** Waits for what comes next. */
  wait(): Promise<IteratorResult<T, undefined>> {
    if (this.isEmpty) this.#vigil.begin();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Hands it to whoever waits the longest; to nobody if nobody does. */
  give(value: T): void {
    const resolve = this.#waiting.shift();
    if (resolve === undefined) return;
    if (this.isEmpty) this.#vigil.end();
    resolve({ done: false, value });
  }

  /** Nothing comes any more. */
  end(): void {
    if (this.isEmpty) return;
    this.#vigil.end();
    for (const resolve of this.#waiting.splice(0)) resolve({ done: true, value: undefined });
  }
}
