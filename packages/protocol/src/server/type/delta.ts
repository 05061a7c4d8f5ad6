import { forKind, isWildcardType } from "../../dialect/dialect.ts";
import type { TtlVerdict } from "../../dialect/ttl.ts";
import type { Body, Segment } from "../../message/body.ts";
import type { DeltaRequest, DiscoveryRequest } from "../../message/request.ts";
import type { Resource } from "../../resource/resource.ts";
import { isGlob, nameOfTerm, termsOf } from "../../resource/resource-name.ts";
import { type Mark, markOf } from "../../resource/ttl.ts";
import { typeKindTable } from "../../resource/type-kinds.ts";
import type { TypeTraits } from "../../resource/type-traits.ts";
import { isLocated } from "../../resource/variant-name.ts";
import { isStill, type Position } from "../../state/difference.ts";
import type { View } from "../../state/view.ts";
import { Deliveries } from "../ack/delivery.ts";
import { type HeldOverSet, nothingHeldOver } from "../cache/held-over.ts";
import type { Present } from "../cache/present.ts";
import { mayBeHeldUnder } from "../cache/resume.ts";
import type { Upcoming } from "../cache/shared-selections.ts";
import { isAsked } from "../subscription/selection.ts";
import { hasAny, Subscription, type SubscriptionChange, understandChange } from "../subscription/subscription.ts";
import { Comeback } from "./comeback.ts";
import { DeltaNews } from "./delta-news.ts";
import type { HeldNames } from "./held-back.ts";
import { Standing } from "./standing.ts";
import { candidatesFor, termsBehind } from "./terms.ts";
import type { Answer, TurnBounds, TypeStream, TypeStreamOptions, Understood } from "./type-stream.ts";

/** Delta for one type on one stream. */
export class DeltaTypeStream implements TypeStream {
  readonly traits: TypeTraits;
  readonly subscription: Subscription;
  readonly deliveries: Deliveries;
  readonly told: Standing;
  readonly heldOver: HeldOverSet = nothingHeldOver;
  readonly ttl: TtlVerdict;
  readonly #options: TypeStreamOptions;
  readonly #comeback: Comeback;
  #isOpen = false;
  /** Given up by name under a wildcard: to be answered with what the wildcard says of them (S-UNS-06). */
  readonly #ambiguous = new Set<string>();

  constructor(options: TypeStreamOptions) {
    const { traits, dialect, ttl } = options;
    this.traits = traits;
    this.ttl = ttl;
    this.#options = options;
    this.deliveries = new Deliveries(typeKindTable[traits.kind].usesClusters ? "by-name" : "none");
    this.subscription = new Subscription({
      legacyWildcard: isWildcardType(dialect, traits.kind, "delta"),
      wildcardSticky: dialect.wildcardSticky,
      terms: traits.terms,
    });
    this.told = new Standing(traits.type, this.subscription);
    this.#comeback = new Comeback(traits, this.subscription, options.cameAfterOwner);
  }

  get position(): Position | undefined {
    return this.told.at;
  }

  get isPaused(): boolean {
    return this.#comeback.isPaused;
  }

  get needsChangesSince(): Position | undefined {
    return this.told.at ?? this.#comeback.start;
  }

  get canHoldBack(): boolean {
    return this.told.position !== undefined && this.traits.terms === undefined;
  }

