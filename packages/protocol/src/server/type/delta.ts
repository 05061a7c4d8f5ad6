import { forKind, isWildcardType } from "../../dialect/dialect.ts";
import type { TtlVerdict } from "../../dialect/ttl.ts";
import type { Body, Segment } from "../../message/body.ts";
import type { DeltaRequest, DiscoveryRequest } from "../../message/request.ts";
import type { Resource } from "../../resource/resource.ts";
import { isGlob, nameOfTerm, termsOf } from "../../resource/resource-name.ts";
import { markOf, type SentMark } from "../../resource/ttl.ts";
import type { TypeTraits } from "../../resource/type-traits.ts";
import { isLocated } from "../../resource/variant-name.ts";
import { isStill, type Position } from "../../state/difference.ts";
import type { View } from "../../state/view.ts";
import { Deliveries } from "../ack/delivery.ts";
import { nothingHeldOver, type PendingRemovals } from "../cache/pending-removals.ts";
import { type Comparison, mayBeHeldUnder } from "../cache/resume.ts";
import type { SharedResponses } from "../cache/shared-responses.ts";
import type { Upcoming } from "../cache/shared-selections.ts";
import { isAsked } from "../subscription/selection.ts";
import { hasAny, Subscription, type SubscriptionChange, understandChange } from "../subscription/subscription.ts";
import { DeltaResponseBuilder } from "./delta-response-builder.ts";
import { DeltaResume } from "./delta-resume.ts";
import { FirstSelection } from "./first-selection.ts";
import type { HeldBackNames } from "./held-back.ts";
import { SentState } from "./sent-state.ts";
import { candidatesFor, termsBehind } from "./terms.ts";
import type {
  AskedTerms,
  FlushBounds,
  PendingResponse,
  TypeStream,
  TypeStreamOptions,
  Understood,
} from "./type-stream.ts";

/** The delta variant of one type on one stream. */
export class DeltaTypeStream implements TypeStream {
  readonly traits: TypeTraits;
  readonly subscription: Subscription;
  readonly deliveries: Deliveries;
  readonly sentState: SentState;
  readonly pendingRemovals: PendingRemovals = nothingHeldOver;
  readonly ttl: TtlVerdict;
  readonly #options: TypeStreamOptions;
  readonly #resume: DeltaResume;
  readonly #first: FirstSelection;
  #isOpen = false;
  /** Names unsubscribed from under a wildcard: each is answered with what the wildcard says about it (S-UNS-06). */
  readonly #ambiguous = new Set<string>();

  constructor(options: TypeStreamOptions) {
    const { traits, dialect, ttl } = options;
    this.traits = traits;
    this.ttl = ttl;
    this.#options = options;
    this.deliveries = new Deliveries("by-name");
    this.subscription = new Subscription({
      legacyWildcard: isWildcardType(dialect, traits.kind, "delta"),
      wildcardSticky: dialect.wildcardSticky,
      terms: traits.terms,
    });
    this.sentState = new SentState(traits.type, this.subscription);
    this.#resume = new DeltaResume(traits, this.subscription, options.cameAfterOwner);
    this.#first = new FirstSelection(traits.type, this.subscription);
  }

  get position(): Position | undefined {
    return this.sentState.sentUpTo;
  }

  get isPaused(): boolean {
    return this.#resume.isPaused || this.#first.isPaused;
  }

  get needsChangesSince(): Position | undefined {
    return this.sentState.sentUpTo ?? this.#resume.start ?? this.#first.start;
  }

  get canHoldBack(): boolean {
    return this.sentState.position !== undefined && this.traits.terms === undefined;
  }

