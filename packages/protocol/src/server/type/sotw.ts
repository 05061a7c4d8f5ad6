import { forKind, isWildcardType } from "../../dialect/dialect.ts";
import type { TtlVerdict } from "../../dialect/ttl.ts";
import type { Segment } from "../../message/body.ts";
import type { DiscoveryRequest, SotwRequest } from "../../message/request.ts";
import type { Status } from "../../message/status.ts";
import type { Resource } from "../../resource/resource.ts";
import { markOf } from "../../resource/ttl.ts";
import type { TypeTraits } from "../../resource/type-traits.ts";
import { addSums } from "../../resource/version.ts";
import { isStill, type Position } from "../../state/difference.ts";
import type { View } from "../../state/view.ts";
import { Deliveries, type Delivery } from "../ack/delivery.ts";
import { nothingHeldOver, type PendingRemovals } from "../cache/pending-removals.ts";
import type { SharedResponses } from "../cache/shared-responses.ts";
import type { Upcoming } from "../cache/shared-selections.ts";
import { SotwSubscription } from "../subscription/sotw-subscription.ts";
import { Subscription, understandChange } from "../subscription/subscription.ts";
import { FirstSelection } from "./first-selection.ts";
import type { HeldBackNames } from "./held-back.ts";
import { SentState } from "./sent-state.ts";
import type { FlushBounds, PendingResponse, TypeStream, TypeStreamOptions, Understood } from "./type-stream.ts";

/** The State of the World variant of one type on one stream. */
export class SotwTypeStream implements TypeStream {
  readonly traits: TypeTraits;
  readonly subscription: Subscription;
  readonly deliveries: Deliveries;
  readonly sentState: SentState;
  readonly pendingRemovals: PendingRemovals = nothingHeldOver;
  readonly ttl: TtlVerdict;
  readonly #options: TypeStreamOptions;
  readonly #names: SotwSubscription;
  readonly #first: FirstSelection;
  #isOpen = false;
  #resumedVersion: string | undefined;
  /**
   * Names whose last state sent was a placeholder: another placeholder may follow, because the client loses nothing by
   * it.
   */
  readonly #placeheld = new Set<string>();
  /**
   * A response in flight contains a name that was unsubscribed from and subscribed to again; it may be deleted by now.
   */
  #mayArriveGone = false;

  constructor(options: TypeStreamOptions) {
    const { traits, dialect, ttl } = options;
    this.traits = traits;
    this.ttl = ttl;
    this.#options = options;
    this.deliveries = new Deliveries(traits.isFullState ? "whole" : "by-name");
    this.subscription = new Subscription({
      legacyWildcard: dialect.ignoreHints || isWildcardType(dialect, traits.kind, "sotw"),
      wildcardSticky: dialect.wildcardSticky,
      terms: traits.terms,
    });
    this.sentState = new SentState(traits.type, this.subscription);
    this.#names = new SotwSubscription(this.subscription, dialect);
    this.#first = new FirstSelection(traits.type, this.subscription);
  }

  get isPaused(): boolean {
    return this.#first.isPaused;
  }

  get position(): Position | undefined {
    return this.sentState.sentUpTo;
  }

  get needsChangesSince(): Position | undefined {
    return this.sentState.sentUpTo ?? this.#first.start;
  }