  get canTellTargets(): boolean {
    return this.traits.terms === undefined && (this.told.position !== undefined || !this.#comeback.isOpen);
  }

  get heldBackFrom(): number {
    return this.told.heldBackFrom;
  }

  onRequest(request: DiscoveryRequest): Understood {
    if (request.kind !== "delta") throw new Error("invariant: a State of the World request on a delta stream");
    const isFirst = !this.#isOpen;
    this.#isOpen = true;
    const settled = isFirst ? undefined : this.#settle(request);
    const change = this.#subscribe(request, isFirst);
    if (isFirst) {
      this.#comeback.bring(request.initialVersions);
      return { as: "initial" };
    }
    const late = request.initialVersions.size > 0 ? { oddity: "late-initial-versions" as const } : {};
    return { as: understandChange(change), ...settled, ...late };
  }

  owe(names: Iterable<string>): boolean {
    // A first answer has everything in it, unless it leaves out what the client reports.
    if (this.told.position === undefined && !this.#comeback.isOpen) return false;
    return this.told.owe(names, (name) => this.traits.terms?.collectionOf(name) === name);
  }

  hasNews(view: View): boolean {
    return this.#ambiguous.size > 0 || this.told.hasNews(view);
  }

  catchUp(revision: number): void {
    this.told.catchUp(revision);
  }

  isTold(name: string, view: View, present: Present): boolean {
    return this.told.isTold(name, view, present);
  }

  upcoming(view: View, present: Present): Iterable<Upcoming> {
    return this.told.upcoming(view, present);
  }

  next(view: View, present: Present, { heldBack }: TurnBounds): readonly Answer[] {
    const here: Position = { view, revision: present.revision };
    if (this.told.position === undefined) return this.#firstAnswer(here, present, heldBack);
    if (this.deliveries.isBlocked) return this.#outOfTurn(this.told.position, here, present, heldBack);
    return this.#inTurn(this.told.position, here, present, heldBack);
  }

  isWaiting(view: View): boolean {
    if (this.told.position === undefined || !this.deliveries.isBlocked) return false;
    return !isStill(this.told.position, view, this.traits.type);
  }

  /** A nonce only pairs an answer with a response; one that fits nothing is ignored (S-NON-10, S-DLT-05). */
  #settle({ nonce, error }: DeltaRequest): Understood | undefined {
    if (nonce === undefined) return undefined;
    if (error === undefined) {
      const acked = this.deliveries.ack(nonce);
      return acked === undefined ? undefined : { as: "ack", acked };
    }
    const delivery = this.deliveries.nack(nonce, error);
    this.deliveries.forgive([], this.subscription);
    return delivery === undefined ? undefined : { as: "nack", nacked: { delivery, error } };
  }

  #subscribe(request: DeltaRequest, isFirst: boolean): SubscriptionChange {
    const { initialVersions } = request;
    const { prefixGlob } = this.#options.dialect;
    const subscribe = termsOf(request.subscribe, prefixGlob);
    const unsubscribe = termsOf(request.unsubscribe, prefixGlob);
    const isNew = (name: string): boolean => !this.subscription.names.has(name);
    if (request.hasLocators) for (const term of this.subscription.speakOfParameters()) this.told.asked.add(term);
    const fresh = this.traits.placeholder === undefined ? [] : subscribe.filter(isNew);
    const change = this.subscription.update(subscribe, unsubscribe);
    // What the opening request names is compared with the versions it brings; what is named later is answered in any case.
    const isCompared = isFirst && initialVersions.size > 0;
    if (!isCompared) {
      for (const name of change.asked) this.told.asked.add(name);
      for (const name of fresh) this.told.fresh.add(name);
    }
    if (change.dropped.length > 0 || change.leftWildcard) this.deliveries.forgive(change.dropped, this.subscription);
    for (const name of change.dropped) {
      this.told.asked.delete(name);
      this.told.vain.delete(name);
      if (this.subscription.isWildcard) this.#ambiguous.add(name);
      // It may still be held for another term.
      else if (this.traits.terms === undefined && !this.subscription.isNamed(name)) this.told.ahead.delete(name);
    }
    const isNarrowed = change.dropped.some((name) => isGlob(name) || isLocated(name));
    if (change.leftWildcard || (isNarrowed && !this.subscription.isWildcard)) this.#forgetUncovered();
    if (change.joinedWildcard && !isFirst) this.#rewind();
    return change;
  }