  get canTellTargets(): boolean {
    return this.traits.terms === undefined && (this.sentState.position !== undefined || !this.#resume.isOpen);
  }

  get heldBackFrom(): number {
    return this.sentState.heldBackFrom;
  }

  onRequest(request: DiscoveryRequest): Understood {
    if (request.kind !== "delta") throw new Error("invariant: a State of the World request on a delta stream");
    const isFirst = !this.#isOpen;
    this.#isOpen = true;
    const settled = isFirst ? undefined : this.#settle(request);
    // Most requests are ACKs.
    if (settled?.acked !== undefined && !saysMore(request)) return { as: "ack", acked: settled.acked, isOnlyAck: true };
    const change = this.#subscribe(request, isFirst);
    if (isFirst) {
      this.#resume.bring(request.initialVersions);
      return { as: "initial" };
    }
    const late = request.initialVersions.size > 0 ? { oddity: "late-initial-versions" as const } : {};
    return { as: understandChange(change), ...settled, ...late };
  }

  resend(names: Iterable<string>): boolean {
    // A first answer contains everything, unless it leaves out what the client lists.
    if (this.sentState.position === undefined && !this.#resume.isOpen) return false;
    return this.sentState.resend(names, (name) => this.traits.terms?.collectionOf(name) === name);
  }

  hasNews(view: View): boolean {
    return this.#ambiguous.size > 0 || this.sentState.hasNews(view);
  }

  catchUp(revision: number): void {
    this.sentState.catchUp(revision);
  }

  isSent(name: string, view: View, responses: SharedResponses): boolean {
    return this.sentState.isTold(name, view, responses);
  }

  upcoming(view: View, responses: SharedResponses): Iterable<Upcoming> {
    return this.sentState.upcoming(view, responses);
  }

  next(view: View, responses: SharedResponses, { heldBack }: FlushBounds): readonly PendingResponse[] {
    const here: Position = { view, revision: responses.revision };
    if (this.sentState.position === undefined) return this.#firstAnswer(here, responses, heldBack);
    if (this.deliveries.isBlocked) return this.#outOfTurn(this.sentState.position, here, responses, heldBack);
    return this.#inTurn(this.sentState.position, here, responses, heldBack);
  }

  isWaiting(view: View): boolean {
    if (this.sentState.position === undefined || !this.deliveries.isBlocked) return false;
    return !isStill(this.sentState.position, view, this.traits.type);
  }

  /** A nonce only assigns an ACK or NACK to a response; an unknown one is ignored (S-NON-10, S-DLT-05). */
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
    if (request.hasLocators) for (const term of this.subscription.speakOfParameters()) this.sentState.ask(term);
    const { names: before } = this.subscription;
    const isNew = (name: string): boolean => before.size === 0 || !before.has(name);
    const change = this.subscription.update(subscribe, unsubscribe);
    // Names in the first request are compared with the versions that it lists; later names are answered in any case.
    const isCompared = isFirst && initialVersions.size > 0;
    if (!isCompared) for (const name of change.asked) this.sentState.ask(name, isNew(name));
    if (change.dropped.length > 0 || change.leftWildcard) this.deliveries.forgive(change.dropped, this.subscription);
    for (const name of change.dropped) {
      this.sentState.giveUp(name);
      if (this.subscription.isWildcard) this.#ambiguous.add(name);
      // The client may still hold it for another term.
      else if (this.traits.terms === undefined && !this.subscription.isNamed(name))
        this.sentState.sentOutOfOrder.delete(name);
    }
    const isNarrowed = change.dropped.some((name) => isGlob(name) || isLocated(name));
    if (change.leftWildcard || (isNarrowed && !this.subscription.isWildcard)) this.#forgetUncovered();
    if (change.joinedWildcard && !isFirst) this.#rewind();
    return change;
  }

  /** Forgets names that are no longer subscribed to, also those that were left to a wildcard that is gone too. */
  #forgetUncovered(): void {
    this.#ambiguous.clear();
    for (const name of this.sentState.sentOutOfOrder.keys())
      if (!this.subscription.isNamed(name)) this.sentState.sentOutOfOrder.delete(name);
  }

