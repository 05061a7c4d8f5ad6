import { type InitialVersions, noInitialVersions } from "../../message/request.ts";
import type { TypeTraits } from "../../resource/type-traits.ts";
import type { Position } from "../../state/difference.ts";
import { Comparison } from "../cache/resume.ts";
import type { SharedResponses } from "../cache/shared-responses.ts";
import type { Subscription } from "../subscription/subscription.ts";

/** A client of delta that brings versions along: only what differs is sent (S-REC-09), however many turns it takes to find out. */
export class DeltaResume {
  readonly #traits: TypeTraits;
  readonly #subscription: Subscription;
  /** What the client reports at the current version need not be sent. */
  #trustsVersions: boolean;
  #initial: InitialVersions = noInitialVersions;
  #comparison: Comparison | undefined;

  /** `cameAfterOwner`: the type that owes this one was asked for before, with versions. */
  constructor(traits: TypeTraits, subscription: Subscription, cameAfterOwner: boolean) {
    this.#traits = traits;
    this.#subscription = subscription;
    // An Envoy that warms a cluster asks for its endpoints first, and has to be given them anew (client-behaviours A16).
    this.#trustsVersions = (traits.kind !== "eds" && traits.kind !== "leds") || cameAfterOwner;
  }

  /** There are versions that were not compared yet. */
  get isOpen(): boolean {
    return this.#initial.size > 0;
  }

  /** A comparison goes on in the next turn. */
  get isPaused(): boolean {
    return this.#comparison !== undefined;
  }

  /** Where a paused comparison began: what changed since is still needed. */
  get start(): Position | undefined {
    return this.#comparison?.start;
  }

  bring(versions: InitialVersions): void {
    this.#initial = versions;
  }

  /** The client may have dropped what it brought: it is compared anew, and its versions say nothing. */
  distrust(): void {
    this.#trustsVersions = false;
    this.#comparison = undefined;
  }

  /** Compares some more names. What was found, once all are compared: it is true as of `here`. */
  step(here: Position, responses: SharedResponses): Comparison | undefined {
    const comparison = this.#going(here) ?? this.#start(here, responses);
    if (!comparison.isDone) comparison.step(here.revision);
    this.#comparison = comparison.isDone ? undefined : comparison;
    if (comparison.isDone) this.#initial = noInitialVersions;
    return comparison.isDone ? comparison : undefined;
  }

  /** A node that moved is compared with its new view; what another stream found at an earlier revision may not hold any more. */
  #going(here: Position): Comparison | undefined {
    const comparison = this.#comparison;
    if (comparison === undefined || comparison.start.view !== here.view) return undefined;
    return comparison.isDone && !comparison.isDoneAt(here.revision) ? undefined : comparison;
  }

  #start(here: Position, responses: SharedResponses): Comparison {
    const { type } = this.#traits;
    const subscription = this.#subscription;
    const initial = this.#initial;
    const trusts = this.#trustsVersions;
    const { scope } = subscription;
    const { ttls, namesPerStep } = responses;
    const options = { trustsVersions: trusts, ttls, namesPerStep };
    const make = (): Comparison => new Comparison(here, type, scope, initial, options);
    const set = initial.key === undefined ? undefined : subscription.sharedKey(responses.nameSets);
    if (set === undefined) return make();
    const key = `${type} ${here.view.key} ${trusts} ${set} ${initial.key}`;
    return responses.comparisons.get(key, initial.size, make);
  }
}
