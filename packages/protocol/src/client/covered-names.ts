import { typeInName } from "../resource/resource-name.ts";
import { EVERYTHING } from "./interest.ts";
import type { Topic } from "./topic.ts";

/**
 * Names that are wanted besides everything, and that a server of State of the World is not told, because what answers to them is in everything:
 * there are servers that take a `*` among names for a name, and send nothing for it any more. Only as long as everything is asked for by naming
 * nothing.
 */
export class CoveredNames {
  readonly #topic: Topic;
  readonly #names = new Set<string>();
  #isAnswered = false;

  constructor(topic: Topic) {
    this.#topic = topic;
  }

  get names(): ReadonlySet<string> {
    return this.#names;
  }

  /** What is left to tell of what is wanted, when a stream begins. */
  begin(wanted: readonly string[]): readonly string[] {
    const names = wanted.filter((text) => text !== EVERYTHING);
    if (names.length === wanted.length || !names.every((text) => this.#mayCover(text))) return wanted;
    for (const name of names) this.#names.add(name);
    return [EVERYTHING];
  }

  /** Takes a name, where everything is asked for; false: the server has to be told. */
  take(text: string): boolean {
    if (!this.#mayCover(text) || this.#noteIfBesides(text)) return false;
    this.#names.add(text);
    return true;
  }

  /** Nobody wants it any more. Whether the server was never told. */
  drop(text: string): boolean {
    return this.#names.delete(text);
  }

  /** All there is was told. Whether all names are in it. */
  answered(): boolean {
    if (this.#isAnswered) return true;
    this.#isAnswered = true;
    let isWhole = true;
    for (const text of this.#names) if (this.#noteIfBesides(text)) isWhole = false;
    return isWhole;
  }

  /** From now on the server is told all of them. */
  end(): readonly string[] {
    const names = [...this.#names];
    this.#names.clear();
    return names;
  }

  /** A file is asked nothing. What newer servers alone know, those that misread `*` do not. */
  #mayCover(text: string): boolean {
    const { spec, isFullState, interest } = this.#topic;
    const { wildcardSticky, explicitWildcard } = spec.dialect;
    if (spec.variant !== "sotw" || spec.access === "file" || !isFullState || wildcardSticky || explicitWildcard)
      return false;
    const term = interest.get(text);
    if (term?.kind !== "name" || term.parameters !== undefined || term.isBesides) return false;
    return typeInName(term.name) === undefined;
  }

  /** Whether everything was told, and the name was not in it. It is noted, to be told on every later stream from its beginning. */
  #noteIfBesides(text: string): boolean {
    const term = this.#topic.interest.get(text);
    if (!this.#isAnswered || term === undefined || this.#topic.accepted.holds(term)) return false;
    term.isBesides = true;
    return true;
  }
}