  /**
   * Resends everything to a client that joins a wildcard: if it left one before, it dropped what only that covered.
   * Responses in flight may still arrive and be kept, and resources held by name or never dropped may be deleted by
   * now. All of these are compared with the new state, or a resource deleted meanwhile would stay.
   */
  #rewind(): void {
    this.sentState.resendsAll = true;
    this.#resume.distrust();
    for (const { body } of this.deliveries.pending) {
      const { ttls = "left-off" } = body;
      for (const segment of body.segments)
        for (const put of segment.puts) this.sentState.sentOutOfOrder.set(put.name, markOf(put, ttls));
    }
  }

  #firstAnswer(here: Position, responses: SharedResponses, heldBack: HeldBackNames): readonly PendingResponse[] {
    const { type } = this.traits;
    if (this.#resume.isOpen) return this.#compare(here, responses);
    const gone = this.#goneSinceRewind(here, responses);
    const isPlain = this.sentState.sentOutOfOrder.size === 0 && gone.length === 0 && heldBack.size === 0;
    if (this.subscription.isSoleWildcard && isPlain) {
      if (this.#options.isUnknown) return this.#advance(here, []);
      return this.#advance(here, this.#whole(responses.bodies.whole("delta", here.view, type)));
    }
    const isFirst = isPlain && this.sentState.sentUpTo === undefined;
    const found = isFirst ? this.#first.find(here, responses) : undefined;
    if (found === "paused") return [];
    const { puts, removed: absent } = found ?? responses.selections.all(here.view, type, this.subscription);
    // A client that was sent nothing yet waits for all names that it lists.
    const missing =
      this.sentState.sentUpTo === undefined ? absent : absent.filter((term) => this.sentState.pendingNames.has(term));
    const hasPlaceholders = missing.some((term) => this.#placeholder(term, here.view, responses) !== undefined);
    if (isPlain && !hasPlaceholders) {
      const segment = this.#noNews().segmentOf(puts, missing);
      if (isEmpty(segment) && !this.subscription.asksForAll) return this.#advance(here, []);
      // How missing names are sent depends on the client, so only bodies without them are shared by subscription.
      const body =
        missing.length > 0
          ? responses.bodies.own("delta", here.view, type, segment)
          : responses.bodies.ofSelection("delta", here.view, type, this.subscription, () => segment, undefined);
      return this.#advance(here, [{ body, isInOrder: true, news: [puts], asked: this.#askedOf(missing) }]);
    }
    const news = this.#noNews();
    for (const put of puts) news.put(put);
    for (const term of missing) this.#addAbsent(news, term, here.view, responses);
    for (const name of [...this.sentState.sentOutOfOrder.keys(), ...gone])
      if (!news.puts.has(name) && !heldBack.has(name)) news.removed.add(name);
    const told = this.sentState.holdBack(heldBack, here.view, responses);
    const asked = this.#holdBack(news, heldBack, here.view);
    this.#advance(here, []);
    for (const name of heldBack.keys()) this.sentState.sentOutOfOrder.set(name, told.get(name));
    for (const term of asked) this.sentState.ask(term);
    return this.#answer(news, here, responses, { mustAnswer: this.subscription.asksForAll });
  }

  #askedOf(missing: readonly string[]): AskedTerms {
    const { pendingNames: asked } = this.sentState;
    return missing.length === asked.size ? asked : new Set(missing);
  }

  #goneSinceRewind(here: Position, responses: SharedResponses): readonly string[] {
    const { sentUpTo: at } = this.sentState;
    return at === undefined
      ? []
      : responses.selections.ofChanges(at, here.view, this.traits.type, this.subscription).removed;
  }

  #compare(here: Position, responses: SharedResponses): readonly PendingResponse[] {
    const found = this.#resume.step(here, responses);
    if (found === undefined) return [];
    if (this.#isAsCompared(found)) return this.#advance(here, this.#answerCompared(found, here, responses));
    const news = this.#noNews();
    // The client may have unsubscribed from some while the comparison was paused.
    const mayBeHeld = mayBeHeldUnder(this.subscription);
    for (const put of found.puts) if (isAsked(put, here.view, this.subscription)) news.put(put);
    for (const name of found.removed) if (isLocated(name) || mayBeHeld(name)) news.removed.add(name);
    for (const term of found.missing) if (this.subscription.names.has(term)) news.miss(term);
    this.#addAsked(news, here.view, responses);
    const { newcomers } = found;
    return this.#advance(
      here,
      this.#answer(news, here, responses, { mustAnswer: this.subscription.asksForAll, newcomers }),
    );
  }

  /** Whether the client requested nothing while the comparison was paused. */
  #isAsCompared(found: Comparison): boolean {
    if (this.sentState.pendingNames.size + this.#ambiguous.size > 0) return false;
    return this.subscription.terms === undefined && found.isFor(this.subscription);
  }

  /** Answers with the result of a comparison as it is: nothing is looked up once more. */
  #answerCompared(found: Comparison, here: Position, responses: SharedResponses): readonly PendingResponse[] {
    const puts = [...found.puts];
    const { removed: absent, missing } = this.#noNews().segmentOf(puts, found.missing);
    const segment: Segment = { puts, removed: [...found.removed, ...absent], missing };
    if (isEmpty(segment) && !this.subscription.asksForAll) return [];
    const body = responses.bodies.own("delta", here.view, this.traits.type, segment);
    return [{ body, isInOrder: true, news: [puts], asked: new Set(absent), newToClient: found.newcomers }];
  }

  #inTurn(
    position: Position,
    here: Position,
    responses: SharedResponses,
    heldBack: HeldBackNames,
  ): readonly PendingResponse[] {
    const { type } = this.traits;
    const hasOwnNews = !this.sentState.isPlain || this.#ambiguous.size > 0;
    const isPlain = !hasOwnNews && heldBack.size === 0;
    if (isPlain && isStill(position, here.view, type)) return [];
    const hasOwnRemovals = forKind(this.#options.dialect.deltaRemovals, this.traits.kind) !== "at-once";
    if (isPlain && this.subscription.isSoleWildcard && !hasOwnRemovals) {
      const { segments } = responses.changes.between(position, here.view, type);
      if (segments.length === 0) return this.#advance(here, []);
      return this.#advance(here, this.#whole(responses.bodies.ofChanges("delta", position, here.view, type)));
    }
    const selection = responses.selections.ofChanges(position, here.view, type, this.subscription);
    if (isPlain && !hasOwnRemovals) {
      const { puts, removed } = selection;
      if (puts.length === 0 && removed.length === 0) return this.#advance(here, []);
      const make = (): Segment => ({ puts, removed, missing: [] });
      const body = responses.bodies.ofSelection("delta", here.view, type, this.subscription, make, position);
      return this.#advance(here, [{ body, isInOrder: true, news: [puts] }]);
    }
    const news = this.#noNews();
    for (const put of selection.puts) if (!this.sentState.sentOutOfOrder.has(put.name)) news.put(put);
    for (const name of selection.removed) if (!this.sentState.sentOutOfOrder.has(name)) news.removed.add(name);
    for (const [name, told] of this.sentState.sentOutOfOrder) this.#addSince(news, name, told, here.view, responses);
    this.#addVain(news, here.view);
    this.#addAsked(news, here.view, responses);
    const withheld = this.#withholdRemovals(news, here.view);
    const told = this.sentState.holdBack(heldBack, here.view, responses);
    const asked = this.#holdBack(news, heldBack, here.view);
    this.#advance(here, []);
    for (const name of withheld) this.sentState.sentOutOfOrder.set(name, somethingElse);
    for (const [name, mark] of told) this.sentState.sentOutOfOrder.set(name, mark);
    for (const term of asked) this.sentState.ask(term);
    return this.#answer(news, here, responses);
  }

  /** Takes out what is held back, and adds what is sent instead. Returns the terms to answer once it is let go. */
  #holdBack(news: DeltaResponseBuilder, heldBack: HeldBackNames, view: View): readonly string[] {
    if (heldBack.size === 0) return [];
    for (const [name, target] of heldBack) {
      if (target === undefined) news.puts.delete(name);
      else news.put(target.resource);
    }
    const { type } = this.traits;
    const isUntold = ({ name }: Resource): boolean => heldBack.has(name) && heldBack.get(name) === undefined;
    return [...this.sentState.pendingNames.keys(), ...this.sentState.unansweredNames, ...this.#ambiguous].filter(
      (term) => view.answersTo(type, term).some(isUntold),
    );
  }

  /** While a response is unsettled only requested names are sent; the position does not move. */
  #outOfTurn(
    position: Position,
    here: Position,
    responses: SharedResponses,
    heldBack: HeldBackNames,
  ): readonly PendingResponse[] {
    if (this.sentState.pendingNames.size === 0 && this.#ambiguous.size === 0) return [];
    const news = this.#noNews();
    this.#addAsked(news, here.view, responses);
    this.#doubt(position, here.view, responses);
    const asked = this.#holdBack(news, heldBack, here.view);
    for (const term of this.sentState.pendingNames.keys()) {
      if (here.view.answersTo(this.traits.type, term).length === 0) this.sentState.unansweredNames.add(term);
      else this.sentState.unansweredNames.delete(term);
    }
    this.sentState.clearAsked();
    this.#ambiguous.clear();
    for (const term of asked) this.sentState.ask(term);
    for (const name of news.puts.keys()) {
      const now = here.view.holder(this.traits.type, name);
      this.sentState.sentOutOfOrder.set(name, now && markOf(now, responses.ttls));
    }
    for (const name of [...news.removed, ...news.missing]) this.sentState.sentOutOfOrder.set(name, undefined);
    return this.#answer(news, here, responses, { isInTurn: false });
  }

  #addSince(
    news: DeltaResponseBuilder,
    name: string,
    told: SentMark | undefined,
    view: View,
    responses: SharedResponses,
  ): void {
    const now = view.holder(this.traits.type, name);
    const isCovered = now !== undefined && isAsked(now, view, this.subscription);
    // The resource may match more terms by now than when it was sent.
    const isBroad = now !== undefined && hasAny(this.subscription.termsFor(now));
    if (isCovered && (!responses.isSame(now, told) || isBroad)) news.puts.set(name, now);
    else if (!isCovered && told !== undefined) news.removed.add(name);
  }

  #addVain(news: DeltaResponseBuilder, view: View): void {
    for (const term of this.sentState.unansweredNames) {
      for (const found of view.answersTo(this.traits.type, term)) {
        if (isAsked(found, view, this.subscription)) news.put(found);
      }
    }
  }

  #addAsked(news: DeltaResponseBuilder, view: View, responses: SharedResponses): void {
    for (const term of termsBehind(
      this.sentState.pendingNames.keys(),
      this.traits,
      this.subscription,
      view,
      responses,
    )) {
      const answers = view.answersTo(this.traits.type, term);
      if (answers.length === 0) this.#addAbsent(news, term, view, responses);
      for (const found of answers) if (isAsked(found, view, this.subscription)) news.put(found);
    }
    for (const name of this.#givenUp(view, responses)) {
      const found = view.holder(this.traits.type, name);
      if (found !== undefined && isAsked(found, view, this.subscription)) news.puts.set(name, found);
      else {
        news.removeAsAsked(nameOfTerm(name));
      }
    }
    for (const name of news.puts.keys()) news.removed.delete(name);
  }

  /** The names that the given-up terms match or matched; a term without any stands for itself. */
  *#givenUp(view: View, responses: SharedResponses): Iterable<string> {
    for (const term of this.#ambiguous) {
      const from = this.sentState.position ?? { view, revision: responses.revision };
      const { names } = candidatesFor(term, this.traits, from, view, responses);
      if (names.size === 0) yield term;
      yield* names;
    }
  }

  /**
   * Requested terms are answered with the present state. Where it differs from that at the position, the client may or
   * may not hold other matches of the term: the next answer in order sends them again.
   */
  #doubt(position: Position, view: View, responses: SharedResponses): void {
    for (const term of this.sentState.pendingNames.keys()) {
      if (this.traits.terms === undefined && !isGlob(term) && !isLocated(term)) continue;
      const { names, isTouched } = candidatesFor(term, this.traits, position, view, responses);
      if (isTouched)
        for (const name of names)
          if (!this.sentState.sentOutOfOrder.has(name)) this.sentState.sentOutOfOrder.set(name, somethingElse);
    }
  }

  #addAbsent(news: DeltaResponseBuilder, term: string, view: View, responses: SharedResponses): void {
    const placeholder = this.#placeholder(term, view, responses);
    if (placeholder === undefined) news.miss(term);
    else news.puts.set(term, placeholder);
  }

  #placeholder(term: string, view: View, responses: SharedResponses): Resource | undefined {
    const placeholder = responses.placeholder(this.traits, view, term);
    return placeholder !== undefined && this.sentState.pendingNames.get(term) === true ? placeholder : undefined;
  }

  /**
   * Withholds removals of names that are still referenced, which would break the client (S-DEL-04 as amended). Returns
   * these names.
   */
  #withholdRemovals(news: DeltaResponseBuilder, view: View): readonly string[] {
    if (forKind(this.#options.dialect.deltaRemovals, this.traits.kind) === "at-once") return [];
    const withheld = [...news.removed].filter((name) => view.refersTo(this.traits.type, name));
    for (const name of withheld) news.removed.delete(name);
    return withheld;
  }

  #whole(body: Body): readonly PendingResponse[] {
    return [{ body, isInOrder: true, news: body.segments.map((segment) => segment.puts) }];
  }

  #answer(
    news: DeltaResponseBuilder,
    here: Position,
    responses: SharedResponses,
    how: { isInTurn?: boolean; mustAnswer?: boolean; newcomers?: ReadonlySet<string> } = {},
  ): readonly PendingResponse[] {
    const puts = [...news.puts.values()].map((put) =>
      responses.selections.answering(put, here.view, this.subscription),
    );
    const segment = news.segment(puts);
    if (isEmpty(segment) && how.mustAnswer !== true) return [];
    const body = responses.bodies.own("delta", here.view, this.traits.type, segment);
    const { isInTurn = true, newcomers } = how;
    return [{ body, isInOrder: isInTurn, news: [segment.puts], asked: news.asked, newToClient: newcomers }];
  }

  #advance(to: Position, answers: readonly PendingResponse[]): readonly PendingResponse[] {
    this.sentState.advance(to);
    this.#first.abandon();
    this.#ambiguous.clear();
    return answers;
  }

  #noNews(): DeltaResponseBuilder {
    return new DeltaResponseBuilder(this.#options.dialect, this.traits);
  }
}

/** Differs from every state of a resource: for a name that the client may hold in an unknown or deleted state. */
const somethingElse: SentMark = { version: "", content: -1n, ttlMs: undefined };

/** Whether a request says more than an ACK or a NACK. */
function saysMore({ subscribe, unsubscribe, initialVersions, hasLocators }: DeltaRequest): boolean {
  return subscribe.length > 0 || unsubscribe.length > 0 || initialVersions.size > 0 || hasLocators === true;
}

function isEmpty(segment: Segment): boolean {
  return segment.puts.length === 0 && segment.removed.length === 0 && segment.missing.length === 0;
}
