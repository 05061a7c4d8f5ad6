import type { Vigil } from "./vigil.ts";

/** Those who iterate something and wait for what comes next. While there are any, the process is kept alive. */
export class Readers<T> {
  readonly #waiting: ((result: IteratorResult<T, undefined>) => void)[] = [];
  readonly #vigil: Vigil;
  #endVigil: (() => void) | undefined;

  constructor(vigil: Vigil) {
    this.#vigil = vigil;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** Waits for what comes next. */
  wait(): Promise<IteratorResult<T, undefined>> {
    this.#endVigil ??= this.#vigil.begin();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Hands it to whoever waits the longest. */
  give(value: T): void {
    const resolve = this.#waiting.shift();
    if (this.isEmpty) this.#stop();
    resolve?.({ done: false, value });
  }

  /** Nothing comes any more. */
  end(): void {
    for (const resolve of this.#waiting.splice(0)) resolve({ done: true, value: undefined });
    this.#stop();
  }

  #stop(): void {
    this.#endVigil?.();
    this.#endVigil = undefined;
  }
}
