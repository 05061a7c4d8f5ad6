import type { Turn } from "./turn.ts";

interface Batch {
  readonly timer: number;
  readonly terms: Set<string>;
}

/** Terms that were asked for on a stream and are not answered yet: one timer for those that were asked for together (C-NEX-02). */
export class Absence {
  readonly #turn: Turn;
  readonly #waiting = new Map<string, Batch>();

  constructor(turn: Turn) {
    this.#turn = turn;
  }

  /** They were sent. `tell` is called with those that were not answered within `ms`. */
  wait(terms: readonly string[], ms: number, tell: (terms: readonly string[]) => void): void {
    if (terms.length === 0) return;
    for (const term of terms) this.end(term);
    const timer = this.#turn.startTimer(ms, () => {
      for (const term of batch.terms) this.#waiting.delete(term);
      tell([...batch.terms]);
    });
    const batch: Batch = { timer, terms: new Set(terms) };
    for (const term of terms) this.#waiting.set(term, batch);
  }

  /** A term was answered, or is not wanted any more. */
  end(term: string): void {
    const batch = this.#waiting.get(term);
    if (batch === undefined) return;
    this.#waiting.delete(term);
    batch.terms.delete(term);
    if (batch.terms.size === 0) this.#turn.cancelTimer(batch.timer);
  }

  /** The stream is gone: nobody can answer (C-NEX-03). */
  endAll(): void {
    for (const { timer } of new Set(this.#waiting.values())) this.#turn.cancelTimer(timer);
    this.#waiting.clear();
  }
}
