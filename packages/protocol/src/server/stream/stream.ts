import type { Choices } from "../../dialect/choice.ts";
import type { Dialect } from "../../dialect/dialect.ts";
import { explainDialect } from "../../dialect/explain.ts";
import { judgeTtl, ttlStreamOf } from "../../dialect/ttl.ts";
import type { DiscoveryRequest } from "../../message/request.ts";
import type { Node } from "../../node/node.ts";
import { sendingRank } from "../../resource/type-kinds.ts";
import type { TypeTraits } from "../../resource/type-traits.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import { isSamePosition, type Position } from "../../state/difference.ts";
import type { View } from "../../state/view.ts";
import { everyName, namesIn } from "../ack/body-names.ts";
import type { Delivery } from "../ack/delivery.ts";
import type { CurrentView } from "../cache/current-view.ts";
import { everythingRemovable, type Removable } from "../cache/pending-removals.ts";
import type { Conversion } from "../contract/conversion.ts";
import type { ServerEffect } from "../contract/effect.ts";
import type { StreamId, StreamOpened } from "../contract/event.ts";
import type { PlacedStream, ResourceState, StreamState, TypeState } from "../contract/inspect.ts";
import type { Standing, StragglerType } from "../contract/progress.ts";
import type { LazySet } from "../memory/lazy.ts";
import type { Placeable } from "../memory/pending-placements.ts";
import { DeferredRemovals } from "../order/deferred-removals.ts";
import type { Order } from "../order/order.ts";
import type { OrderedStream } from "../order/order-members.ts";
import { StreamOrder } from "../order/stream-order.ts";
import { StreamWaits, type WaitingType } from "../order/stream-waits.ts";
import type { ProgressMember } from "../progress/member.ts";
import type { Subscriber } from "../subscription/subscriber-index.ts";
import { takersLast, takersOf } from "../type/addresses-in-order.ts";
import { DeltaTypeStream } from "../type/delta.ts";
import { nothingHeldBack } from "../type/held-back.ts";
import type { HeldBackResource } from "../type/readonly-sent-state.ts";
import { SotwTypeStream } from "../type/sotw.ts";
import type { TypeStream } from "../type/type-stream.ts";
import type { AbsenceBounds } from "../type/untold-absences.ts";
import { Heartbeats } from "./heartbeat.ts";
import { type OwedNames, PendingResends } from "./pending-resends.ts";
import { restOfRejected } from "./rejected-rest.ts";
import { resourceStates } from "./resource-states.ts";
import { Sending } from "./sending.ts";
import { StreamErrors } from "./stream-errors.ts";
import { describeBehind, reachedBy, standingOf, type TypeProgress } from "./type-progress.ts";
import { typeState } from "./type-state.ts";
import { WithheldTypes } from "./withheld-types.ts";

/** What a stream knows from its first request. */
export interface Identity {
  readonly node: Node;
  readonly dialect: Dialect;
  /** The overrides behind the dialect, as shown to people. */
  readonly choices: Choices;
  /** The streams of one client, including this one; an aggregated stream is alone. */
  readonly siblings: Siblings;
  /** Converts bodies before they are sent; undefined: no conversion. */
  readonly conversion?: Conversion | undefined;
}

/** The streams of one client that share an order. */
export interface Siblings {
  readonly key: string;
  readonly streams: ReadonlySet<Stream>;
  /** Those on which something waits. */
  readonly waiting: LazySet<Stream>;
  readonly order: Order;
}

/** How far a type of a stream is. */
interface Reached {
  readonly position: Position | undefined;
  readonly heldBackFrom: number;
  readonly hasNews: boolean;
}

/** The result of a flush. */
export interface FlushResult {
  readonly effects: readonly ServerEffect[];
  /** Names to be resent on the node's other streams, by type, such as endpoints. */
  readonly owed: readonly OwedNames[];
  /** A comparison is not finished: the stream needs another flush. */
  readonly isUnfinished: boolean;
  /** Something was sent that other streams of this node may wait for. */
  readonly hasMoved: boolean;
}

