import { noInitialVersions } from "../../message/request.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import type { Position } from "../../state/difference.ts";
import type { CurrentView } from "../cache/current-view.ts";
import { Comparison } from "../cache/resume.ts";
import type { Selection } from "../subscription/selection.ts";
import type { Subscription } from "../subscription/subscription.ts";

/**
 * What a client with many names is first sent, found over several flushes: a comparison with a client that holds
 * nothing.
 */
export class FirstSelection {
  readonly #type: TypeUrl;
  readonly #subscription: Subscription;
  #comparison: Comparison | undefined;

  constructor(type: TypeUrl, subscription: Subscription) {
    this.#type = type;
    this.#subscription = subscription;
  }

  /** Whether it continues in the next flush. */
  get isPaused(): boolean {
    return this.#comparison !== undefined;
  }

  /** The position of the first flush; changes since then are still needed. */
  get start(): Position | undefined {
    return this.#comparison?.start;
  }

  /** Drops what was found so far: it was sent, or is of no use. */
  abandon(): void {
    this.#comparison = undefined;
  }

  /**
   * Finds the resources of the next names. Undefined: everything is to be found at once, because the names are few or
   * have changed since the first flush.
   */
  find(current: CurrentView): Selection | "paused" | undefined {
    const { names, asksForAll, terms } = this.#subscription;
    const isLong =
      names.size > current.shared.namesPerStep && !asksForAll && !names.hasCollections && terms === undefined;
    if (!isLong || this.#comparison?.isFor(this.#subscription) === false) {
      this.abandon();
      return undefined;
    }
    const comparison = this.#going(current) ?? this.#start(current);
    comparison.step(current.revision);
    this.#comparison = comparison.isDone ? undefined : comparison;
    return comparison.isDone ? { puts: [...comparison.puts], removed: comparison.missing } : "paused";
  }

  /** A node that moved begins anew, and so does one whose comparison another stream finished at an earlier revision. */
  #going(current: CurrentView): Comparison | undefined {
    const comparison = this.#comparison;
    if (comparison === undefined || comparison.start.view !== current.view) return undefined;
    return comparison.isDone && !comparison.isDoneAt(current.revision) ? undefined : comparison;
  }

  #start(current: CurrentView): Comparison {
    const { nameSets, namesPerStep, comparisons } = current.shared;
    const set = this.#subscription.sharedKey(nameSets);
    // Interning replaces the names by equal ones, so the scope is taken afterwards.
    const { scope } = this.#subscription;
    const options = { trustsVersions: false, namesPerStep };
    const make = (): Comparison => new Comparison(current.toPosition(), this.#type, scope, noInitialVersions, options);
    if (set === undefined) return make();
    return comparisons.get(`${this.#type} ${current.view.key} first ${set}`, scope.names.size, make);
  }
}
