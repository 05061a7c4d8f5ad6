import { forKind, isWildcardType } from "../../dialect/dialect.ts";
import type { TtlVerdict } from "../../dialect/ttl.ts";
import type { Body, Segment } from "../../message/body.ts";
import type { DeltaRequest, DiscoveryRequest } from "../../message/request.ts";
import { isGlob, termsOf } from "../../resource/resource-name.ts";
import { markOf, type SentMark } from "../../resource/ttl.ts";
import type { TypeTraits } from "../../resource/type-traits.ts";
import { isLocated } from "../../resource/variant-name.ts";
import { isStill, type Position } from "../../state/difference.ts";
import type { View } from "../../state/view.ts";
import { Deliveries } from "../ack/delivery.ts";
import type { CurrentView } from "../cache/current-view.ts";
import { noPendingRemovals, type PendingRemovals } from "../cache/pending-removals.ts";
import { type Comparison, mayBeHeldUnder } from "../cache/resume.ts";
import type { PendingResource } from "../cache/shared-selections.ts";
import { LazySet } from "../memory/lazy.ts";
import { countOf } from "../subscription/names.ts";
import { isAsked, type Selection } from "../subscription/selection.ts";
import { classifyChange, Subscription, type SubscriptionChange } from "../subscription/subscription.ts";
import { DeltaResponseBuilder } from "./delta-response-builder.ts";
import { DeltaResume } from "./delta-resume.ts";
import { DeltaTerms, somethingElse } from "./delta-terms.ts";
import { FirstSelection } from "./first-selection.ts";
import type { HeldBackNames } from "./held-back.ts";
import { Replacements, withWaiting } from "./replacements.ts";
import { SentState } from "./sent-state.ts";
import type {
  AskedTerms,
  ClassifiedRequest,
  FlushBounds,
  PendingResponse,
  TypeStream,
  TypeStreamOptions,
} from "./type-stream.ts";
import { type AbsenceFlush, UntoldAbsences } from "./untold-absences.ts";