/** One stream of a known node: a type stream per type, in the order in which types are sent. */
export class Stream implements OrderedStream, Subscriber, ProgressMember, Placeable {
  readonly opened: StreamOpened;
  readonly identity: Identity;
  /** The view of the node; another one after the node moved. */
  current: CurrentView;
  placedTo: number = Number.POSITIVE_INFINITY;
  readonly #types = new Map<TypeUrl, TypeStream>();
  #inOrder: readonly TypeStream[] = [];
  readonly #ordering: StreamOrder;
  readonly #waits: StreamWaits;
  readonly #errors: StreamErrors;
  readonly #sending: Sending;
  readonly #owed: PendingResends;
  readonly #beats = new Heartbeats();
  #withheld: WithheldTypes | undefined;
  #tellsTtls = false;
  #isSettled = false;

  constructor(opened: StreamOpened, identity: Identity, current: CurrentView) {
    this.opened = opened;
    this.identity = identity;
    const { dialect, siblings } = identity;
    this.#errors = new StreamErrors(opened, dialect);
    this.#ordering = new StreamOrder(siblings.order, opened, dialect);
    this.#waits = new StreamWaits(dialect, siblings.order, this.isAggregated);
    this.#sending = new Sending(opened.stream, identity);
    this.#owed = new PendingResends(dialect);
    this.current = current;
  }

  get types(): ReadonlyMap<TypeUrl, TypeStream> {
    return this.#types;
  }

  get subscribed(): readonly TypeStream[] {
    return this.#inOrder;
  }

  get view(): View {
    return this.current.view;
  }

  get node(): Node {
    return this.identity.node;
  }