  onRequest(request: DiscoveryRequest): Understood {
    if (request.kind !== "sotw") throw new Error("invariant: a delta request on a State of the World stream");
    if (!this.#isOpen) return this.#open(request);
    if (request.nonce === undefined) return this.#honourSpontaneous(request);
    if (request.nonce === this.deliveries.lastSent?.nonce) return this.#settle(request, request.nonce);
    const part = this.deliveries.earlierPart(request.nonce);
    if (part !== undefined) return this.#settlePart(request, part);
    // After it NACKed a newer response, Envoy's unified mux goes on with the last good nonce (client-behaviours A7).
    const isLastGood = this.deliveries.isRefused && request.nonce === this.deliveries.lastAcked?.nonce;
    if (isLastGood && request.error === undefined) return { as: this.#rename(request) };
    if (this.#options.dialect.staleNonce === "honour-names") this.#rename(request);
    else this.#names.doubt(request.names);
    return { as: "stale", oddity: "stale-nonce" };
  }

  resend(names: Iterable<string>): boolean {
    return this.sentState.sentUpTo !== undefined && this.sentState.resend(names);
  }

  standAt(position: Position): void {
    this.sentState.sentUpTo ??= position;
  }

  hasNews(view: View): boolean {
    return this.sentState.hasNews(view);
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

  get canHoldBack(): boolean {
    return this.traits.terms === undefined && this.sentState.position !== undefined;
  }

  get canTellTargets(): boolean {
    return this.traits.terms === undefined && (this.canHoldBack || this.sentState.sentUpTo === undefined);
  }

  get heldBackFrom(): number {
    return this.sentState.heldBackFrom;
  }

  next(view: View, responses: SharedResponses, { heldBack }: FlushBounds): readonly PendingResponse[] {
    const here: Position = { view, revision: responses.revision };
    if (this.sentState.sentUpTo === undefined) return this.#firstAnswer(here, responses, heldBack);
    if (this.deliveries.isBlocked && !this.sentState.resendsAll) {
      if (this.sentState.pendingNames.size === 0) return [];
      if (!this.traits.isFullState) return this.#outOfTurn(here, responses, heldBack);
    }
    if (this.#isInSync(this.sentState.sentUpTo, here)) return [];
    return this.traits.isFullState
      ? this.#fullState(this.sentState.sentUpTo, here, responses, heldBack)
      : this.#changed(this.sentState.sentUpTo, here, responses, heldBack);
  }

  isWaiting(view: View): boolean {
    if (this.sentState.sentUpTo === undefined || !this.deliveries.isBlocked) return false;
    return !isStill(this.sentState.sentUpTo, view, this.traits.type);
  }

  /** The first request of a type on a stream is a new subscription whatever it carries (S-REC-04). */
  #open(request: SotwRequest): Understood {
    this.#isOpen = true;
    this.#resumedVersion = this.#options.dialect.resumeVersion ? request.versionInfo : undefined;
    this.#rename(request);
    this.sentState.resendsAll = this.subscription.asksForAll;
    return { as: "initial" };
  }

  /**
   * A request without a nonce in mid-stream changes names, and is no ACK. A client that used nonces before and now has
   * none forgot the type, so all names that it lists are new to it (client-behaviours 3.3).
   */
  #honourSpontaneous(request: SotwRequest): Understood {
    const as = this.#rename(request);
    if (this.deliveries.wasAnswered && this.deliveries.pending.length === 0) {
      for (const name of this.subscription.names) this.sentState.ask(name);
      this.sentState.resendsAll ||= this.subscription.asksForAll;
    }
    return { as };
  }

  /**
   * Settles one part of the newest answer, other than the last. Its names are ignored: only the request for the last
   * part has the names that count.
   */
  #settlePart(request: SotwRequest, { nonce, body }: Delivery): Understood {
    this.#names.doubt(request.names);
    const error = this.#errorIn(request, body.version);
    if (error === undefined) return { as: "ack", acked: this.deliveries.ack(nonce) };
    return { as: "nack", nacked: this.#nack(nonce, error) };
  }

  /** Books a NACK; names unsubscribed from before it came do not count as rejected. */
  #nack(nonce: string, error: Status): Understood["nacked"] {
    const delivery = this.deliveries.nack(nonce, error);
    this.deliveries.forgive([], this.subscription);
    return delivery && { delivery, error };
  }

  #errorIn({ error, versionInfo }: SotwRequest, sent: string | undefined): Status | undefined {
    const isOtherVersion = this.#options.dialect.nackByVersion && versionInfo !== sent;
    return error ?? (isOtherVersion ? { code: 0, message: "the client kept its version" } : undefined);
  }

  #settle(request: SotwRequest, nonce: string): Understood {
    const renamed = this.#rename(request);
    const error = this.#errorIn(request, this.deliveries.lastSent?.body.version);
    if (error === undefined) {
      const acked = this.deliveries.ack(nonce);
      return { as: acked === undefined ? renamed : "ack", acked, isOnlyAck: renamed === "repeat" };
    }
    const older = this.#olderToBlame(request);
    const nacked = this.#nack(older ?? nonce, error);
    if (older !== undefined) return { as: "nack", acked: this.deliveries.ack(nonce), nacked };
    this.deliveries.settleOlder();
    return { as: nacked === undefined ? renamed : "nack", nacked };
  }

