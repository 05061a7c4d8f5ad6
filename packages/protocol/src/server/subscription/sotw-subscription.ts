import type { SotwRequest } from "../../message/request.ts";
import { termsOf } from "../../resource/resource-name.ts";
import type { Subscription, SubscriptionChange } from "./subscription.ts";

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
  /** The names of the last request that was applied, compared by identity: an ACK repeats them. */
  #listed: readonly string[] | undefined;
  /** Terms that a stale request left out. */
  readonly #doubted = new Set<string>();
  #isWildcardDoubted = false;
  /**
   * The last names where names are only hints, with `*`; the subscription does not know them. Undefined: no request
   * yet.
   */
  #hints: ReadonlySet<string> | undefined;

  constructor(
    subscription: Subscription,
    { ignoreHints, prefixGlob }: { readonly ignoreHints: boolean; readonly prefixGlob: boolean },
  ) {
    this.#subscription = subscription;
    this.#ignoresHints = ignoreHints;
    this.#prefixGlob = prefixGlob;
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
    this.#listed = names;
    const change = this.#subscription.replace(this.#ignoresHints ? [] : this.#termsIn(names));
    return { change, again, isWildcardAgain };
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
