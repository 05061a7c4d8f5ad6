import type { Resource } from "../../resource/resource.ts";
import { isGlob, nameOfTerm } from "../../resource/resource-name.ts";
import type { SentMark } from "../../resource/ttl.ts";
import type { TypeTraits } from "../../resource/type-traits.ts";
import { isLocated } from "../../resource/variant-name.ts";
import type { Position } from "../../state/difference.ts";
import type { View } from "../../state/view.ts";
import type { CurrentView } from "../cache/current-view.ts";
import { LazySet } from "../memory/lazy.ts";
import { isAsked } from "../subscription/selection.ts";
import { hasAny, type Subscription } from "../subscription/subscription.ts";
import type { DeltaResponseBuilder } from "./delta-response-builder.ts";
import type { HeldBackNames } from "./held-back.ts";
import type { SentState } from "./sent-state.ts";
import { candidatesFor, termsBehind } from "./terms.ts";

/** Differs from every state of a resource: for a name that the client may hold in an unknown or deleted state. */
export const somethingElse: SentMark = { version: "", content: -1n, ttlMs: undefined };

/** The terms and names of one delta client that are answered whatever its position, and their answers. */
export class DeltaTerms {
  /** Names unsubscribed from under a wildcard: each is answered with what the wildcard says about it (S-UNS-06). */
  readonly unsubscribed: LazySet<string> = new LazySet();
  readonly #traits: TypeTraits;
  readonly #subscription: Subscription;
  readonly #sentState: SentState;

  constructor(traits: TypeTraits, subscription: Subscription, sentState: SentState) {
    this.#traits = traits;
    this.#subscription = subscription;
    this.#sentState = sentState;
  }

  /**
   * Adds a name that was sent out of order, if the client needs it again. `mayMatchMore`: the resource may match more
   * terms by now than when it was sent.
   */
  addSince(
    news: DeltaResponseBuilder,
    name: string,
    sent: SentMark | undefined,
    current: CurrentView,
    mayMatchMore: boolean,
  ): void {
    const now = current.view.holder(this.#traits.type, name);
    const isCovered = now !== undefined && isAsked(now, current.view, this.#subscription);
    const isAgain = mayMatchMore && now !== undefined && hasAny(this.#subscription.termsFor(now));
    if (isCovered && (!current.isSame(now, sent) || isAgain)) news.puts.set(name, now);
    else if (!isCovered && sent !== undefined) news.removed.add(name);
  }

  /** Adds what exists by now of the terms that had no resource when they were requested. */
  addUnanswered(news: DeltaResponseBuilder, view: View): void {
    for (const term of this.#sentState.unansweredNames) {
      for (const found of view.answersTo(this.#traits.type, term)) {
        if (isAsked(found, view, this.#subscription)) news.put(found);
      }
    }
  }

  /** Adds the answers to pending terms and to names that were unsubscribed from under a wildcard. */
  addPending(news: DeltaResponseBuilder, current: CurrentView): void {
    for (const term of termsBehind(this.#sentState.pendingNames.keys(), this.#traits, this.#subscription, current)) {
      const answers = current.view.answersTo(this.#traits.type, term);
      if (answers.length === 0) this.addAbsent(news, term, current);
      for (const found of answers) if (isAsked(found, current.view, this.#subscription)) news.put(found);
    }
    for (const name of this.#givenUp(current)) {
      const found = current.view.holder(this.#traits.type, name);
      if (found !== undefined && isAsked(found, current.view, this.#subscription)) news.puts.set(name, found);
      else {
        news.removeAsAsked(nameOfTerm(name));
      }
    }
    for (const name of news.puts.keys()) news.removed.delete(name);
  }

  /** The names that the given-up terms match or matched; a term without any stands for itself. */
  *#givenUp(current: CurrentView): Iterable<string> {
    for (const term of this.unsubscribed) {
      const from = this.#sentState.position ?? current.toPosition();
      const { names } = candidatesFor(term, this.#traits, from, current);
      if (names.size === 0) yield term;
      yield* names;
    }
  }

  /**
   * Requested terms are answered with the present state. Where it differs from that at the position, the client may or
   * may not hold other matches of the term: the next answer in order sends them again.
   */
  doubt(position: Position, current: CurrentView): void {
    for (const term of this.#sentState.pendingNames.keys()) {
      if (this.#traits.terms === undefined && !isGlob(term) && !isLocated(term)) continue;
      const { names, isTouched } = candidatesFor(term, this.#traits, position, current);
      if (isTouched)
        for (const name of names)
          if (!this.#sentState.sentOutOfOrder.has(name)) this.#sentState.sentOutOfOrder.set(name, somethingElse);
    }
  }

  /** Adds a term without a resource: as missing, or with its placeholder. */
  addAbsent(news: DeltaResponseBuilder, term: string, current: CurrentView): void {
    const placeholder = this.placeholder(term, current);
    if (placeholder === undefined) news.miss(term);
    else news.putInPlaceOf(term, placeholder);
  }

  /** The placeholder of a term, for a client that held nothing for it before; undefined: none. */
  placeholder(term: string, current: CurrentView): Resource | undefined {
    const placeholder = current.placeholder(this.#traits, term);
    return placeholder !== undefined && this.#sentState.pendingNames.get(term) === true ? placeholder : undefined;
  }

  /** Takes out what is held back, and adds what is sent instead. Returns the terms to answer once it is let go. */
  holdBack(news: DeltaResponseBuilder, heldBack: HeldBackNames, view: View): readonly string[] {
    if (heldBack.size === 0) return [];
    for (const [name, target] of heldBack) {
      if (target === undefined) news.puts.delete(name);
      else news.put(target.resource);
    }
    const { type } = this.#traits;
    const isUntold = ({ name }: Resource): boolean => heldBack.has(name) && heldBack.get(name) === undefined;
    return [...this.#sentState.pendingNames.keys(), ...this.#sentState.unansweredNames, ...this.unsubscribed].filter(
      (term) => view.answersTo(type, term).some(isUntold),
    );
  }
}
