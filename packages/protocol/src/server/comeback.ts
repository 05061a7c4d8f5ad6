import { type InitialVersions, noInitialVersions } from "../message/request.ts";
import type { TypeTraits } from "../resource/type-traits.ts";
import type { Position } from "../state/difference.ts";
import type { Present } from "./present.ts";
import { Comparison } from "./resume.ts";
import type { Subscription } from "./subscription.ts";

/** What a comparison found, and as of when. */
export interface Found {
  readonly is: Comparison;
  readonly from: Position;
}

/** A client of delta that brings versions along: only what differs is sent (S-REC-09), however many turns it takes to find out. */
export class Comeback {
  readonly #traits: TypeTraits;
  readonly #subscription: Subscription;
  /** What the client reports at the current version need not be sent. */
  #trustsVersions: boolean;
  #initial: InitialVersions = noInitialVersions;
  #comparison: Found | undefined;

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

  bring(versions: InitialVersions): void {
    this.#initial = versions;
  }

  /** The client may have dropped what it brought: it is compared anew, and its versions say nothing. */
  distrust(): void {
    this.#trustsVersions = false;
    this.#comparison = undefined;
  }

  /** Compares some more names. What was found, once all are. */
  step(here: Position, present: Present): Found | undefined {
    // A node that moved in the middle is compared with its new view from the start.
    if (this.#comparison?.from.view !== here.view) this.#comparison = { is: this.#start(here, present), from: here };
    const found = this.#comparison;
    if (!found.is.isDone) found.is.step();
    if (!found.is.isDone) return undefined;
    this.#comparison = undefined;
    this.#initial = noInitialVersions;
    return found;
  }

  #start({ view }: Position, present: Present): Comparison {
    const { type } = this.#traits;
    const subscription = this.#subscription;
    const trusts = this.#trustsVersions;
    const { key } = this.#initial;
    const set = key === undefined ? undefined : subscription.sharedKey(present.nameSets);
    const whole = set && `${type} ${view.key} ${trusts} ${set} ${key}`;
    const make = (): Comparison => new Comparison(view, type, subscription, this.#initial, trusts, present.ttls);
    return present.comparison(whole, make);
  }
}
