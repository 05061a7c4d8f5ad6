import type { Comparison } from "./resume.ts";

/** How many listed names the kept comparisons may have together; beyond it the oldest are dropped. */
const LISTED_NAMES_KEPT = 200_000;

/**
 * Comparisons shared by clients that reconnect with equal requests. They hold these requests, so they are dropped with
 * the next transaction and when no stream is due; a stream in the middle of a comparison keeps its own.
 */
export class SharedComparisons {
  readonly #comparisons = new Map<string, { readonly is: Comparison; readonly names: number }>();
  #names = 0;

  /** The comparison under a key; made if there is none. `names`: how many names the client listed. */
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
