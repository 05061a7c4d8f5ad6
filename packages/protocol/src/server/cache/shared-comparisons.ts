import type { Comparison } from "./resume.ts";

/** How many listed names the comparisons have together that are kept to be shared; of more, the oldest are let go. */
const LISTED_NAMES_KEPT = 200_000;

/**
 * The comparisons of clients that came back with equal requests, so that one of them serves all. They hold the requests: they
 * are let go with the next transaction and when nobody waits for a turn any more. Who is in the middle of one keeps it.
 */
export class SharedComparisons {
  readonly #comparisons = new Map<string, { readonly is: Comparison; readonly names: number }>();
  #names = 0;

  /** The one of that key, made if need be. `names`: how many its client listed. */
  get(key: string, names: number, make: () => Comparison): Comparison {
    const known = this.#comparisons.get(key);
    if (known !== undefined) return known.is;
    const is = make();
    this.#comparisons.set(key, { is, names });
    this.#names += names;
    for (const [oldest, { names: listed }] of this.#comparisons) {
      if (this.#names <= LISTED_NAMES_KEPT || oldest === key) break;
      this.#comparisons.delete(oldest);
      this.#names -= listed;
    }
    return is;
  }

  clear(): void {
    this.#comparisons.clear();
    this.#names = 0;
  }
}