  /** Only what is still named counts; a name may have been given up and left to a wildcard that is gone too. */
  #forgetUncovered(): void {
    this.#ambiguous.clear();
    for (const name of this.told.ahead.keys()) if (!this.subscription.isNamed(name)) this.told.ahead.delete(name);
  }

  /**
   * Everything is owed again: who left a wildcard dropped what only it covered. Responses on their way may still arrive and
   * be kept, and what is held by name or was never dropped may be gone by now: all of that is compared with what will be, or
   * a resource deleted meanwhile would live on.
   */
  #rewind(): void {
    this.told.owesAll = true;
    this.#comeback.distrust();
    for (const { body } of this.deliveries.pending) {
      const { ttls = "left-off" } = body;
      for (const segment of body.segments)
        for (const put of segment.puts) this.told.ahead.set(put.name, markOf(put, ttls));
    }
  }

  #firstAnswer(here: Position, present: Present, heldBack: HeldNames): readonly Answer[] {
    const { type } = this.traits;
    if (this.#comeback.isOpen) return this.#compare(here, present);
    const gone = this.#goneSinceRewind(here, present);
    const isPlain = this.told.ahead.size === 0 && gone.length === 0 && heldBack.size === 0;
    if (this.subscription.isSoleWildcard && isPlain) {
      if (this.#options.isUnknown) return this.#advance(here, []);
      return this.#advance(here, this.#whole(present.bodies.whole("delta", here.view, type)));
    }
    const { puts, removed: absent } = present.selections.all(here.view, type, this.subscription);
    const missing = absent.filter((term) => this.told.asked.has(term));
    const hasPlaceholders = missing.some((term) => this.#placeholder(term, here.view, present) !== undefined);
    if (isPlain && !hasPlaceholders) {
      const news = this.#noNews();
      for (const term of missing) news.miss(term);
      const segment = news.segment(puts);
      if (isEmpty(segment) && !this.subscription.asksForAll) return this.#advance(here, []);
      // How missing names are told is the client's own, so only bodies without any are everybody's.
      const body =
        missing.length > 0
          ? present.bodies.own("delta", here.view, type, segment)
          : present.bodies.ofSelection("delta", here.view, type, this.subscription, () => segment, undefined);
      return this.#advance(here, [{ body, isInTurn: true, news: [puts], asked: new Set(missing) }]);
    }
    const news = this.#noNews();
    for (const put of puts) news.put(put);
    for (const term of missing) this.#addAbsent(news, term, here.view, present);
    for (const name of [...this.told.ahead.keys(), ...gone])
      if (!news.puts.has(name) && !heldBack.has(name)) news.removed.add(name);
    const told = this.told.holdBack(heldBack, here.view, present);
    const asked = this.#holdBack(news, heldBack, here.view);
    this.#advance(here, []);
    for (const name of heldBack.keys()) this.told.ahead.set(name, told.get(name));
    for (const term of asked) this.told.asked.add(term);
    return this.#answer(news, here, present, { mustAnswer: this.subscription.asksForAll });
  }

  #goneSinceRewind(here: Position, present: Present): readonly string[] {
    const { at } = this.told;
    return at === undefined
      ? []
      : present.selections.ofChanges(at, here.view, this.traits.type, this.subscription).removed;
  }

  #compare(here: Position, present: Present): readonly Answer[] {
    const found = this.#comeback.step(here, present);
    if (found === undefined) return [];
    const news = this.#noNews();
    // The client may have given up some of it while the comparison was paused.
    const mayBeHeld = mayBeHeldUnder(this.subscription);
    for (const put of found.puts) if (isAsked(put, here.view, this.subscription)) news.put(put);
    for (const name of found.removed) if (isLocated(name) || mayBeHeld(name)) news.removed.add(name);
    for (const term of found.missing) if (this.subscription.names.has(term)) news.miss(term);
    this.#addAsked(news, here.view, present);
    const { newcomers } = found;
    return this.#advance(
      here,
      this.#answer(news, here, present, { mustAnswer: this.subscription.asksForAll, newcomers }),
    );
  }

  #inTurn(position: Position, here: Position, present: Present, heldBack: HeldNames): readonly Answer[] {
    const { type } = this.traits;
    const hasOwnNews = !this.told.isPlain || this.#ambiguous.size > 0;
    const isPlain = !hasOwnNews && heldBack.size === 0;
    if (isPlain && isStill(position, here.view, type)) return [];
    const hasOwnRemovals = forKind(this.#options.dialect.deltaRemovals, this.traits.kind) !== "at-once";
    if (isPlain && this.subscription.isSoleWildcard && !hasOwnRemovals) {
      const { segments } = present.changes.between(position, here.view, type);
      if (segments.length === 0) return this.#advance(here, []);
      return this.#advance(here, this.#whole(present.bodies.ofChanges("delta", position, here.view, type)));
    }
    const selection = present.selections.ofChanges(position, here.view, type, this.subscription);
    if (isPlain && !hasOwnRemovals) {
      const { puts, removed } = selection;
      if (puts.length === 0 && removed.length === 0) return this.#advance(here, []);
      const make = (): Segment => ({ puts, removed, missing: [] });
      const body = present.bodies.ofSelection("delta", here.view, type, this.subscription, make, position);
      return this.#advance(here, [{ body, isInTurn: true, news: [puts] }]);
    }
    const news = this.#noNews();
    for (const put of selection.puts) if (!this.told.ahead.has(put.name)) news.put(put);
    for (const name of selection.removed) if (!this.told.ahead.has(name)) news.removed.add(name);
    for (const [name, told] of this.told.ahead) this.#addSince(news, name, told, here.view, present);
    this.#addVain(news, here.view);
    this.#addAsked(news, here.view, present);
    const withheld = this.#withholdRemovals(news, here.view);
    const told = this.told.holdBack(heldBack, here.view, present);
    const asked = this.#holdBack(news, heldBack, here.view);
    this.#advance(here, []);
    for (const name of withheld) this.told.ahead.set(name, somethingElse);
    for (const [name, mark] of told) this.told.ahead.set(name, mark);
    for (const term of asked) this.told.asked.add(term);
    return this.#answer(news, here, present);
  }

  /** Takes out what has to wait, and puts in what is told instead. Returns what is to be answered with it then. */
  #holdBack(news: DeltaNews, heldBack: HeldNames, view: View): readonly string[] {
    if (heldBack.size === 0) return [];
    for (const [name, target] of heldBack) {
      if (target === undefined) news.puts.delete(name);
      else news.put(target.resource);
    }
    const { type } = this.traits;
    const isUntold = ({ name }: Resource): boolean => heldBack.has(name) && heldBack.get(name) === undefined;
    return [...this.told.asked, ...this.told.vain, ...this.#ambiguous].filter((term) =>
      view.answersTo(type, term).some(isUntold),
    );
  }

  /** While an answer is unsettled only what was asked for goes out; the position stays where it is. */
  #outOfTurn(position: Position, here: Position, present: Present, heldBack: HeldNames): readonly Answer[] {
    if (this.told.asked.size === 0 && this.#ambiguous.size === 0) return [];
    const news = this.#noNews();
    this.#addAsked(news, here.view, present);
    this.#doubt(position, here.view, present);
    const asked = this.#holdBack(news, heldBack, here.view);
    for (const term of this.told.asked) {
      if (here.view.answersTo(this.traits.type, term).length === 0) this.told.vain.add(term);
      else this.told.vain.delete(term);
    }
    this.told.asked.clear();
    this.told.fresh.clear();
    this.#ambiguous.clear();
    for (const term of asked) this.told.asked.add(term);
    for (const name of news.puts.keys()) {
      const now = here.view.holder(this.traits.type, name);
      this.told.ahead.set(name, now && markOf(now, present.ttls));
    }
    for (const name of [...news.removed, ...news.missing]) this.told.ahead.set(name, undefined);
    return this.#answer(news, here, present, { isInTurn: false });
  }

  #addSince(news: DeltaNews, name: string, told: Mark | undefined, view: View, present: Present): void {
    const now = view.holder(this.traits.type, name);
    const isCovered = now !== undefined && isAsked(now, view, this.subscription);
    // It may answer to more terms by now than it was told to.
    const isBroad = now !== undefined && hasAny(this.subscription.termsFor(now));
    if (isCovered && (!present.isSame(now, told) || isBroad)) news.puts.set(name, now);
    else if (!isCovered && told !== undefined) news.removed.add(name);
  }

  #addVain(news: DeltaNews, view: View): void {
    for (const term of this.told.vain) {
      for (const found of view.answersTo(this.traits.type, term)) {
        if (isAsked(found, view, this.subscription)) news.put(found);
      }
    }
  }

  #addAsked(news: DeltaNews, view: View, present: Present): void {
    for (const term of termsBehind(this.told.asked, this.traits, this.subscription, view, present)) {
      const answers = view.answersTo(this.traits.type, term);
      if (answers.length === 0) this.#addAbsent(news, term, view, present);
      for (const found of answers) if (isAsked(found, view, this.subscription)) news.put(found);
    }
    for (const name of this.#givenUp(view, present)) {
      const found = view.holder(this.traits.type, name);
      if (found !== undefined && isAsked(found, view, this.subscription)) news.puts.set(name, found);
      else {
        news.removeAsAsked(nameOfTerm(name));
      }
    }
    for (const name of news.puts.keys()) news.removed.delete(name);
  }

  /** The names behind what was given up; of what nothing stands or stood for, that itself. */
  *#givenUp(view: View, present: Present): Iterable<string> {
    for (const term of this.#ambiguous) {
      const from = this.told.position ?? { view, revision: present.revision };
      const { names } = candidatesFor(term, this.traits, from, view, present);
      if (names.size === 0) yield term;
      yield* names;
    }
  }

  /**
   * What was asked for out of turn is answered as things are now. Where that is not how they were at the position, what else
   * may stand for it may or may not be held: the next answer in turn says so again.
   */
  #doubt(position: Position, view: View, present: Present): void {
    for (const term of this.told.asked) {
      if (this.traits.terms === undefined && !isGlob(term) && !isLocated(term)) continue;
      const { names, isTouched } = candidatesFor(term, this.traits, position, view, present);
      if (isTouched) for (const name of names) if (!this.told.ahead.has(name)) this.told.ahead.set(name, somethingElse);
    }
  }

  #addAbsent(news: DeltaNews, term: string, view: View, present: Present): void {
    const placeholder = this.#placeholder(term, view, present);
    if (placeholder === undefined) news.miss(term);
    else news.puts.set(term, placeholder);
  }

  #placeholder(term: string, view: View, present: Present): Resource | undefined {
    return this.told.fresh.has(term) ? present.placeholder(this.traits, view, term) : undefined;
  }

  /** Removals that would break the client while something it holds still refers to them (S-DEL-04 as amended). */
  #withholdRemovals(news: DeltaNews, view: View): readonly string[] {
    if (forKind(this.#options.dialect.deltaRemovals, this.traits.kind) === "at-once") return [];
    const withheld = [...news.removed].filter((name) => view.refersTo(this.traits.type, name));
    for (const name of withheld) news.removed.delete(name);
    return withheld;
  }

  #whole(body: Body): readonly Answer[] {
    return [{ body, isInTurn: true, news: body.segments.map((segment) => segment.puts) }];
  }

  #answer(
    news: DeltaNews,
    here: Position,
    present: Present,
    how: { isInTurn?: boolean; mustAnswer?: boolean; newcomers?: ReadonlySet<string> } = {},
  ): readonly Answer[] {
    const puts = [...news.puts.values()].map((put) => present.selections.answering(put, here.view, this.subscription));
    const segment = news.segment(puts);
    if (isEmpty(segment) && how.mustAnswer !== true) return [];
    const body = present.bodies.own("delta", here.view, this.traits.type, segment);
    const { isInTurn = true, newcomers } = how;
    return [{ body, isInTurn, news: [segment.puts], asked: news.asked, newcomers }];
  }

  #advance(to: Position, answers: readonly Answer[]): readonly Answer[] {
    this.told.advance(to);
    this.#ambiguous.clear();
    return answers;
  }

  #noNews(): DeltaNews {
    return new DeltaNews(this.#options.dialect, this.traits);
  }
}

/** Of what a client goes on holding although it is gone: whatever comes is news. */
const somethingElse: Mark = { version: "", content: -1n, ttlMs: undefined };

function isEmpty(segment: Segment): boolean {
  return segment.puts.length === 0 && segment.removed.length === 0 && segment.missing.length === 0;
}
