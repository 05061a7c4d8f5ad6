import type { ClientTurn } from "./client-turn.ts";

interface Batch {
  readonly timer: number;
  readonly terms: Set<string>;
}

/** Pending names and globs on a stream, with one timer for those that were requested together (C-NEX-02). */
export class Absence {
  readonly #turn: ClientTurn;
  readonly #waiting = new Map<string, Batch>();

  constructor(turn: ClientTurn) {
    this.#turn = turn;
  }

  /**
   * Starts to wait for terms that were just sent. Calls `tell` with those that are not answered within `ms`
   * milliseconds.
   */
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

  /** Stops waiting for a term, because it was answered or nothing watches it any more. */
  end(term: string): void {
    const batch = this.#waiting.get(term);
    if (batch === undefined) return;
    this.#waiting.delete(term);
    batch.terms.delete(term);
    if (batch.terms.size === 0) this.#turn.cancelTimer(batch.timer);
  }

  /** Stops waiting for every term, because the stream ended and no answer can come (C-NEX-03). */
  endAll(): void {
    for (const { timer } of new Set(this.#waiting.values())) this.#turn.cancelTimer(timer);
    this.#waiting.clear();
  }
}