/** The delta variant of one type on one stream. */
export class DeltaTypeStream implements TypeStream {
  readonly traits: TypeTraits;
  readonly subscription: Subscription;
  readonly deliveries: Deliveries;
  readonly sentState: SentState;
  readonly pendingRemovals: PendingRemovals = noPendingRemovals;
  readonly untoldAbsences: UntoldAbsences = new UntoldAbsences();
  readonly ttl: TtlVerdict;
  readonly #options: TypeStreamOptions;
  readonly #resume: DeltaResume;
  readonly #first: FirstSelection;
  readonly #terms: DeltaTerms;
  readonly #replacements = new Replacements();
  /** Deleted names that the view still refers to. */
  readonly #referenced = new LazySet<string>();
  #isOpen = false;
  /** How many names count that were given up and are remembered until the next answer in order. */
  #leftOver = 0;
  /** How many removals were found before the search was cut short. */
  #cutShort = 0;

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
    this.#terms = new DeltaTerms(traits, this.subscription, this.sentState);
  }

  get position(): Position | undefined {
    return this.sentState.sentUpTo;
  }

  get namesAskedFor(): number {
    return this.subscription.counted;
  }

  get namesKept(): number {
    return this.deliveries.namesKept + this.#leftOver + this.#cutShort;
  }

  get saidBytes(): number {
    return this.deliveries.reasonBytes + this.#resume.bytes;
  }

  get isPaused(): boolean {
    return this.#resume.isPaused || this.#first.isPaused;
  }

  get needsChangesSince(): Position | undefined {
    return this.sentState.sentUpTo ?? this.#resume.start ?? this.#first.start;
  }

  get canHoldBack(): boolean {
    return this.sentState.position !== undefined;
  }

  get canTellTargets(): boolean {
    return this.sentState.position !== undefined || !this.#resume.isOpen;
  }

  get heldBackFrom(): number {
    return this.sentState.heldBackFrom;
  }

  onRequest(request: DiscoveryRequest): ClassifiedRequest {
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
    const late = request.initialVersions.size > 0 ? { anomaly: "late-initial-versions" as const } : {};
    return { as: classifyChange(change), ...settled, ...late };
  }

  resend(names: ReadonlySet<string>): boolean {
    // A first answer contains everything, unless it leaves out what the client lists.
    if (this.sentState.position === undefined && !this.#resume.isOpen) return false;
    const { terms } = this.traits;
    return this.sentState.resend(names, terms && ((name) => terms.collectionOf(name) === name));
  }

  hasNews(view: View): boolean {
    if (this.#terms.unsubscribed.size > 0 || !this.untoldAbsences.isEmpty || this.sentState.hasNews(view)) return true;
    return this.#referenced.size > 0 && this.#releasedIn(view).length > 0;
  }

  catchUp(revision: number): void {
    this.sentState.catchUp(revision);
  }

  isSent(name: string, current: CurrentView): boolean {
    return !this.untoldAbsences.has(name) && this.sentState.isSent(name, current);
  }

  removesAny(current: CurrentView): boolean {
    return this.#replacements.isAnyRemovalWaiting || this.sentState.removesAny(current);
  }

  mayRemove(current: CurrentView): boolean {
    const { position, isPlain } = this.sentState;
    if (position === undefined || !isPlain || this.#terms.unsubscribed.size > 0 || this.withholdsRemovals) return true;
    if (!this.subscription.isSoleWildcard || !this.untoldAbsences.isEmpty) return this.removesAny(current);
    return current.differenceSince(position, this.traits.type).segments.some(({ removed }) => removed.length > 0);
  }

  pendingResources(current: CurrentView): Iterable<PendingResource> {
    return this.sentState.pendingResources(current);
  }

  listedIn(view: View): ReadonlySet<string> {
    return this.#resume.listedIn(view);
  }

  next(current: CurrentView, { heldBack, absences }: FlushBounds): readonly PendingResponse[] {
    const { revision } = current;
    const isUnused = (name: string): boolean => !current.view.refersTo(this.traits.type, name);
    const due = this.untoldAbsences.takeDue(absences, { revision, isUnused });
    for (const name of due) this.sentState.ask(name);
    const flush = (): AbsenceFlush => ({
      bounds: absences(),
      revision,
      mayWait: (name) => !due.has(name) && this.subscription.names.has(name),
      isUnused,
      mustAnswer: this.subscription.asksForAll,
    });
    const { type, placeholder } = this.traits;
    const isPlaceholder = (name: string): boolean =>
      placeholder !== undefined && current.view.find(type, name) === undefined;
    return this.untoldAbsences.withhold(this.#next(current, heldBack), flush, isPlaceholder);
  }

  #next(current: CurrentView, heldBack: HeldBackNames): readonly PendingResponse[] {
    if (this.sentState.position === undefined) return this.#firstAnswer(current, heldBack);
    if (this.deliveries.isBlocked) return this.#outOfTurn(this.sentState.position, current, heldBack);
    return this.#inTurn(this.sentState.position, current, heldBack);
  }

  isWaiting(view: View): boolean {
    if (this.sentState.position === undefined || !this.deliveries.isBlocked) return false;
    return !isStill(this.sentState.position, view, this.traits.type);
  }

  /** A nonce only assigns an ACK or NACK to a response; an unknown one is ignored (S-NON-10, S-DLT-05). */
  #settle({ nonce, error }: DeltaRequest): ClassifiedRequest | undefined {
    if (nonce === undefined) return undefined;
    if (error === undefined) {
      const acked = this.deliveries.ack(nonce);
      return acked === undefined ? undefined : { as: "ack", acked };
    }
    const delivery = this.deliveries.nack(nonce, error, this.subscription.scope);
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
    const distinct = subscribe === request.subscribe ? request.distinct : undefined;
    const change = this.subscription.update(subscribe, unsubscribe, distinct);
    // Names in the first request are compared with the versions that it lists; later names are answered in any case.
    const isCompared = isFirst && initialVersions.size > 0;
    if (!isCompared) {
      if (before.size === 0) this.sentState.askAll(this.subscription.names, true);
      else for (const name of change.asked) this.sentState.ask(name, !before.has(name));
    }
    if (change.dropped.length > 0 || change.leftWildcard) this.deliveries.forgive(change.dropped, this.subscription);
    for (const name of change.dropped) {
      this.sentState.giveUp(name);
      this.#referenced.delete(name);
      this.untoldAbsences.forget(name);
      if (this.subscription.isWildcard) {
        this.#terms.unsubscribed.add(name);
        this.sentState.heldBack.forget(name);
      }
      // The client may still hold it for another term.
      else if (this.traits.terms === undefined && !this.subscription.isNamed(name)) this.sentState.forget(name);
      if (this.subscription.isWildcard || this.sentState.sentOutOfOrder.has(name)) this.#leftOver += countOf(name);
    }
    const isNarrowed = change.dropped.some((name) => isGlob(name) || isLocated(name));
    if (change.leftWildcard || (isNarrowed && !this.subscription.isWildcard)) this.#forgetUncovered();
    if (change.joinedWildcard && !isFirst) this.#rewind();
    return change;
  }

  /** Forgets names that are no longer subscribed to, also those that were left to a wildcard that is gone too. */
  #forgetUncovered(): void {
    this.#terms.unsubscribed.clear();
    this.#leftOver = 0;
    for (const name of this.sentState.sentOutOfOrder.keys())
      if (!this.subscription.isNamed(name)) this.sentState.forget(name);
    for (const name of this.#referenced) if (!this.subscription.isNamed(name)) this.#referenced.delete(name);
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

  #firstAnswer(current: CurrentView, heldBack: HeldBackNames): readonly PendingResponse[] {
    const { type } = this.traits;
    if (this.#resume.isOpen) return this.#compare(current);
    const gone = this.#goneSinceRewind(current);
    const isPlain = this.sentState.sentOutOfOrder.size === 0 && gone.length === 0 && heldBack.size === 0;
    if (this.subscription.isSoleWildcard && isPlain) {
      if (this.#options.isUnknown) return this.#advance(current, []);
      return this.#advance(current, this.#whole(current.wholeBody("delta", type)));
    }
    const isFirst = isPlain && this.sentState.sentUpTo === undefined;
    const found = isFirst ? this.#first.find(current) : undefined;
    if (found === "paused") return [];
    const { puts, removed: absent } = found ?? current.select(type, this.subscription);
    // A client that was sent nothing yet waits for all names that it lists.
    const missing =
      this.sentState.sentUpTo === undefined ? absent : absent.filter((term) => this.sentState.pendingNames.has(term));
    const hasPlaceholders = missing.some((term) => this.#terms.placeholder(term, current) !== undefined);
    if (isPlain && !hasPlaceholders) {
      const segment = this.#noNews().segmentOf(puts, missing);
      if (isEmpty(segment) && !this.subscription.asksForAll) return this.#advance(current, []);
      // How missing names are sent depends on the client, so only bodies without them are shared by subscription.
      const body =
        missing.length > 0
          ? current.ownBody("delta", type, segment)
          : current.selectionBody("delta", type, this.subscription, () => segment, undefined);
      return this.#advance(current, [{ body, isInOrder: true, news: [puts], asked: this.#askedOf(missing) }]);
    }
    const news = this.#noNews();
    for (const put of puts) news.put(put);
    for (const term of missing) this.#terms.addAbsent(news, term, current);
    for (const name of [...this.sentState.sentOutOfOrder.keys(), ...gone])
      if (!news.puts.has(name) && !heldBack.has(name)) news.removed.add(name);
    const sent = this.sentState.holdBack(heldBack, current);
    const asked = this.#terms.holdBack(news, heldBack, current.view);
    this.#advance(current, []);
    for (const name of heldBack.keys()) this.sentState.sentOutOfOrder.set(name, sent.get(name));
    for (const term of asked) this.sentState.ask(term);
    return this.#answer(news, current, { mustAnswer: this.subscription.asksForAll });
  }

  #askedOf(missing: readonly string[]): AskedTerms {
    const { pendingNames: asked } = this.sentState;
    if (missing.length < asked.size) return new Set(missing);
    // A client that asks by name alone gets no other name: there may be hundreds of thousands to be looked up.
    return this.subscription.asksBroadly ? asked : { size: asked.size, has: () => true };
  }

  #goneSinceRewind(current: CurrentView): readonly string[] {
    const { sentUpTo: at } = this.sentState;
    return at === undefined ? [] : current.selectSince(at, this.traits.type, this.subscription).removed;
  }

  #compare(current: CurrentView): readonly PendingResponse[] {
    const found = this.#resume.step(current);
    if (found === undefined) return [];
    if (found.isCutShort) {
      // The stream ends: these are more than it may keep.
      for (const _ of found.removed) this.#cutShort++;
      return [];
    }
    if (!this.#hasOwnRemovals && this.#isAsCompared(found))
      return this.#advance(current, this.#answerCompared(found, current));
    const news = this.#noNews();
    // The client may have unsubscribed from some while the comparison was paused.
    const mayBeHeld = mayBeHeldUnder(this.subscription);
    for (const put of found.puts) if (isAsked(put, current.view, this.subscription)) news.put(put);
    for (const name of found.removed) if (isLocated(name) || mayBeHeld(name)) news.removed.add(name);
    for (const term of found.missing) if (this.subscription.names.has(term)) news.miss(term);
    this.#terms.addPending(news, current);
    const { newcomers } = found;
    this.#advance(current, []);
    return this.#answer(news, current, { mustAnswer: this.subscription.asksForAll, newcomers });
  }

  /** Whether the client requested nothing while the comparison was paused. */
  #isAsCompared(found: Comparison): boolean {
    if (this.sentState.pendingNames.size + this.#terms.unsubscribed.size > 0) return false;
    return this.subscription.terms === undefined && found.isFor(this.subscription);
  }

  /** Answers with the result of a comparison as it is: nothing is looked up once more. */
  #answerCompared(found: Comparison, current: CurrentView): readonly PendingResponse[] {
    const puts = [...found.puts];
    const { removed: absent, missing } = this.#noNews().segmentOf(puts, found.missing);
    const segment: Segment = { puts, removed: [...found.removed, ...absent], missing };
    if (isEmpty(segment) && !this.subscription.asksForAll) return [];
    const body = current.ownBody("delta", this.traits.type, segment);
    return [{ body, isInOrder: true, news: [puts], asked: new Set(absent), newToClient: found.newcomers }];
  }

  #inTurn(position: Position, current: CurrentView, heldBack: HeldBackNames): readonly PendingResponse[] {
    const { type } = this.traits;
    this.#release(current.view);
    const hasOwnNews = !this.sentState.isPlain || this.#terms.unsubscribed.size > 0;
    const isPlain = !hasOwnNews && heldBack.size === 0;
    if (isPlain && isStill(position, current.view, type)) return [];
    const isOwn = this.#terms.unsubscribed.size > 0 || this.#hasOwnRemovals;
    if (this.traits.kind === "cds" && !isOwn && this.sentState.holdsOnly(heldBack, current.view)) {
      this.sentState.catchUp(current.revision);
      return [];
    }
    if (isPlain && this.subscription.isSoleWildcard && !this.#hasOwnRemovals) {
      const { segments } = current.differenceSince(position, type);
      if (segments.length === 0) return this.#advance(current, []);
      return this.#advance(current, this.#whole(current.bodySince("delta", position, type)));
    }
    const selection = current.selectSince(position, type, this.subscription);
    if (isPlain && !this.#hasOwnRemovals) {
      const { puts, removed } = selection;
      if (puts.length === 0 && removed.length === 0) return this.#advance(current, []);
      const make = (): Segment => ({ puts, removed, missing: [] });
      const body = current.selectionBody("delta", type, this.subscription, make, position);
      return this.#advance(current, [{ body, isInOrder: true, news: [puts] }]);
    }
    const news = this.#noNews();
    for (const put of selection.puts) if (!this.sentState.sentOutOfOrder.has(put.name)) news.put(put);
    for (const name of selection.removed) if (!this.sentState.sentOutOfOrder.has(name)) news.removed.add(name);
    // Only a change makes a resource match other terms than those that it was sent for.
    const mayMatchMore = !isStill(position, current.view, type);
    for (const [name, sent] of this.sentState.sentOutOfOrder)
      this.#terms.addSince(news, name, sent, current, mayMatchMore);
    this.#terms.addUnanswered(news, current.view);
    this.#terms.addPending(news, current);
    const held = this.#withReplaced(news, selection, heldBack, current.revision);
    for (const name of held.keys()) news.removed.delete(name);
    const sent = this.sentState.holdBack(held, current);
    const asked = this.#terms.holdBack(news, held, current.view);
    const unknown = this.#heldBackMatches(selection, held, sent);
    this.#advance(current, []);
    for (const name of unknown) this.sentState.sentOutOfOrder.set(name, somethingElse);
    for (const [name, mark] of sent) this.sentState.sentOutOfOrder.set(name, mark);
    for (const term of asked) this.sentState.ask(term);
    return this.#answer(news, current);
  }

  /** What is held back, with the removals and changes that have to be sent together with it. */
  #withReplaced(
    news: DeltaResponseBuilder,
    { puts }: Selection,
    heldBack: HeldBackNames,
    revision: number,
  ): HeldBackNames {
    // A Cluster replaces no other: the order of their removals is that of what uses them.
    if (this.traits.kind === "cds") return heldBack;
    if (heldBack.size === 0 && !this.#replacements.isAnyRemovalWaiting) return heldBack;
    const { sentOutOfOrder } = this.sentState;
    const changed = new Set(puts.map(({ name }) => name));
    const waiting = this.#replacements.hold({
      removed: [...news.removed].filter((name) => !news.asked.has(name)),
      // What is only requested goes at once.
      put: [...news.puts.keys()].filter((name) => changed.has(name) || sentOutOfOrder.has(name)),
      heldBack,
      revision,
    });
    return withWaiting(heldBack, waiting);
  }

  /** Held-back resources that did not change, and are to be sent because they are the match of a term now. */
  #heldBackMatches(
    { puts }: Selection,
    heldBack: HeldBackNames,
    sent: ReadonlyMap<string, SentMark | undefined>,
  ): readonly string[] {
    if (this.traits.terms === undefined || heldBack.size === 0) return [];
    const { pendingNames } = this.sentState;
    return puts.flatMap(({ name }) => (heldBack.has(name) && !sent.has(name) && !pendingNames.has(name) ? [name] : []));
  }

  /** While a response is unsettled only requested names are sent; the position does not move. */
  #outOfTurn(position: Position, current: CurrentView, heldBack: HeldBackNames): readonly PendingResponse[] {
    if (this.sentState.pendingNames.size === 0 && this.#terms.unsubscribed.size === 0) return [];
    const news = this.#noNews();
    this.#terms.addPending(news, current);
    this.#terms.doubt(position, current);
    const asked = this.#terms.holdBack(news, heldBack, current.view);
    this.sentState.answerPending((term) => current.view.answersTo(this.traits.type, term).length > 0);
    this.#terms.unsubscribed.clear();
    for (const term of asked) this.sentState.ask(term);
    for (const name of news.puts.keys()) this.sentState.noteOutOfOrder(name, current);
    for (const name of [...news.removed, ...news.missing]) this.sentState.sentOutOfOrder.set(name, undefined);
    return this.#answer(news, current, { isInTurn: false });
  }

  /** Withholds removals of names that are still referenced, which would break the client (S-DEL-04 as amended). */
  withholdReferenced(names: Iterable<string>, view: View): ReadonlySet<string> {
    const withheld = new Set<string>();
    if (this.#removals !== "when-unreferenced") return withheld;
    for (const name of names) {
      if (!view.refersTo(this.traits.type, name)) continue;
      withheld.add(name);
      this.#referenced.add(name);
    }
    return withheld;
  }

  get withholdsRemovals(): boolean {
    return this.#referenced.size > 0;
  }

  /** Withheld names that nothing refers to any more, and those that exist again. */
  #releasedIn(view: View): readonly string[] {
    const { type } = this.traits;
    return [...this.#referenced].filter((name) => !view.refersTo(type, name) || view.holder(type, name) !== undefined);
  }

  #release(view: View): void {
    if (this.#referenced.size === 0) return;
    for (const name of this.#releasedIn(view)) {
      this.#referenced.delete(name);
      this.sentState.sentOutOfOrder.set(name, somethingElse);
    }
  }

  get #removals(): "at-once" | "when-unreferenced" | "never" {
    return forKind(this.#options.dialect.deltaRemovals, this.traits.kind);
  }

  get #hasOwnRemovals(): boolean {
    return this.#removals !== "at-once";
  }

  #whole(body: Body): readonly PendingResponse[] {
    return [{ body, isInOrder: true, news: body.segments.map((segment) => segment.puts) }];
  }

  #answer(
    news: DeltaResponseBuilder,
    current: CurrentView,
    how: { isInTurn?: boolean; mustAnswer?: boolean; newcomers?: ReadonlySet<string> } = {},
  ): readonly PendingResponse[] {
    const { isInTurn = true, newcomers } = how;
    if (isInTurn && this.#hasOwnRemovals) {
      const deleted = [...news.removed].filter((name) => !news.asked.has(name));
      const isNeverTold = this.#removals === "never";
      const withheld = isNeverTold ? deleted : this.withholdReferenced(deleted, current.view);
      for (const name of withheld) news.removed.delete(name);
    }
    const puts = [...news.puts.values()].map((put) => current.answering(put, this.subscription));
    const segment = news.segment(puts);
    if (isEmpty(segment) && how.mustAnswer !== true) return [];
    const body = current.ownBody("delta", this.traits.type, segment);
    return [{ body, isInOrder: isInTurn, news: [segment.puts], asked: news.asked, newToClient: newcomers }];
  }

  #advance(current: CurrentView, answers: readonly PendingResponse[]): readonly PendingResponse[] {
    this.sentState.advance(current.toPosition());
    this.#first.abandon();
    if (this.#terms.unsubscribed.size > 0) this.#terms.unsubscribed.clear();
    this.#leftOver = 0;
    return answers;
  }

  #noNews(): DeltaResponseBuilder {
    return new DeltaResponseBuilder(this.#options.dialect, this.traits);
  }
}

/** Whether a request says more than an ACK or a NACK. */
function saysMore({ subscribe, unsubscribe, initialVersions, hasLocators }: DeltaRequest): boolean {
  return subscribe.length > 0 || unsubscribe.length > 0 || initialVersions.size > 0 || hasLocators === true;
}

function isEmpty(segment: Segment): boolean {
  return segment.puts.length === 0 && segment.removed.length === 0 && segment.missing.length === 0;
}
