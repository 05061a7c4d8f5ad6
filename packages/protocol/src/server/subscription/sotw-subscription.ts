import type { SotwRequest } from "../../message/request.ts";
import { termsOf } from "../../resource/resource-name.ts";
import { countOfAll, type NameList } from "./names.ts";
import type { Subscription, SubscriptionChange } from "./subscription.ts";

/** A list with more names than twice those that differ, and these many, is not kept to compare the next one with. */
const REPEATED_NAMES_KEPT = 16;

/** What the names of a request mean for the subscription. */
export interface Listing {
  /** Undefined: the request repeats the last names, as an ACK does. */
  readonly change: SubscriptionChange | undefined;
  /** Terms that need an answer whatever the version, beside those that the change adds. */
  readonly again: readonly string[];
  /** A stale request gave up the wildcard since the last applied request, or a hint names it anew. */
  readonly isWildcardAgain: boolean;
}

/** The subscription that State of the World requests describe; each request lists all names (S-SUB-23). */
export class SotwSubscription {
  readonly #subscription: Subscription;
  readonly #ignoresHints: boolean;
  readonly #prefixGlob: boolean;
  /**
   * The names of the last request that was applied, compared by identity: an ACK repeats them. Undefined: no request
   * yet, or the list repeats most of its names.
   */
  #listed: readonly string[] | undefined;
  /** Terms that a stale request left out. */
  readonly #doubted = new Set<string>();
  #isWildcardDoubted = false;
  /**
   * The last names where names are only hints, with `*`; the subscription does not know them. Undefined: no request
   * yet.
   */
  #hints: ReadonlySet<string> | undefined;
  #namesBeside = 0;

  constructor(
    subscription: Subscription,
    { ignoreHints, prefixGlob }: { readonly ignoreHints: boolean; readonly prefixGlob: boolean },
  ) {
    this.#subscription = subscription;
    this.#ignoresHints = ignoreHints;
    this.#prefixGlob = prefixGlob;
  }

  /** How many names are kept that the subscription does not know, as limits count them. */
  get namesBeside(): number {
    return this.#namesBeside;
  }

  /** Applies the names of a request. */
  list({ names, hasLocators }: SotwRequest): Listing {
    const again: string[] = [];
    if (this.#doubted.size > 0) {
      const listed = this.#subscription.termsIn(this.#termsIn(names));
      for (const name of listed) if (this.#doubted.has(name)) again.push(name);
      this.#doubted.clear();
    }
    let isWildcardAgain = this.#isWildcardDoubted || again.includes("*");
    this.#isWildcardDoubted = false;
    if (names === this.#listed) return { change: undefined, again, isWildcardAgain };
    if (this.#ignoresHints) {
      const before = this.#hints;
      // A first request without names is a wildcard (S-SUB-14).
      const hints = new Set(before === undefined && names.length === 0 ? ["*"] : this.#termsIn(names));
      // The client may have dropped resources that it got without subscribing to them (S-SUB-05).
      if (before?.has("*") !== true) for (const term of hints) if (before?.has(term) !== true) again.push(term);
      isWildcardAgain ||= again.includes("*");
      this.#hints = hints;
    }
    if (hasLocators) again.push(...this.#subscription.speakOfParameters());
    const change = this.#subscription.replace(this.#ignoresHints ? [] : this.#termsIn(names));
    this.#keep(names);
    return { change, again, isWildcardAgain };
  }

  #keep(names: readonly string[]): void {
    const { names: subscribed } = this.#subscription;
    const isKnown = subscribed.size > 0;
    const distinct: NameList = isKnown ? subscribed : (this.#hints ?? new Set(names));
    this.#namesBeside = isKnown ? 0 : countOfAll(distinct);
    this.#listed = names.length > 2 * distinct.size + REPEATED_NAMES_KEPT ? undefined : names;
  }

  /**
   * Notes the names of a stale request, which changes nothing: the client may have dropped what it left out, so such a
   * name counts as new when it is listed again (S-SUB-06).
   */
  doubt(names: readonly string[]): void {
    if (names === this.#listed) return;
    // Where names are hints, none of them gives up the wildcard.
    const mayGiveUpWildcard = this.#subscription.isWildcard && !this.#ignoresHints;
    this.#isWildcardDoubted ||= mayGiveUpWildcard && !this.#subscription.keepsWildcard(names);
    const listed = new Set(this.#subscription.termsIn(this.#termsIn(names)));
    const before = (this.#ignoresHints ? this.#hints : undefined) ?? this.#subscription.names;
    for (const name of before) if (!listed.has(name)) this.#doubted.add(name);
  }

  #termsIn(names: readonly string[]): readonly string[] {
    return termsOf(names, this.#prefixGlob);
  }
}
