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
import type { CurrentView } from "../cache/current-view.ts";
import { noPendingRemovals, type PendingRemovals } from "../cache/pending-removals.ts";
import type { PendingResource } from "../cache/shared-selections.ts";
import { bytesOfLongVersion, NO_SUCH_VERSION } from "../memory/kept-version.ts";
import { SotwSubscription } from "../subscription/sotw-subscription.ts";
import { classifyChange, Subscription } from "../subscription/subscription.ts";
import { FirstSelection } from "./first-selection.ts";
import type { HeldBackNames } from "./held-back.ts";
import { Replacements, withWaiting } from "./replacements.ts";
import { SentState } from "./sent-state.ts";
import { SotwTerms } from "./sotw-terms.ts";
import type { ClassifiedRequest, FlushBounds, PendingResponse, TypeStream, TypeStreamOptions } from "./type-stream.ts";
import { type AbsenceBounds, UntoldAbsences } from "./untold-absences.ts";

/** What an answer leaves out. */
interface SotwBounds extends Pick<AbsenceBounds, "isAwaited"> {
  readonly heldBack: HeldBackNames;
}

/** The State of the World variant of one type on one stream. */
export class SotwTypeStream implements TypeStream {
  readonly traits: TypeTraits;
  readonly subscription: Subscription;
  readonly deliveries: Deliveries;
  readonly sentState: SentState;
  readonly pendingRemovals: PendingRemovals = noPendingRemovals;
  readonly untoldAbsences: UntoldAbsences = new UntoldAbsences();
  readonly ttl: TtlVerdict;
  readonly #options: TypeStreamOptions;
  readonly #names: SotwSubscription;
  readonly #first: FirstSelection;
  readonly #terms: SotwTerms;
  readonly #replacements = new Replacements();
  #isOpen = false;
  /** The version of the request that opened the type; once that is answered, only whether there was one. */
  #resumedVersion: string | undefined;
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
    this.#terms = new SotwTerms(traits, this.subscription, this.sentState);
  }

  get namesAskedFor(): number {
    return this.subscription.counted + this.#names.namesBeside;
  }

  get namesKept(): number {
    return this.deliveries.namesKept;
  }

  get saidBytes(): number {
    return this.deliveries.reasonBytes + bytesOfLongVersion(this.#resumedVersion);
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

  onRequest(request: DiscoveryRequest): ClassifiedRequest {
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
    return { as: "stale", anomaly: "stale-nonce" };
  }

  resend(names: ReadonlySet<string>): boolean {
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

  isSent(name: string, current: CurrentView): boolean {
    return this.sentState.isSent(name, current);
  }

  removesAny(current: CurrentView): boolean {
    return this.#replacements.isAnyRemovalWaiting || this.sentState.removesAny(current);
  }

  pendingResources(current: CurrentView): Iterable<PendingResource> {
    return this.sentState.pendingResources(current);
  }

  get canHoldBack(): boolean {
    return this.traits.terms === undefined && this.sentState.position !== undefined;
  }

  get canTellTargets(): boolean {
    return this.traits.terms === undefined && (this.canHoldBack || this.sentState.sentUpTo === undefined);
  }

  get canRelist(): boolean {
    return this.deliveries.lastSent !== undefined;
  }

  get heldBackFrom(): number {
    return this.sentState.heldBackFrom;
  }

  next(current: CurrentView, flush: FlushBounds): readonly PendingResponse[] {
    const { heldBack, absences } = flush;
    let bounds: AbsenceBounds | undefined;
    const isAwaited = (name: string): boolean => {
      bounds ??= absences();
      return bounds.isAwaited(name);
    };
    if (this.sentState.sentUpTo === undefined) return this.#firstAnswer(current, { heldBack, isAwaited });
    if (this.deliveries.isBlocked && !this.sentState.resendsAll) {
      if (this.sentState.pendingNames.size === 0) return [];
      if (!this.traits.isFullState) return this.#outOfTurn(current, { heldBack, isAwaited });
    }
    if (this.#isInSync(this.sentState.sentUpTo, current.view)) return [];
    return this.traits.isFullState
      ? this.#fullState(this.sentState.sentUpTo, current, flush)
      : this.#changed(this.sentState.sentUpTo, current, { heldBack, isAwaited });
  }

  isWaiting(view: View): boolean {
    if (this.sentState.sentUpTo === undefined || !this.deliveries.isBlocked) return false;
    return !isStill(this.sentState.sentUpTo, view, this.traits.type);
  }

  /** The first request of a type on a stream is a new subscription whatever it carries (S-REC-04). */
  #open(request: SotwRequest): ClassifiedRequest {
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
  #honourSpontaneous(request: SotwRequest): ClassifiedRequest {
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
  #settlePart(request: SotwRequest, { nonce, body }: Delivery): ClassifiedRequest {
    this.#names.doubt(request.names);
    const error = this.#errorIn(request, body.version);
    if (error === undefined) return { as: "ack", acked: this.deliveries.ack(nonce) };
    return { as: "nack", nacked: this.#nack(nonce, error) };
  }

  /** Books a NACK; names unsubscribed from before it came do not count as rejected. */
  #nack(nonce: string, error: Status): ClassifiedRequest["nacked"] {
    const delivery = this.deliveries.nack(nonce, error, this.subscription.scope);
    this.deliveries.forgive([], this.subscription);
    return delivery && { delivery, error };
  }

  #errorIn({ error, versionInfo }: SotwRequest, sent: string | undefined): Status | undefined {
    const isOtherVersion = this.#options.dialect.nackByVersion && versionInfo !== sent;
    return error ?? (isOtherVersion ? { code: 0, message: "the client kept its version" } : undefined);
  }

  #settle(request: SotwRequest, nonce: string): ClassifiedRequest {
    const { namesBeside: before } = this.#names;
    const renamed = this.#rename(request);
    const error = this.#errorIn(request, this.deliveries.lastSent?.body.version);
    if (error === undefined) {
      const acked = this.deliveries.ack(nonce);
      return {
        as: acked === undefined ? renamed : "ack",
        acked,
        isOnlyAck: renamed === "repeat" && this.#names.namesBeside <= before,
      };
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
    if (change.asked.length === this.subscription.names.size)
      this.sentState.askAll(this.subscription.names, hadNothing);
    else for (const name of change.asked) this.sentState.ask(name, hadNothing);
    if (this.traits.isFullState && change.asked.length > 0) this.#mayArriveGone ||= this.#mayBring(change.asked);
    this.sentState.resendsAll ||= change.joinedWildcard || (isWildcardAgain && this.subscription.isWildcard);
    if (change.dropped.length > 0 || change.leftWildcard) {
      this.deliveries.forgive(change.dropped, this.subscription);
      this.#forgetUncovered();
    }
    return classifyChange(change);
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
      if (!isWildcard && !this.subscription.isNamed(name)) this.sentState.forget(name);
  }

  #isInSync(position: Position, view: View): boolean {
    const hasStayed = isStill(position, view, this.traits.type);
    return hasStayed && this.sentState.isPlain && !this.sentState.resendsAll;
  }

  #firstAnswer(current: CurrentView, { heldBack, isAwaited }: SotwBounds): readonly PendingResponse[] {
    const { type, kind } = this.traits;
    const mayBeSkipped = this.subscription.isSoleWildcard && forKind(this.#options.dialect.resumeSkip, kind);
    // A resource that may have expired meanwhile is sent whatever the version (client-behaviours E4).
    if (mayBeSkipped && current.ttls === "left-off" && this.#resumedVersion === current.view.typeVersion(type))
      return this.#advance(current, []);
    if (this.#options.isUnknown) return this.#advance(current, []);
    if (heldBack.size > 0) return this.#firstBut(current, heldBack);
    const found = this.#first.find(current);
    if (found === "paused") return [];
    if (this.subscription.isSoleWildcard) {
      const body = current.wholeBody("sotw", type);
      return this.#advance(current, [{ body, isInOrder: true, news: body.segments.map((segment) => segment.puts) }]);
    }
    const { puts, removed } = found ?? current.select(type, this.subscription);
    const placeholders = this.#terms.placeholders(removed, current, isAwaited);
    if (placeholders.length > 0) return this.#advance(current, [this.#own(current, [...puts, ...placeholders])]);
    // A reconnecting client may hold deleted resources; for a full-state type an empty response removes them.
    const mayHoldGone = this.traits.isFullState && this.#resumedVersion !== undefined;
    if (puts.length === 0 && !this.sentState.resendsAll && !mayHoldGone) return this.#advance(current, []);
    return this.#advance(current, [this.#selected(current, puts, [puts])]);
  }

  /** The first answer, with held-back resources replaced or left out. */
  #firstBut(current: CurrentView, heldBack: HeldBackNames): readonly PendingResponse[] {
    const { puts } = current.select(this.traits.type, this.subscription);
    const sent = this.sentState.holdBack(heldBack, current);
    this.#advance(current, []);
    for (const name of heldBack.keys()) this.sentState.sentOutOfOrder.set(name, sent.get(name));
    const instead = puts.flatMap((put) => (heldBack.has(put.name) ? (heldBack.get(put.name)?.resource ?? []) : [put]));
    return instead.length === 0 ? [] : [this.#own(current, instead)];
  }

  /** All covered resources, if one of them changed or was requested (S-RES-03, S-RES-04). */
  #fullState(position: Position, current: CurrentView, flush: FlushBounds): readonly PendingResponse[] {
    const { type } = this.traits;
    if (flush.heldBack.size + this.sentState.sentOutOfOrder.size > 0) return this.#fullBut(position, current, flush);
    const asked = [...this.sentState.pendingNames.keys()].flatMap((term) => this.#terms.find(current.view, term));
    const changes = current.selectSince(position, type, this.subscription);
    const isChanged = changes.puts.length > 0 || changes.removed.length > 0;
    const isAsked = asked.length > 0 || this.sentState.resendsAll || this.#mayArriveGone;
    if (!isChanged && !isAsked) return this.#advance(current, []);
    const askedFor = isAsked ? this.sentState.pendingNames : undefined;
    // A client that joins a wildcard is sent unchanged resources for the first time.
    const news = this.sentState.resendsAll ? undefined : [changes.puts, asked];
    if (this.subscription.isSoleWildcard) {
      const body = current.wholeBody("sotw", type);
      const told = news ?? body.segments.map((segment) => segment.puts);
      return this.#advance(current, [{ body, isInOrder: true, news: told, asked: askedFor }]);
    }
    const { puts } = current.select(type, this.subscription);
    return this.#advance(current, [this.#selected(current, puts, news ?? [puts], askedFor)]);
  }

  /** The full state, with each held-back resource replaced by its target or by what the client was last sent. */
  #fullBut(
    position: Position,
    current: CurrentView,
    { heldBack, hasPendingRemovals = false }: FlushBounds,
  ): readonly PendingResponse[] {
    const { type } = this.traits;
    // As long as nothing else changes, nothing is looked at.
    const mayBeStill = this.traits.kind === "cds" && !this.#mayArriveGone && !hasPendingRemovals;
    if (mayBeStill && this.sentState.holdsOnly(heldBack, current.view)) {
      this.sentState.catchUp(current.revision);
      return [];
    }
    const isNew = current.newNamesSince(position, type);
    const segments = this.deliveries.lastSent?.body.segments ?? [];
    const sent = new Map(segments.flatMap((segment) => segment.puts.map((put) => [put.name, put] as const)));
    const isAsked = this.sentState.pendingNames.size > 0 || this.sentState.resendsAll || this.#mayArriveGone;
    const { pendingNames: asked } = this.sentState;
    const selected = current.select(type, this.subscription).puts;
    const present = new Set(selected.map(({ name }) => name));
    const deleted = [...sent.values()].filter((put) => !present.has(put.name) && this.subscription.covers(put));
    // A Cluster replaces no other: the order of their removals is that of what uses them.
    const waiting =
      this.traits.kind === "cds"
        ? []
        : this.#replacements.hold({
            removed: deleted.map(({ name }) => name),
            put: selected.flatMap((put) => (current.isSame(put, sent.get(put.name)) ? [] : [put.name])),
            heldBack,
            revision: current.revision,
          });
    const held = withWaiting(heldBack, waiting);
    let sum = 0n;
    const shown = selected.flatMap((put): readonly Resource[] => {
      if (!held.has(put.name)) return [put];
      const instead = held.get(put.name)?.resource ?? sent.get(put.name);
      sum = addSums(addSums(sum, put.sum), instead?.sum ?? 0n);
      return instead === undefined ? [] : [instead];
    });
    const kept = deleted.filter(({ name }) => held.has(name));
    for (const put of kept) sum = addSums(sum, put.sum);
    const puts = [...shown, ...kept];
    const marks = this.sentState.holdBack(held, current);
    const pending = this.#terms.heldBack(held, current.view);
    this.#advance(current, []);
    for (const put of kept) this.sentState.sentOutOfOrder.set(put.name, markOf(put, current.ttls));
    for (const [name, mark] of marks) this.sentState.sentOutOfOrder.set(name, mark);
    for (const term of pending) this.sentState.ask(term);
    const changed = puts.filter((put) => !current.isSame(put, sent.get(put.name)));
    if (puts.length === sent.size && changed.length === 0 && !isAsked) return [];
    // What is there again may equal what was listed until its removal.
    const again = puts.filter(({ name }) => isNew.has(name));
    const answer = { ...this.#own(current, puts), news: isAsked ? [puts] : [changed, again] };
    // A content other than the present one gets a version of its own.
    const body = sum === 0n ? answer.body : { ...answer.body, version: current.view.typeVersionWith(type, sum) };
    return [{ ...answer, body, ...(isAsked && { asked }) }];
  }

  /**
   * For a type that is not full-state: only resources that changed or were requested (S-RES-05); removals cannot be
   * expressed.
   */
  #changed(position: Position, current: CurrentView, { heldBack, isAwaited }: SotwBounds): readonly PendingResponse[] {
    const { type } = this.traits;
    if (this.sentState.resendsAll && this.subscription.isSoleWildcard) {
      const body = current.wholeBody("sotw", type);
      return this.#advance(current, [{ body, isInOrder: true, news: body.segments.map((segment) => segment.puts) }]);
    }
    if (this.sentState.resendsAll) {
      const { puts } = current.select(type, this.subscription);
      return this.#advance(current, [this.#selected(current, puts, [puts])]);
    }
    const { puts } = current.selectSince(position, type, this.subscription);
    this.#terms.notePut(puts);
    if (this.sentState.isPlain && heldBack.size === 0) {
      if (puts.length === 0) return this.#advance(current, []);
      const make = (): Segment => ({ puts, removed: [], missing: [] });
      const body = current.selectionBody("sotw", type, this.subscription, make, position);
      return this.#advance(current, [{ body, isInOrder: true, news: [puts] }]);
    }
    const byName = new Map<string, Resource>();
    for (const put of puts) if (!this.sentState.sentOutOfOrder.has(put.name)) byName.set(put.name, put);
    for (const [name, sent] of this.sentState.sentOutOfOrder) {
      const now = current.view.holder(type, name);
      const isCovered = now !== undefined && this.subscription.covers(now);
      if (isCovered && !current.isSame(now, sent)) byName.set(name, now);
    }
    for (const found of this.#terms.findUnanswered(current.view)) byName.set(found.name, found);
    for (const found of this.#terms.findPending(current, isAwaited)) byName.set(found.name, found);
    for (const [name, target] of heldBack) {
      if (target === undefined) byName.delete(name);
      else byName.set(name, target.resource);
    }
    const sent = this.sentState.holdBack(heldBack, current);
    const asked = this.#terms.heldBack(heldBack, current.view);
    this.#advance(current, []);
    for (const [name, mark] of sent) this.sentState.sentOutOfOrder.set(name, mark);
    for (const term of asked) this.sentState.ask(term);
    return byName.size === 0 ? [] : [this.#own(current, [...byName.values()])];
  }

  #outOfTurn(current: CurrentView, { heldBack, isAwaited }: SotwBounds): readonly PendingResponse[] {
    const found = [...new Set(this.#terms.findPending(current, isAwaited))].filter(({ name }) => !heldBack.has(name));
    const asked = this.#terms.heldBack(heldBack, current.view);
    this.sentState.answerPending((term) => this.#terms.find(current.view, term).length > 0);
    for (const term of asked) this.sentState.ask(term);
    if (found.length === 0) return [];
    for (const { name } of found) this.sentState.noteOutOfOrder(name, current);
    return [{ ...this.#own(current, found), isInOrder: false }];
  }

  #own(current: CurrentView, puts: readonly Resource[]): PendingResponse {
    const body = current.ownBody("sotw", this.traits.type, { puts, removed: [], missing: [] });
    return { body, isInOrder: true, news: [puts] };
  }

  #selected(
    current: CurrentView,
    puts: readonly Resource[],
    news: PendingResponse["news"],
    asked?: PendingResponse["asked"],
  ): PendingResponse {
    const { type } = this.traits;
    const make = (): Segment => ({ puts, removed: [], missing: [] });
    return {
      body: current.selectionBody("sotw", type, this.subscription, make, undefined),
      isInOrder: true,
      news,
      asked,
    };
  }

  /** Advances the position: the answers bring the client up to it, or there is nothing to send. */
  #advance(current: CurrentView, answers: readonly PendingResponse[]): readonly PendingResponse[] {
    this.sentState.advance(current.toPosition());
    if (this.#resumedVersion !== undefined) this.#resumedVersion = NO_SUCH_VERSION;
    this.#first.abandon();
    this.#mayArriveGone = false;
    return answers;
  }
}