  /**
   * An Envoy that withheld its ACKs answers several responses with one request: an error beside the newest version
   * means that the newest was applied and an older one was not (client-behaviours A16).
   */
  #olderToBlame(request: SotwRequest): string | undefined {
    const { dialect, isAggregated } = this.#options;
    if (!isAggregated || !forKind(dialect.nackMayBeOfOlder, this.traits.kind)) return undefined;
    const { pending } = this.deliveries;
    const newest = pending.at(-1);
    if (newest === undefined || request.versionInfo !== newest.body.version) return undefined;
    return pending.at(-2)?.nonce;
  }

  #rename(request: SotwRequest): "subscribe" | "unsubscribe" | "repeat" {
    const { change, again, isWildcardAgain } = this.#names.list(request);
    for (const term of again) this.sentState.ask(term);
    if (change === undefined) {
      this.sentState.resendsAll ||= isWildcardAgain;
      return "repeat";
    }
    const hadNothing = this.#resumedVersion === undefined || this.sentState.sentUpTo !== undefined;
    for (const name of change.asked) this.sentState.ask(name, hadNothing);
    if (this.traits.isFullState && change.asked.length > 0) this.#mayArriveGone ||= this.#mayBring(change.asked);
    this.sentState.resendsAll ||= change.joinedWildcard || (isWildcardAgain && this.subscription.isWildcard);
    if (change.dropped.length > 0 || change.leftWildcard) {
      this.deliveries.forgive(change.dropped, this.subscription);
      this.#forgetUncovered();
    }
    return understandChange(change);
  }

  /** With parameters, any unsettled response may contain the names. */
  #mayBring(asked: readonly string[]): boolean {
    return this.subscription.speaksOfParameters ? this.deliveries.pending.length > 0 : this.deliveries.mayBring(asked);
  }

  #forgetUncovered(): void {
    const { isWildcard, names } = this.subscription;
    for (const terms of [this.sentState.pendingNames.keys(), this.sentState.unansweredNames])
      for (const term of terms) if (!isWildcard && !names.has(term)) this.sentState.giveUp(term);
    for (const name of this.sentState.sentOutOfOrder.keys())
      if (!isWildcard && !this.subscription.isNamed(name)) this.sentState.sentOutOfOrder.delete(name);
  }

  #isInSync(position: Position, here: Position): boolean {
    const hasStayed = isStill(position, here.view, this.traits.type);
    return hasStayed && this.sentState.isPlain && !this.sentState.resendsAll;
  }

  #firstAnswer(here: Position, responses: SharedResponses, heldBack: HeldBackNames): readonly PendingResponse[] {
    const { type, kind } = this.traits;
    const mayBeSkipped = this.subscription.isSoleWildcard && forKind(this.#options.dialect.resumeSkip, kind);
    // A resource that may have expired meanwhile is sent whatever the version (client-behaviours E4).
    if (mayBeSkipped && responses.ttls === "left-off" && this.#resumedVersion === here.view.typeVersion(type))
      return this.#advance(here, []);
    if (this.#options.isUnknown) return this.#advance(here, []);
    if (heldBack.size > 0) return this.#firstBut(here, responses, heldBack);
    const found = this.#first.find(here, responses);
    if (found === "paused") return [];
    if (this.subscription.isSoleWildcard) {
      const body = responses.bodies.whole("sotw", here.view, type);
      return this.#advance(here, [{ body, isInOrder: true, news: body.segments.map((segment) => segment.puts) }]);
    }
    const { puts, removed } = found ?? responses.selections.all(here.view, type, this.subscription);
    const placeholders = this.#placeholders(removed, here.view, responses);
    if (placeholders.length > 0) return this.#advance(here, [this.#own(here, responses, [...puts, ...placeholders])]);
    // A reconnecting client may hold deleted resources; for a full-state type an empty response removes them.
    const mayHoldGone = this.traits.isFullState && this.#resumedVersion !== undefined;
    if (puts.length === 0 && !this.sentState.resendsAll && !mayHoldGone) return this.#advance(here, []);
    return this.#advance(here, [this.#selected(here, responses, puts, [puts])]);
  }

  /** The first answer, with held-back resources replaced or left out. */
  #firstBut(here: Position, responses: SharedResponses, heldBack: HeldBackNames): readonly PendingResponse[] {
    const { puts } = responses.selections.all(here.view, this.traits.type, this.subscription);
    const told = this.sentState.holdBack(heldBack, here.view, responses);
    this.#advance(here, []);
    for (const name of heldBack.keys()) this.sentState.sentOutOfOrder.set(name, told.get(name));
    const instead = puts.flatMap((put) => (heldBack.has(put.name) ? (heldBack.get(put.name)?.resource ?? []) : [put]));
    return instead.length === 0 ? [] : [this.#own(here, responses, instead)];
  }

  /** All covered resources, if one of them changed or was requested (S-RES-03, S-RES-04). */
  #fullState(
    position: Position,
    here: Position,
    responses: SharedResponses,
    heldBack: HeldBackNames,
  ): readonly PendingResponse[] {
    const { type } = this.traits;
    if (heldBack.size + this.sentState.sentOutOfOrder.size > 0) return this.#fullBut(here, responses, heldBack);
    const asked = [...this.sentState.pendingNames.keys()].flatMap((term) => this.#find(here.view, term));
    const changes = responses.selections.ofChanges(position, here.view, type, this.subscription);
    const isChanged = changes.puts.length > 0 || changes.removed.length > 0;
    const isAsked = asked.length > 0 || this.sentState.resendsAll || this.#mayArriveGone;
    if (!isChanged && !isAsked) return this.#advance(here, []);
    const asks: Pick<PendingResponse, "asked"> = isAsked ? { asked: this.sentState.pendingNames } : {};
    // A client that joins a wildcard is sent unchanged resources for the first time.
    const news = this.sentState.resendsAll ? undefined : [changes.puts, asked];
    if (this.subscription.isSoleWildcard) {
      const body = responses.bodies.whole("sotw", here.view, type);
      return this.#advance(here, [
        { ...asks, body, isInOrder: true, news: news ?? body.segments.map((segment) => segment.puts) },
      ]);
    }
    const { puts } = responses.selections.all(here.view, type, this.subscription);
    return this.#advance(here, [{ ...asks, ...this.#selected(here, responses, puts, news ?? [puts]) }]);
  }

  /** The full state, with each held-back resource replaced by its target or by what the client was last sent. */
  #fullBut(here: Position, responses: SharedResponses, heldBack: HeldBackNames): readonly PendingResponse[] {
    const { type } = this.traits;
    const segments = this.deliveries.lastSent?.body.segments ?? [];
    const told = new Map(segments.flatMap((segment) => segment.puts.map((put) => [put.name, put] as const)));
    const isAsked = this.sentState.pendingNames.size > 0 || this.sentState.resendsAll || this.#mayArriveGone;
    const { pendingNames: asked } = this.sentState;
    let sum = 0n;
    const puts = responses.selections
      .all(here.view, type, this.subscription)
      .puts.flatMap((put): readonly Resource[] => {
        if (!heldBack.has(put.name)) return [put];
        const instead = heldBack.get(put.name)?.resource ?? told.get(put.name);
        sum = addSums(addSums(sum, put.sum), instead?.sum ?? 0n);
        return instead === undefined ? [] : [instead];
      });
    const marks = this.sentState.holdBack(heldBack, here.view, responses);
    const waiting = this.#waitingAmong(heldBack, here.view);
    this.#advance(here, []);
    for (const [name, mark] of marks) this.sentState.sentOutOfOrder.set(name, mark);
    for (const term of waiting) this.sentState.ask(term);
    const isChanged = puts.length !== told.size || puts.some((put) => !responses.isSame(put, told.get(put.name)));
    if (!isChanged && !isAsked) return [];
    const answer = this.#own(here, responses, puts);
    // A content other than the present one gets a version of its own.
    const body = sum === 0n ? answer.body : { ...answer.body, version: here.view.typeVersionWith(type, sum) };
    return [{ ...answer, body, ...(isAsked && { asked }) }];
  }

  /**
   * For a type that is not full-state: only resources that changed or were requested (S-RES-05); removals cannot be
   * expressed.
   */
  #changed(
    position: Position,
    here: Position,
    responses: SharedResponses,
    heldBack: HeldBackNames,
  ): readonly PendingResponse[] {
    const { type } = this.traits;
    if (this.sentState.resendsAll && this.subscription.isSoleWildcard) {
      const body = responses.bodies.whole("sotw", here.view, type);
      return this.#advance(here, [{ body, isInOrder: true, news: body.segments.map((segment) => segment.puts) }]);
    }
    if (this.sentState.resendsAll) {
      const { puts } = responses.selections.all(here.view, type, this.subscription);
      return this.#advance(here, [this.#selected(here, responses, puts, [puts])]);
    }
    const { puts } = responses.selections.ofChanges(position, here.view, type, this.subscription);
    if (this.#placeheld.size > 0) for (const put of puts) this.#placeheld.delete(put.name);
    if (this.sentState.isPlain && heldBack.size === 0) {
      if (puts.length === 0) return this.#advance(here, []);
      const make = (): Segment => ({ puts, removed: [], missing: [] });
      const body = responses.bodies.ofSelection("sotw", here.view, type, this.subscription, make, position);
      return this.#advance(here, [{ body, isInOrder: true, news: [puts] }]);
    }
    const byName = new Map<string, Resource>();
    for (const put of puts) if (!this.sentState.sentOutOfOrder.has(put.name)) byName.set(put.name, put);
    for (const [name, told] of this.sentState.sentOutOfOrder) {
      const now = here.view.holder(type, name);
      const isCovered = now !== undefined && this.subscription.covers(now);
      if (isCovered && !responses.isSame(now, told)) byName.set(name, now);
    }
    for (const term of this.sentState.unansweredNames) {
      for (const found of this.#find(here.view, term)) byName.set(found.name, found);
    }
    for (const found of this.#findAsked(here.view, responses)) byName.set(found.name, found);
    for (const [name, target] of heldBack) {
      if (target === undefined) byName.delete(name);
      else byName.set(name, target.resource);
    }
    const told = this.sentState.holdBack(heldBack, here.view, responses);
    const asked = this.#waitingAmong(heldBack, here.view);
    this.#advance(here, []);
    for (const [name, mark] of told) this.sentState.sentOutOfOrder.set(name, mark);
    for (const term of asked) this.sentState.ask(term);
    return byName.size === 0 ? [] : [this.#own(here, responses, [...byName.values()])];
  }

  /** The requested terms whose resources are held back. */
  #waitingAmong(heldBack: HeldBackNames, view: View): readonly string[] {
    if (heldBack.size === 0) return [];
    const isUntold = ({ name }: Resource): boolean => heldBack.has(name) && heldBack.get(name) === undefined;
    return [...this.sentState.pendingNames.keys(), ...this.sentState.unansweredNames].filter((term) =>
      this.#find(view, term).some(isUntold),
    );
  }

  #outOfTurn(here: Position, responses: SharedResponses, heldBack: HeldBackNames): readonly PendingResponse[] {
    const found = [...new Set(this.#findAsked(here.view, responses))].filter(({ name }) => !heldBack.has(name));
    const asked = this.#waitingAmong(heldBack, here.view);
    for (const term of this.sentState.pendingNames.keys()) {
      if (this.#find(here.view, term).length === 0) this.sentState.unansweredNames.add(term);
      else this.sentState.unansweredNames.delete(term);
    }
    this.sentState.clearAsked();
    for (const term of asked) this.sentState.ask(term);
    if (found.length === 0) return [];
    for (const { name } of found) {
      const now = here.view.holder(this.traits.type, name);
      this.sentState.sentOutOfOrder.set(name, now && markOf(now, responses.ttls));
    }
    return [{ ...this.#own(here, responses, found), isInOrder: false }];
  }

  #findAsked(view: View, responses: SharedResponses): readonly Resource[] {
    const missing: string[] = [];
    const found = [...this.sentState.pendingNames.keys()].flatMap((term) => {
      const answers = this.#find(view, term);
      if (answers.length === 0) missing.push(term);
      for (const { name } of answers) this.#placeheld.delete(name);
      return answers;
    });
    return [...found, ...this.#placeholders(missing, view, responses)];
  }

  /** The resources that a term matches, without those that are no longer subscribed to. */
  #find(view: View, term: string): readonly Resource[] {
    return view.answersTo(this.traits.type, term).filter((found) => this.subscription.covers(found));
  }

  #placeholders(missing: readonly string[], view: View, responses: SharedResponses): readonly Resource[] {
    const placeholders: Resource[] = [];
    for (const name of missing) {
      const placeholder = responses.placeholder(this.traits, view, name);
      if (placeholder === undefined) continue;
      if (this.sentState.pendingNames.get(name) === true || this.#placeheld.has(name)) placeholders.push(placeholder);
    }
    for (const { name } of placeholders) this.#placeheld.add(name);
    return placeholders;
  }

  #own(here: Position, responses: SharedResponses, puts: readonly Resource[]): PendingResponse {
    const body = responses.bodies.own("sotw", here.view, this.traits.type, { puts, removed: [], missing: [] });
    return { body, isInOrder: true, news: [puts] };
  }

  #selected(
    here: Position,
    responses: SharedResponses,
    puts: readonly Resource[],
    news: PendingResponse["news"],
  ): PendingResponse {
    const { type } = this.traits;
    const make = (): Segment => ({ puts, removed: [], missing: [] });
    return {
      body: responses.bodies.ofSelection("sotw", here.view, type, this.subscription, make, undefined),
      isInOrder: true,
      news,
    };
  }

  /** Advances the position: the answers bring the client up to it, or there is nothing to send. */
  #advance(here: Position, answers: readonly PendingResponse[]): readonly PendingResponse[] {
    this.sentState.advance(here);
    this.#first.abandon();
    this.#mayArriveGone = false;
    return answers;
  }
}
