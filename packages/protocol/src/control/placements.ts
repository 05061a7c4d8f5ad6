import type { Placement } from "./record.ts";

/** A placement and the number since which it holds. */
export interface PlacementSince {
  readonly since: number;
  readonly placement: Placement;
}

/** How many placements are kept for rollbacks. */
const KEPT = 100;

/** The present placement and the ones before it. */
export class Placements {
  #kept: readonly PlacementSince[];
  #isCut: boolean;

  constructor(kept: readonly PlacementSince[] = [], isCut = false) {
    this.#kept = kept;
    this.#isCut = isCut;
  }

  get kept(): readonly PlacementSince[] {
    return this.#kept;
  }

  /** Whether placements were let go of. */
  get isCut(): boolean {
    return this.#isCut;
  }

  get now(): Placement | undefined {
    return this.#kept.at(-1)?.placement;
  }

  /** The placement at a number; "unknown": it was let go of. Undefined: there was none. */
  at(number: number): Placement | undefined | "unknown" {
    const found = this.#kept.filter(({ since }) => since <= number).at(-1);
    return found === undefined && this.#isCut ? "unknown" : found?.placement;
  }

  set(since: number, placement: Placement): void {
    const kept = [...this.#kept, { since, placement }];
    this.#isCut ||= kept.length > KEPT;
    this.#kept = kept.slice(-KEPT);
  }
}

/** By what they say. */
export function isSamePlacement(one: Placement | undefined, other: Placement | undefined): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}
