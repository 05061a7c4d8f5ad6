/** Chance from a seed (xorshift), so that the choices of a run can be made again. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = (seed ^ 0x9e3779b9) | 1;
  }

  /** An integer from 0 to `limit`, exclusive. */
  below(limit: number): number {
    let state = this.#state;
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    this.#state = state;
    return (state >>> 0) % limit;
  }

  shuffle<T>(all: readonly T[]): readonly T[] {
    const left = [...all];
    return all.map(() => left.splice(this.below(left.length), 1)[0] as T);
  }

  pick<T>(from: readonly T[]): T {
    return from[this.below(from.length)] as T;
  }
}