  /** The newest revision up to which the client has everything; infinite: it has everything. */
  get reached(): number {
    if (this.#withheld !== undefined) return -1;
    let reached = Number.POSITIVE_INFINITY;
    for (const type of this.#inOrder) reached = Math.min(reached, reachedBy(this.#progressOf(type)));
    return reached;
  }

  standing(revision: number): Standing {
    if (this.#withheld !== undefined) return "pending";
    let standing: Standing = "deployed";
    for (const type of this.#inOrder) {
      const one = standingOf(this.#progressOf(type), revision);
      if (one === "pending") return one;
      if (one === "nacked") standing = one;
    }
    return standing;
  }

  behind(revision: number): readonly StragglerType[] {
    const withheld = this.#withheld;
    const types = this.#inOrder.filter(({ traits }) => withheld?.has(traits.type) !== true);
    const behind = types.flatMap((type) => describeBehind(this.#progressOf(type), revision, this.#waits) ?? []);
    return withheld === undefined ? behind : [...behind, ...withheld.behind()];
  }

  #progressOf(type: TypeStream): TypeProgress {
    return { type, view: this.view, isSettled: this.#isSettled, placedTo: this.placedTo };
  }

  /** How many names are subscribed to or listed as hints, over all types, as limits count them. */
  get namesAskedFor(): number {
    let count = 0;
    for (const type of this.#types.values()) count += type.namesAskedFor;
    return count;
  }

  /** How many names are kept beside those that are subscribed to, over all types, as limits count them. */
  get namesKept(): number {
    let count = this.#errors.namesKept;
    for (const type of this.#types.values()) count += type.namesKept;
    return count;
  }

  /** The memory of what the client said beside its nodes and names, over all types, in bytes. */
  get saidBytes(): number {
    let bytes = 0;
    for (const type of this.#types.values()) bytes += type.saidBytes;
    return bytes;
  }

  /** Whether every type was sent completely and nothing waits. */
  get isSettled(): boolean {
    return this.#isSettled;
  }

  /** Whether an answer takes several flushes and is not complete. */
  get isPaused(): boolean {
    return this.#inOrder.some((type) => type.isPaused);
  }

  /** The next flush has something to do. */
  unsettle(): void {
    this.#isSettled = false;
  }

  /**
   * If the stream is settled, advances all positions to a revision up to which nothing changed that it subscribes to, as
   * far as it may have that before it is placed.
   */
  catchUp(revision: number): void {
    if (this.#isSettled) for (const type of this.#inOrder) type.catchUp(Math.min(revision, this.placedTo));
  }

  /** A request of a type has to wait for the content of what it asks for. */
  withhold(type: TypeUrl, request: DiscoveryRequest, missing: readonly string[]): void {
    this.#withheld ??= new WithheldTypes();
    this.#withheld.set(type, request, missing);
  }

  /** Passes a request to the type stream of its type. */
  onRequest(request: DiscoveryRequest, traits: TypeTraits, isUnknown: boolean): readonly ServerEffect[] {
    if (this.#withheld?.end(traits.type) === true && this.#withheld.isEmpty) this.#withheld = undefined;
    const wasSettled = this.#isSettled;
    this.#isSettled = false;
    const type = this.#types.get(traits.type) ?? this.#open(traits, isUnknown);
    const classified = type.onRequest(request);
    this.#errors.onRequest(type, request);
    if (request.kind === "delta" && request.initialVersions.size > 0) this.#owed.resume(traits.type);
    if (classified.as === "initial") this.#ordering.meet(request, traits);
    type.resend(this.#owed.takeBeforehand(traits.type));
    const about = this.#about(type);
    const { stream, node, type: url } = about;
    const { as } = classified;
    const effects: ServerEffect[] = [report({ kind: "request-classified", stream, node, type: url, as })];
    if (classified.acked !== undefined) {
      let newest: Delivery | undefined;
      for (const delivery of type.deliveries.lastSettled) {
        if (delivery.isHeartbeat) continue;
        newest = delivery;
        this.identity.siblings.order.accepted(type, this, delivery);
      }
      if (newest !== undefined) {
        const { nonce, body } = newest;
        const { version } = body;
        effects.push(report({ kind: "response-acked", stream, node, type: url, nonce, version }));
      }
    }
    if (classified.nacked !== undefined) {
      const { delivery, error } = classified.nacked;
      const { nonce, body } = delivery;
      // If a delta heartbeat is NACKed, the resources are resent in full (S-TTL-16).
      if (delivery.isHeartbeat && body.variant === "delta") type.resend(new Set(everyName(body)));
      effects.push(
        report({ kind: "response-nacked", ...about, nonce, version: body.version, error, names: namesIn(body) }),
      );
    }
    type.deliveries.trim();
    if (classified.anomaly !== undefined) effects.push(report({ kind: "anomaly", ...about, what: classified.anomaly }));
    // Nearly every ACK comes from a client that was sent everything and waits for nothing.
    this.#isSettled = wasSettled && classified.isOnlyAck === true && this.#isAtRest() && this.#findSettled();
    return effects;
  }

  /** Whether a flush without anything to send would leave everything as it is. */
  #isAtRest(): boolean {
    const isTimed = ({ ttl, traits }: TypeStream): boolean => ttl === "told" && this.view.knowsTtls(traits.type);
    if (!this.identity.siblings.order.isAtRest || !this.#errors.isEmpty) return false;
    return !this.#tellsTtls || !this.#inOrder.some(isTimed);
  }

  /**
   * Flushes the stream: sends what is new, from the newest state. One flush covers all types, or users of Clusters
   * would starve.
   */
  flush(): FlushResult {
    const effects: ServerEffect[] = [];
    const { streams } = this.identity.siblings;
    const before = streams.size > 1 ? this.#inOrder.map((type) => this.#reached(type)) : [];
    this.#waits.begin();
    let isUnfinished = false;
    for (const type of this.#inOrder) {
      if (this.#isIdle(type)) continue;
      const waits = this.#waits.find(type, this.current);
      if (waits === undefined || waits.maySpeak) this.#speak(type, effects, waits?.names);
      // A paused answer that has to wait goes on when the wait ends.
      isUnfinished = type.isPaused && waits?.maySpeak !== false;
      if (isUnfinished) break;
    }
    for (const type of this.#inOrder) {
      if (isUnfinished || (type.pendingRemovals.isEmpty && type.untoldAbsences.isEmpty)) continue;
      const waits = this.#waits.of(type);
      if (waits === undefined || waits.maySpeak) this.#speak(type, effects, waits?.names);
      this.#waits.findOfRemovals(type);
    }
    if (this.#beats.isDue && !isUnfinished) this.#beat(effects);
    const hasMoved =
      streams.size > 1 && (effects.length > 0 || this.#inOrder.some((type, i) => this.#hasMoved(type, before[i])));
    effects.push(...this.#reportWaits());
    this.#isSettled = !isUnfinished && this.#findSettled();
    return { effects, owed: this.#owed.takeOwed(), isUnfinished, hasMoved };
  }

  /** What other streams of the client may wait for. */
  #reached(type: TypeStream): Reached {
    const { position, heldBackFrom } = type;
    return { position, heldBackFrom, hasNews: type.hasNews(this.view) };
  }

  /** Compares values: a flush with nothing to send may make an equal position, and would wake the others for ever. */
  #hasMoved(type: TypeStream, before: Reached | undefined): boolean {
    const { position, heldBackFrom, hasNews } = this.#reached(type);
    if (before === undefined || hasNews !== before.hasNews || heldBackFrom !== before.heldBackFrom) return true;
    const from = before.position;
    return position !== from && (position === undefined || from === undefined || !isSamePosition(position, from));
  }

  /** Whether a flush leaves a type as it is: most clients have several, of which a transaction changes one. */
  #isIdle(type: TypeStream): boolean {
    if (type.hasNews(this.view) || !type.pendingRemovals.isEmpty || type.withholdsRemovals === true) return false;
    return this.identity.siblings.order.isAtRest && !this.#errors.mayHaveErrors(type, this.view);
  }

  #findSettled(): boolean {
    if (!this.#waits.isEmpty || this.#beats.isDue || this.#waits.isReturnAwaited(this.#inOrder)) return false;
    // What waits for an ACK has news, or removals.
    return this.#inOrder.every((type) => {
      if (!type.pendingRemovals.isEmpty || type.withholdsRemovals === true) return false;
      return !type.hasNews(this.view);
    });
  }

  /** Marks a heartbeat of a type as due. Returns false if the client is not sent TTLs of it. */
  expectBeat(type: TypeUrl): boolean {
    const known = this.#types.get(type);
    if (known === undefined || !this.#beats.expect(known)) return false;
    this.#isSettled = false;
    return true;
  }

  /** Whether the client is sent TTLs of any type. */
  get tellsTtls(): boolean {
    return this.#tellsTtls;
  }

  /**
   * The types of which the client holds resources with a TTL, and how soon each needs a heartbeat, in milliseconds.
   * Called once after a flush.
   */
  needsBeats(): Iterable<{ readonly type: TypeUrl; readonly ms: number }> {
    return this.#beats.needs(this.#inOrder, (type) => this.#currentFor(type));
  }

  #beat(effects: ServerEffect[]): void {
    for (const type of this.#inOrder) {
      const held = this.#beats.next(type, this.opened.variant, this.#currentFor(type));
      if (held === undefined) continue;
      const at = this.identity.siblings.order.count();
      this.#sending.beat(type, held, { revision: this.current.revision, at }, effects);
    }
  }

  #currentFor({ traits, ttl }: TypeStream): CurrentView {
    return this.current.forTtls(traits.type, ttl);
  }

  get isAggregated(): boolean {
    return this.opened.onlyType === undefined;
  }

  get asksForAllClusters(): boolean {
    return this.#ordering.asksForAllClusters;
  }

  #reportWaits(): readonly ServerEffect[] {
    const changes = this.#waits.changes(this.#inOrder);
    if (changes.length === 0) return none;
    if (this.#waits.isEmpty) this.identity.siblings.waiting.delete(this);
    else this.identity.siblings.waiting.add(this);
    return changes.map(({ kind, type, wait }) => report({ kind, ...this.#about(type), wait }));
  }

  #about({ traits }: TypeStream): { readonly stream: StreamId; readonly node: Node; readonly type: TypeUrl } {
    return { stream: this.opened.stream, node: this.identity.node, type: traits.type };
  }

  #speak(type: TypeStream, effects: ServerEffect[], heldBack = nothingHeldBack): void {
    const { position: from, pendingRemovals } = type;
    const { resources } = type.sentState.heldBack;
    const wasHeldBack = resources.size === 0 ? nothingWasHeldBack : new Map(resources);
    const before = { position: from, pendingRemovals, wasHeldBack };
    // Of a resource that was held back, the client still has the state from before the wait.
    const toldTo = from && Math.min(from.revision, type.heldBackFrom);
    const removable = (): Removable =>
      type.deferredRemovals === undefined
        ? everythingRemovable
        : this.identity.siblings.order.removable(this.current.revision, type.deferredRemovals);
    const wasBlocked = type.deliveries.isBlocked;
    const current = this.#currentFor(type);
    const absences = (): AbsenceBounds => this.identity.siblings.order.absencesOf(type);
    const takers = takersOf(type, current);
    const made = takersLast(type.next(current, { removable, heldBack, absences }), takers, current);
    const answers = this.#errors.add(type, made, { current, wasBlocked });
    const { variant } = this.opened;
    const isAnyRejected = type.deliveries.rejectedNames.size > 0;
    const all = isAnyRejected ? [...answers, ...restOfRejected(type, { variant, current, from, answers })] : answers;
    if (all.length === 0) return;
    // One answer, of several parts: each is ACKed or NACKed by itself.
    const moment = { revision: current.revision, toldTo, at: this.identity.siblings.order.count() };
    const isShared = !this.isAggregated && this.identity.siblings.streams.size > 1;
    for (const answer of all) {
      for (const body of this.#sending.partsOf(answer.body, type.traits, current.shared.parts)) {
        const part = body === answer.body ? answer : { ...answer, body };
        const delivery = this.#sending.respond(type, part, moment, effects);
        const isWhole = toldTo === undefined || (type.traits.isFullState && this.opened.variant === "sotw");
        if (isWhole && body.ttls === "told") this.#beats.confirm(type);
        const isUnprotected = this.#ordering.sent(type, delivery, answer, before, this.current);
        if (isUnprotected) effects.push(report({ kind: "client-unprotected", ...this.#about(type) }));
      }
      this.#owed.collect(type, answer.news, { types: this.#types, isShared });
    }
  }

  /** The types that wait, and for how long they may. */
  waiting(): readonly WaitingType[] {
    return this.#waits.waiting(this.#inOrder, this.view);
  }

  /** Handles the timeout of a wait that began at revision `since`. */
  giveUpWaiting(waiting: WaitingType, since: number): readonly ServerEffect[] {
    const wait = this.#waits.giveUp(waiting, since, this.current);
    if (wait === undefined) return none;
    const about = this.#about(waiting.type);
    return [
      report(
        wait === "ack" ? { kind: "anomaly", ...about, what: "ack-overdue" } : { kind: "order-overdue", ...about, wait },
      ),
    ];
  }

  /** The status of every resource and name that the client subscribes to, type by type. */
  *resources(): Iterable<ResourceState> {
    for (const type of this.#inOrder) yield* resourceStates(type, this.current);
  }

  get placed(): PlacedStream {
    const { onlyType, peer } = this.opened;
    return { onlyType, peer, node: this.identity.node, layers: this.view.layers.map((layer) => layer.name) };
  }

  describe(client: string): StreamState {
    const { stream, variant, apiVersion } = this.opened;
    return {
      ...this.placed,
      stream,
      variant,
      apiVersion,
      client,
      dialect: explainDialect(this.identity.node, this.identity.choices),
      types: this.#describeTypes(),
    };
  }

  #describeTypes(): readonly TypeState[] {
    const types = this.#inOrder.map((type) => typeState(type, this.view, this.#waits, this.#errors));
    return this.#withheld?.describeWith(types) ?? types;
  }

  #open(traits: TypeTraits, isUnknown: boolean): TypeStream {
    const options = {
      traits,
      dialect: this.identity.dialect,
      isUnknown,
      isAggregated: this.isAggregated,
      ttl: judgeTtl(
        this.identity.dialect,
        this.identity.node,
        traits,
        ttlStreamOf(this.opened.variant, this.isAggregated),
        this.opened.apiVersion,
      ),
      cameAfterOwner: this.#inOrder.some(
        (type) => type.traits.owes.includes(traits.type) && this.#owed.isResumed(type),
      ),
    };
    const { variant } = this.opened;
    const machine = variant === "sotw" ? new SotwTypeStream(options) : new DeltaTypeStream(options);
    const isOrdered = this.#ordering.takesPart(traits.kind);
    const isDeferred = isOrdered && DeferredRemovals.isFor(traits, variant, this.identity.dialect);
    const type = isDeferred ? new DeferredRemovals(variant, machine) : machine;
    if (isOrdered) this.identity.siblings.order.join(type, this);
    this.#types.set(traits.type, type);
    this.#tellsTtls ||= type.ttl === "told";
    this.#inOrder = [...this.#types.values()].sort((a, b) => sendingRank(a.traits.kind) - sendingRank(b.traits.kind));
    return type;
  }
}

const none: readonly ServerEffect[] = [];
const nothingWasHeldBack: ReadonlyMap<string, HeldBackResource> = new Map();

type ReportEffect = Extract<ServerEffect, { kind: "report" }>;

function report(what: ReportEffect["report"]): ReportEffect {
  return { kind: "report", report: what };
}
