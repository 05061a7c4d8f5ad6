import { typeInName } from "../resource/resource-name.ts";
import { EVERYTHING } from "./interest.ts";
import type { TypeSubscription } from "./type-subscription.ts";

/**
 * Watched names that a State of the World server is not sent, because the wildcard covers them: some servers take a `*`
 * among names for a name and then send nothing for it. Applies only while the wildcard is an empty list of names.
 */
export class CoveredNames {
  readonly #topic: TypeSubscription;
  readonly #names = new Set<string>();
  #isAnswered = false;

  constructor(topic: TypeSubscription) {
    this.#topic = topic;
  }

  get names(): ReadonlySet<string> {
    return this.#names;
  }

  /** Returns the names to send when a stream begins. */
  begin(wanted: readonly string[]): readonly string[] {
    const names = wanted.filter((text) => text !== EVERYTHING);
    if (names.length === wanted.length || !names.every((text) => this.#mayCover(text))) return wanted;
    for (const name of names) this.#names.add(name);
    return [EVERYTHING];
  }

  /** Covers a name by the wildcard; false if the server has to be sent it. */
  take(text: string): boolean {
    if (!this.#mayCover(text) || this.#noteIfBesides(text)) return false;
    this.#names.add(text);
    return true;
  }

  /** Removes a name that nothing watches any more; true if the server was never sent it. */
  drop(text: string): boolean {
    return this.#names.delete(text);
  }

  /** Records a response with everything, and returns whether it holds all covered names. */
  answered(): boolean {
    if (this.#isAnswered) return true;
    this.#isAnswered = true;
    let isWhole = true;
    for (const text of this.#names) if (this.#noteIfBesides(text)) isWhole = false;
    return isWhole;
  }

  /** Stops covering and returns the names, which the server is now to be sent. */
  end(): readonly string[] {
    const names = [...this.#names];
    this.#names.clear();
    return names;
  }

  /**
   * False for files, which receive no requests, and for names that only newer servers know, because those do not
   * misread `*`.
   */
  #mayCover(text: string): boolean {
    const { spec, isFullState, interest } = this.#topic;
    const { wildcardSticky, explicitWildcard } = spec.dialect;
    if (spec.variant !== "sotw" || spec.access === "file" || !isFullState || wildcardSticky || explicitWildcard)
      return false;
    const term = interest.get(text);
    if (term?.kind !== "name" || term.parameters !== undefined || term.isBesides) return false;
    return typeInName(term.name) === undefined;
  }

  /**
   * Returns whether a response with everything lacked the name, and marks the name to be sent first on later streams.
   */
  #noteIfBesides(text: string): boolean {
    const term = this.#topic.interest.get(text);
    if (!this.#isAnswered || term === undefined || this.#topic.accepted.holds(term)) return false;
    term.isBesides = true;
    return true;
  }
}
