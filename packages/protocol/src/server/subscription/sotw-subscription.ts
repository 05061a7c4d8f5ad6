import type { SotwRequest } from "../../message/request.ts";
import { termsOf } from "../../resource/resource-name.ts";
import type { Subscription, SubscriptionChange } from "./subscription.ts";

/** What a list of names told. */
export interface Listing {
  /** Undefined: the list was repeated, as an ACK does. */
  readonly change: SubscriptionChange | undefined;
  /** Terms to be answered whatever the version, beside what is new in the change. */
  readonly again: readonly string[];
  /** The wildcard was given up in between, by a request that was stale. */
  readonly isWildcardAgain: boolean;
}

/** The names that requests of State of the World list, each all that is wanted from then on (S-SUB-23). */
export class SotwSubscription {
  readonly #subscription: Subscription;
  readonly #ignoresHints: boolean;
  readonly #prefixGlob: boolean;
  /** The names of the last request that was honoured, by identity: an ACK repeats them. */
  #listed: readonly string[] | undefined;
  /** Given up by a request that was stale. */
  readonly #doubted = new Set<string>();
  #isWildcardDoubted = false;
  /** What was listed last where names are hints, `*` among it: the subscription does not know it. Undefined: nothing was yet. */
  #hints: ReadonlySet<string> | undefined;

  constructor(
    subscription: Subscription,
    { ignoreHints, prefixGlob }: { readonly ignoreHints: boolean; readonly prefixGlob: boolean },
  ) {
    this.#subscription = subscription;
    this.#ignoresHints = ignoreHints;
    this.#prefixGlob = prefixGlob;
  }

  /** Honours a list. */
  list({ names, hasLocators }: SotwRequest): Listing {
    const again: string[] = [];
    if (this.#doubted.size > 0) {
      const listed = this.#subscription.termsIn(this.#termsIn(names));
      for (const name of listed) if (this.#doubted.has(name)) again.push(name);
      this.#doubted.clear();
    }
    let isWildcardAgain = this.#isWildcardDoubted;
    this.#isWildcardDoubted = false;
    if (names === this.#listed) return { change: undefined, again, isWildcardAgain };
    if (this.#ignoresHints) {
      const before = this.#hints;
      // Who lists nothing at first asks for everything (S-SUB-14).
      const hints = new Set(before === undefined && names.length === 0 ? ["*"] : this.#termsIn(names));
      // What was sent unasked the client may have dropped (S-SUB-05).
      if (before?.has("*") !== true) for (const term of hints) if (before?.has(term) !== true) again.push(term);
      isWildcardAgain ||= again.includes("*");
      this.#hints = hints;
    }
    if (hasLocators) again.push(...this.#subscription.speakOfParameters());
    this.#listed = names;
    const change = this.#subscription.replace(this.#ignoresHints ? [] : this.#termsIn(names));
    return { change, again, isWildcardAgain };
  }

  /** A stale request changes nothing, but what it gave up the client may have dropped: named again, it is new (S-SUB-06). */
  doubt(names: readonly string[]): void {
    if (names === this.#listed) return;
    this.#isWildcardDoubted ||= this.#subscription.isWildcard && !this.#subscription.keepsWildcard(names);
    const listed = new Set(this.#subscription.termsIn(this.#termsIn(names)));
    const before = (this.#ignoresHints ? this.#hints : undefined) ?? this.#subscription.names;
    for (const name of before) if (!listed.has(name)) this.#doubted.add(name);
  }

  #termsIn(names: readonly string[]): readonly string[] {
    return termsOf(names, this.#prefixGlob);
  }
}
