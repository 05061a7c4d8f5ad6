import { type InitialVersions, noInitialVersions } from "../../message/request.ts";
import { canonicalName } from "../../resource/resource-name.ts";
import type { TypeTraits } from "../../resource/type-traits.ts";
import type { Position } from "../../state/difference.ts";
import type { View } from "../../state/view.ts";
import type { CurrentView } from "../cache/current-view.ts";
import { Comparison } from "../cache/resume.ts";
import { bytesOfVersions } from "../memory/request-cost.ts";
import type { Subscription } from "../subscription/subscription.ts";

/**
 * A delta client that reconnects with the versions that it holds: only the difference is sent (S-REC-09), however many
 * flushes the comparison takes.
 */
export class DeltaResume {
  readonly #traits: TypeTraits;
  readonly #subscription: Subscription;
  /** Whether a resource that the client lists at its current version need not be sent. */
  #trustsVersions: boolean;
  #initial: InitialVersions = noInitialVersions;
  #comparison: Comparison | undefined;

  /** `cameAfterOwner`: the type on which this one depends was requested before, with versions. */
  constructor(traits: TypeTraits, subscription: Subscription, cameAfterOwner: boolean) {
    this.#traits = traits;
    this.#subscription = subscription;
    // An Envoy that warms a cluster requests its endpoints first, and needs them again (client-behaviours A16).
    this.#trustsVersions = (traits.kind !== "eds" && traits.kind !== "leds") || cameAfterOwner;
  }

  /** Whether listed versions still have to be compared. */
  get isOpen(): boolean {
    return this.#initial.size > 0;
  }

  /** The memory that the listed versions take, in bytes. */
  get bytes(): number {
    return bytesOfVersions(this.#initial, this.isPaused);
  }

  /** Whether a comparison continues in the next flush. */
  get isPaused(): boolean {
    return this.#comparison !== undefined;
  }

  /** The position where a paused comparison began; changes since then are still needed. */
  get start(): Position | undefined {
    return this.#comparison?.start;
  }

  /** The names that the client lists at their current version, before they were compared. */
  listedIn(view: View): ReadonlySet<string> {
    const { type, terms } = this.#traits;
    if (!this.isOpen || !this.#trustsVersions || terms !== undefined) return nothing;
    const listed = new Set<string>();
    for (const [given, version] of this.#initial) {
      const name = canonicalName(given);
      if (view.find(type, name)?.version === version) listed.add(name);
    }
    return listed;
  }

  bring(versions: InitialVersions): void {
    this.#initial = versions;
  }

  /** The client may have dropped what it listed: the comparison starts again and ignores the versions. */
  distrust(): void {
    this.#trustsVersions = false;
    this.#comparison = undefined;
  }

  /** Compares the next names. Returns the result once all are compared: it is true at the present revision. */
  step(current: CurrentView): Comparison | undefined {
    const comparison = this.#going(current) ?? this.#start(current);
    comparison.step(current.revision);
    this.#comparison = comparison.isDone ? undefined : comparison;
    if (comparison.isDone) this.#initial = noInitialVersions;
    return comparison.isDone ? comparison : undefined;
  }

  /**
   * The comparison to continue. A node that moved needs one with its new view, and another stream's result at an
   * earlier revision is outdated.
   */
  #going(current: CurrentView): Comparison | undefined {
    const comparison = this.#comparison;
    if (comparison === undefined || comparison.start.view !== current.view) return undefined;
    return comparison.isDone && !comparison.isDoneAt(current.revision) ? undefined : comparison;
  }

  #start(current: CurrentView): Comparison {
    const { type } = this.#traits;
    const subscription = this.#subscription;
    const initial = this.#initial;
    const trusts = this.#trustsVersions;
    const { nameSets, namesPerStep, maxRemoved, comparisons, currentPairs: shared } = current.shared;
    // What is known of a pair is known for a wildcard alone.
    const currentPairs =
      trusts && subscription.isSoleWildcard && initial.numbered !== undefined
        ? shared.of(initial.numbered.numbering, `${type} ${current.view.key}`)
        : undefined;
    const options = { trustsVersions: trusts, ttls: current.ttls, namesPerStep, maxRemoved, currentPairs };
    // Interning replaces the names by equal ones, so the scope is taken afterwards.
    const make = (): Comparison => new Comparison(current.toPosition(), type, subscription.scope, initial, options);
    const set = initial.key === undefined ? undefined : subscription.sharedKey(nameSets);
    if (set === undefined) return make();
    const key = `${type} ${current.view.key} ${trusts} ${set} ${initial.key}`;
    return comparisons.get(key, initial.size, make);
  }
}

const nothing: ReadonlySet<string> = new Set();
