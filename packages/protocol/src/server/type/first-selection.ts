import { noInitialVersions } from "../../message/request.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import type { Position } from "../../state/difference.ts";
import { Comparison } from "../cache/resume.ts";
import type { SharedResponses } from "../cache/shared-responses.ts";
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
  find(here: Position, responses: SharedResponses): Selection | "paused" | undefined {
    const { names, asksForAll, terms } = this.#subscription;
    const isLong = names.size > responses.namesPerStep && !asksForAll && !names.hasCollections && terms === undefined;
    if (!isLong || this.#comparison?.isFor(this.#subscription) === false) {
      this.abandon();
      return undefined;
    }
    const comparison = this.#going(here) ?? this.#start(here, responses);
    if (!comparison.isDone) comparison.step(here.revision);
    this.#comparison = comparison.isDone ? undefined : comparison;
    return comparison.isDone ? { puts: [...comparison.puts], removed: comparison.missing } : "paused";
  }

  /** A node that moved begins anew, and so does one whose comparison another stream finished at an earlier revision. */
  #going(here: Position): Comparison | undefined {
    const comparison = this.#comparison;
    if (comparison === undefined || comparison.start.view !== here.view) return undefined;
    return comparison.isDone && !comparison.isDoneAt(here.revision) ? undefined : comparison;
  }

  #start(here: Position, { nameSets, namesPerStep, comparisons }: SharedResponses): Comparison {
    const set = this.#subscription.sharedKey(nameSets);
    // Interning replaces the names by equal ones, so the scope is taken afterwards.
    const { scope } = this.#subscription;
    const options = { trustsVersions: false, namesPerStep };
    const make = (): Comparison => new Comparison(here, this.#type, scope, noInitialVersions, options);
    if (set === undefined) return make();
    return comparisons.get(`${this.#type} ${here.view.key} first ${set}`, scope.names.size, make);
  }
}
