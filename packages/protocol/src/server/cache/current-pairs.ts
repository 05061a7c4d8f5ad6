import { Ordinals } from "./name-marks.ts";

/** No ordinal. */
export const NONE = -1;

/**
 * Which listed pairs, by their numbers, are of resources of a view that a wildcard covers, at their current version, so
 * that a client that lists one need not be sent it. True at one revision.
 */
export class CurrentPairs {
  readonly ordinals: Ordinals = new Ordinals();
  /** By the number of a pair: the ordinal of its name plus one; 0: not known. */
  readonly #ofPair: number[] = [];

  /** The ordinal of the name of a pair that is known to be current; `NONE`: it is not known. */
  ordinalOf(pair: number): number {
    return (this.#ofPair[pair] ?? 0) - 1;
  }

  learn(pair: number, name: string): void {
    while (this.#ofPair.length <= pair) this.#ofPair.push(0);
    this.#ofPair[pair] = this.ordinals.of(name) + 1;
  }
}

/** Those of one revision, by what they are found out about and whose numbers the pairs have. */
export class SharedCurrentPairs {
  #byNumbering = new WeakMap<object, Map<string, CurrentPairs>>();

  of(numbering: object, key: string): CurrentPairs {
    const byKey = this.#byNumbering.get(numbering) ?? new Map<string, CurrentPairs>();
    this.#byNumbering.set(numbering, byKey);
    const pairs = byKey.get(key) ?? new CurrentPairs();
    byKey.set(key, pairs);
    return pairs;
  }

  clear(): void {
    this.#byNumbering = new WeakMap();
  }
}
