import type { Choices } from "../dialect/choice.ts";
import { type Dialect, forKind, isWildcardType } from "../dialect/dialect.ts";
import { explainDialect } from "../dialect/explain.ts";
import { judgeTtl, ttlStreamOf } from "../dialect/ttl.ts";
import type { Body } from "../message/body.ts";
import type { DiscoveryRequest } from "../message/request.ts";
import type { Node } from "../node/node.ts";
import { nameOfTerm } from "../resource/resource-name.ts";
import { sendingRank, type TypeKind, type TypeTraits, usesClusters } from "../resource/type-traits.ts";
import type { TypeUrl } from "../resource/type-url.ts";
import { shownName } from "../resource/variant-name.ts";
import type { Position } from "../state/difference.ts";
import type { View } from "../state/view.ts";
import type { Conversion } from "./conversion.ts";
import { type Delivery, everyName, namesIn, sizeOf } from "./delivery.ts";
import { DeltaTypeStream } from "./delta.ts";
import type { PlaneEffect } from "./effect.ts";
import type { StreamId, StreamOpened } from "./event.ts";
import { Beats } from "./heartbeat.ts";
import { nothingHeldBack } from "./held-back.ts";
import type { HeldOverSet, Removable } from "./held-over.ts";
import type { ResourceState, StreamState, TypeState } from "./inspect.ts";
import type { Order, OrderedStream } from "./order.ts";
import type { Present } from "./present.ts";
import { RemovalsLast } from "./removals-last.ts";
import { resourceStates } from "./resource-states.ts";
import { SotwTypeStream } from "./sotw.ts";
import { cutFor } from "./split.ts";
import { StreamErrors } from "./stream-errors.ts";
import { StreamWaits, type Waiting } from "./stream-waits.ts";
import type { Answer, TypeStream } from "./type-stream.ts";

/** What a stream has to know once its first request named the node. */
export interface Identity {
  readonly node: Node;
  readonly dialect: Dialect;
  /** What the dialect was made from, to be told to people. */
  readonly choices: Choices;
  /** The streams of one client, this one among them; an aggregated stream is alone. */
  readonly siblings: Siblings;
  /** What is sent is converted; undefined: as it is. */
  readonly conversion?: Conversion | undefined;
}

/** Streams that one order holds for, because together they are what one client hears. */
export interface Siblings {
  readonly key: string;
  readonly streams: ReadonlySet<Stream>;
  /** Those of them on which something waits. */
  readonly waiting: Set<Stream>;
  readonly order: Order;
}

/** What became of a turn. */
export interface Turn {
  readonly effects: readonly PlaneEffect[];
  /** Endpoints and the like that other streams of this node are owed: by type, the names. */
  readonly owed: ReadonlyMap<TypeUrl, ReadonlySet<string>>;
  /** A comparison goes on: the stream wants another turn. */
  readonly isUnfinished: boolean;
  /** What other streams of this node wait for may have come. */
  readonly hasMoved: boolean;
}

const everything: Removable = {
  to: Number.POSITIVE_INFINITY,
  namedTo: Number.POSITIVE_INFINITY,
  goesAtOnce: undefined,
};

/** Subscribed names without a resource that are shown to people. */
const MISSING_SHOWN = 100;

/** One stream: the node from the first request, one machine per type, types in the order in which they leave. */
export class Stream implements OrderedStream {
  readonly opened: StreamOpened;
  readonly identity: Identity;
  view: View;
  readonly #types = new Map<TypeUrl, TypeStream>();
  #inOrder: readonly TypeStream[] = [];
  /** Types of which the client came back with versions that it holds. */
  readonly #resumed = new Set<TypeUrl>();
  /** What answers to a client that came back owe in types that it has not asked for yet (S-WRM-08). */
  readonly #owedBeforehand = new Map<TypeUrl, Set<string>>();
  readonly #waits: StreamWaits;
  readonly #errors: StreamErrors;
  #lastNonce = 0;
  readonly #beats = new Beats();
  #tellsTtls = false;

  constructor(opened: StreamOpened, identity: Identity, view: View) {
    this.opened = opened;
    this.identity = identity;
    this.#errors = new StreamErrors(opened, identity.dialect);
    this.#waits = new StreamWaits(identity.dialect, identity.siblings.order, this.isAggregated);
    this.view = view;
  }

  get types(): ReadonlyMap<TypeUrl, TypeStream> {
    return this.#types;
  }

  /** Names subscribed to, over all types. */
  get subscriptions(): number {
    let count = 0;
    for (const type of this.#types.values()) count += type.subscription.names.size;
    return count;
  }

  /** Gives a request to the machine of its type. */
  onRequest(request: DiscoveryRequest, traits: TypeTraits, isUnknown: boolean): readonly PlaneEffect[] {
    const type = this.#types.get(traits.type) ?? this.#open(traits, isUnknown);
    const understood = type.onRequest(request);
    this.#errors.onRequest(type, request);
    if (request.kind === "delta" && request.initialVersions.size > 0) this.#resumed.add(traits.type);
    if (understood.as === "initial" && this.#takesPart("cds")) this.#meet(request, traits);
    type.owe(this.#owedBeforehand.get(traits.type) ?? []);
    this.#owedBeforehand.delete(traits.type);
    const about = this.#about(type);
    const effects: PlaneEffect[] = [report({ kind: "request-understood", ...about, as: understood.as })];
    if (understood.acked !== undefined) {
      const settled = type.deliveries.lastSettled.filter(({ isHeartbeat }) => isHeartbeat !== true);
      for (const delivery of settled) this.identity.siblings.order.accepted(type, this, delivery);
      const newest = settled.at(-1);
      if (newest !== undefined) {
        const { nonce, body } = newest;
        effects.push(report({ kind: "response-acked", ...about, nonce, version: body.version }));
      }
    }
    if (understood.nacked !== undefined) {
      const { delivery, error } = understood.nacked;
      const { nonce, body } = delivery;
      // Who does not take it as it was held is given it once more (S-TTL-16).
      if (delivery.isHeartbeat && body.variant === "delta") type.owe(everyName(body));
      effects.push(
        report({ kind: "response-nacked", ...about, nonce, version: body.version, error, names: namesIn(body) }),
      );
    }
    if (understood.oddity !== undefined) effects.push(report({ kind: "oddity", ...about, what: understood.oddity }));
    return effects;
  }

  /** Says what there is to say, from the newest state. A turn is never cut between types, or users would starve. */
  turn(present: Present): Turn {
    const effects: PlaneEffect[] = [];
    const owed = new Map<TypeUrl, Set<string>>();
    const { streams } = this.identity.siblings;
    const positions = streams.size > 1 ? this.#inOrder.map((type) => type.position) : [];
    this.#waits.begin();
    let isUnfinished = false;
    for (const type of this.#inOrder) {
      const waits = this.#waits.find(type, this.view, present);
      if (waits === undefined || type.canHoldBack) this.#speak(type, present, effects, owed, waits?.names);
      isUnfinished = type.isPaused;
      if (isUnfinished) break;
    }
    for (const type of this.#inOrder) {
      if (isUnfinished || type.heldOver.isEmpty) continue;
      this.#speak(type, present, effects, owed);
      this.#waits.findOfRemovals(type, present);
    }
    if (this.#beats.isDue && !isUnfinished) this.#beat(present, effects);
    const hasMoved =
      streams.size > 1 && (effects.length > 0 || this.#inOrder.some((type, i) => type.position !== positions[i]));
    effects.push(...this.#reportWaits());
    return { effects, owed, isUnfinished, hasMoved };
  }

  /** A heartbeat of that type is due, if the client is told of ttls. Returns whether it is. */
  expectBeat(type: TypeUrl): boolean {
    const known = this.#types.get(type);
    return known !== undefined && this.#beats.expect(known);
  }

  /** The client is told of ttls, of some type. */
  get tellsTtls(): boolean {
    return this.#tellsTtls;
  }

  /** Types of which the client holds something for a time, with how soon it needs a heartbeat; asked once after a turn. */
  needsBeats(present: Present): Iterable<{ readonly type: TypeUrl; readonly ms: number }> {
    return this.#beats.needs(this.#inOrder, this.view, (type) => this.#presentFor(type, present));
  }

  #beat(present: Present, effects: PlaneEffect[]): void {
    const { stream, variant } = this.opened;
    for (const type of this.#inOrder) {
      const held = this.#beats.next(type, variant, this.view, this.#presentFor(type, present));
      if (held === undefined) continue;
      const body = this.#converted(held);
      const nonce = String(++this.#lastNonce);
      const at = this.identity.siblings.order.count();
      const { revision } = present;
      type.deliveries.open({ nonce, body, revision, from: undefined, at, isInTurn: false, isHeartbeat: true });
      const about = { stream, node: this.identity.node, type: body.type, nonce, version: body.version };
      const { resources } = sizeOf(body);
      effects.push({ kind: "send", stream, body, nonce }, report({ kind: "heartbeat-sent", ...about, resources }));
    }
  }

  #presentFor({ traits, ttl }: TypeStream, present: Present): Present {
    return present.forTtls(traits.type, ttl, this.view);
  }

  get isAggregated(): boolean {
    return this.opened.onlyType === undefined;
  }

  #reportWaits(): readonly PlaneEffect[] {
    const changes = this.#waits.changes(this.#inOrder);
    if (changes.length === 0) return none;
    if (this.#waits.isEmpty) this.identity.siblings.waiting.delete(this);
    else this.identity.siblings.waiting.add(this);
    return changes.map(({ kind, type, wait }) => report({ kind, ...this.#about(type), wait }));
  }

  #about({ traits }: TypeStream): { readonly stream: StreamId; readonly node: Node; readonly type: TypeUrl } {
    return { stream: this.opened.stream, node: this.identity.node, type: traits.type };
  }

  #speak(
    type: TypeStream,
    present: Present,
    effects: PlaneEffect[],
    owed: Map<TypeUrl, Set<string>>,
    heldBack = nothingHeldBack,
  ): void {
    const { position: from, heldOver } = type;
    // What was held back until now the client was told of as long ago as it was held back.
    const toldTo = from && Math.min(from.revision, type.heldBackFrom);
    const removable = type instanceof RemovalsLast ? this.identity.siblings.order.removable(present) : everything;
    const wasBlocked = type.deliveries.isBlocked;
    const seen = this.#presentFor(type, present);
    const made = type.next(this.view, seen, { removable, heldBack });
    const answers = this.#errors.tell(type, made, { view: this.view, present: seen, wasBlocked });
    for (const answer of answers) {
      const at = this.identity.siblings.order.count();
      for (const body of this.#partsOf(answer.body, type.traits, seen)) {
        const delivery = this.#deliver(type, { ...answer, body }, at, toldTo, present);
        effects.push(...this.#sendEffects(delivery));
        const { order } = this.identity.siblings;
        if (type instanceof RemovalsLast && type.isOfClusters)
          effects.push(
            ...this.#bring(type, delivery, answer.newcomers ?? this.#newcomers(type, from, present), heldOver),
          );
        else if ((from !== undefined || order.isTakenUp) && usesClusters(type.traits.kind)) order.used(type, delivery);
      }
      this.#collectOwed(type, answer.news, owed);
    }
  }

  #newcomers(type: TypeStream, from: Position | undefined, present: Present): ReadonlySet<string> | undefined {
    const { order } = this.identity.siblings;
    const isOfUse = from !== undefined && (order.hasUsers || order.isReturning);
    return isOfUse ? present.newcomers(from, this.view, type.traits.type) : undefined;
  }

  #bring(
    type: TypeStream,
    delivery: Delivery,
    newcomers: Answer["newcomers"],
    heldOver: HeldOverSet,
  ): readonly PlaneEffect[] {
    const { order } = this.identity.siblings;
    if (newcomers === "unknown") {
      // Where the ACK of Clusters does not mean that they are in use, it would not help to wait for it.
      if (this.isAggregated) order.broughtUnknown(delivery);
      return [report({ kind: "client-unprotected", ...this.#about(type) })];
    }
    if (newcomers !== undefined && newcomers.size > 0)
      order.brought(type, delivery, (name) => newcomers.has(name) && !heldOver.names.has(name));
    return [];
  }

  /** The responses in which a body leaves, one behind the other. */
  #partsOf(body: Body, traits: TypeTraits, present: Present): readonly Body[] {
    const converted = this.#converted(body);
    const cut = cutFor(body.variant, traits, this.identity.dialect);
    return cut === undefined ? [converted] : present.parts.of(converted, cut);
  }

  #converted(body: Body): Body {
    return this.identity.conversion?.body(body) ?? body;
  }

  /** What waits on this stream, and for how long it may. */
  waiting(): readonly Waiting[] {
    return this.#waits.waiting(this.#inOrder, this.view);
  }

  /** Nobody waits any longer with what a type had to say at a revision. */
  giveUpWaiting(waiting: Waiting, since: number, present: Present): readonly PlaneEffect[] {
    const wait = this.#waits.giveUp(waiting, since, this.view, present);
    if (wait === undefined) return none;
    const about = this.#about(waiting.type);
    return [
      report(
        wait === "ack" ? { kind: "oddity", ...about, what: "ack-overdue" } : { kind: "order-overdue", ...about, wait },
      ),
    ];
  }

  /** Every resource that the client is subscribed to, and every name that it asks for in vain, of each type in turn. */
  *resources(present: Present): Iterable<ResourceState> {
    for (const type of this.#inOrder) yield* resourceStates(type, this.view, present);
  }

  describe(client: string): StreamState {
    const { stream, variant, onlyType, apiVersion, peer } = this.opened;
    return {
      stream,
      variant,
      onlyType,
      apiVersion,
      peer,
      node: this.identity.node,
      client,
      dialect: explainDialect(this.identity.node, this.identity.choices),
      layers: this.view.layers.map((layer) => layer.name),
      types: this.#inOrder.map((type) => this.#describeType(type)),
    };
  }

  /** A client that was here before, or with another server, holds what is part of the order. */
  #meet(request: DiscoveryRequest, { kind }: TypeTraits): void {
    const { dialect, siblings } = this.identity;
    const asksForAll = isWildcardType(dialect, "cds", this.opened.variant);
    if (kind !== "cds" && !usesClusters(kind)) return;
    if (bringsVersions(request)) siblings.order.returns(asksForAll);
    // In State of the World who comes back says so, of every type that it ever had anything of.
    else if (request.kind === "delta" && kind !== "lds") siblings.order.meetsUnannounced(asksForAll);
  }

  /** Whether a kind takes part in make before break. */
  #takesPart(kind: TypeKind): boolean {
    const { makeBeforeBreak } = this.identity.dialect;
    return forKind(makeBeforeBreak, "cds") && forKind(makeBeforeBreak, kind);
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
      cameAfterOwner: this.#inOrder.some((type) => type.traits.owes.includes(traits.type) && this.#isResumed(type)),
    };
    const { variant } = this.opened;
    const machine = variant === "sotw" ? new SotwTypeStream(options) : new DeltaTypeStream(options);
    const isOrdered = this.#takesPart(traits.kind);
    const type = isOrdered && RemovalsLast.isFor(traits, variant) ? new RemovalsLast(variant, machine) : machine;
    if (isOrdered) this.identity.siblings.order.join(type, this);
    this.#types.set(traits.type, type);
    this.#tellsTtls ||= type.ttl === "told";
    this.#inOrder = [...this.#types.values()].sort((a, b) => sendingRank(a.traits.kind) - sendingRank(b.traits.kind));
    return type;
  }

  #deliver(
    type: TypeStream,
    { body, isInTurn }: Answer,
    at: number,
    toldTo: number | undefined,
    present: Present,
  ): Delivery {
    const delivery = {
      nonce: String(++this.#lastNonce),
      body,
      revision: present.revision,
      // What is sent brings the client up to now, whatever it was told before.
      from: isInTurn && toldTo !== undefined ? Math.min(toldTo, present.revision - 1) : undefined,
      at,
      isInTurn,
      asked: type.subscription.scope,
    };
    type.deliveries.open(delivery);
    const isWhole = toldTo === undefined || (type.traits.isFullState && this.opened.variant === "sotw");
    if (isWhole && body.ttls === "told") this.#beats.confirm(type);
    return delivery;
  }

  #sendEffects({ nonce, body, revision }: Delivery): readonly PlaneEffect[] {
    const { stream } = this.opened;
    const about = { stream, node: this.identity.node, type: body.type, nonce, version: body.version, revision };
    return [{ kind: "send", stream, body, nonce }, report({ kind: "response-sent", ...about, ...sizeOf(body) })];
  }

  /** What the news owe follows in this turn where it is asked for here, and is told to the node's other streams. */
  #collectOwed(type: TypeStream, news: Answer["news"], owed: Map<TypeUrl, Set<string>>): void {
    const { kind, owes } = type.traits;
    if (owes.length === 0 || (kind === "cds" && !this.identity.dialect.resendEdsOnClusterChange)) return;
    for (const owedType of owes) {
      const here = this.#types.get(owedType);
      if (!this.#mayOwe(type, here)) continue;
      const names = owed.get(owedType) ?? new Set();
      for (const reference of news.flat().flatMap((resource) => resource.references)) {
        if (reference.type === owedType) names.add(reference.name);
      }
      here?.owe(names);
      if (here === undefined && this.#isResumed(type)) this.#oweBeforehand(owedType, names);
      owed.set(owedType, names);
    }
  }

  /** Whether looking for what is owed can lead to anything: a first sync of many streams must not look at everything. */
  #mayOwe(type: TypeStream, owed: TypeStream | undefined): boolean {
    if (this.#isResumed(type) || owed?.position !== undefined) return true;
    return !this.isAggregated && this.identity.siblings.streams.size > 1;
  }

  #isResumed(type: TypeStream): boolean {
    return this.#resumed.has(type.traits.type);
  }

  #oweBeforehand(type: TypeUrl, names: ReadonlySet<string>): void {
    const known = this.#owedBeforehand.get(type) ?? new Set();
    for (const name of names) known.add(name);
    if (known.size > 0) this.#owedBeforehand.set(type, known);
  }

  #describeType(type: TypeStream): TypeState {
    const { subscription, deliveries, position } = type;
    const missing: string[] = [];
    for (const term of subscription.names) {
      if (missing.length === MISSING_SHOWN) break;
      if (this.view.answersTo(type.traits.type, term).length === 0) missing.push(shownName(nameOfTerm(term)));
    }
    return {
      type: type.traits.type,
      isWildcard: subscription.isWildcard,
      names: subscription.names.size,
      missing,
      toldRevision: position?.revision,
      sentVersion: deliveries.lastSent?.body.version,
      errors: this.#errors.describe(type),
      wait: this.#waits.of(type)?.first,
      waiting: [...(this.#waits.of(type)?.names ?? [])].slice(0, MISSING_SHOWN).map(shownName),
      heldOver: [...type.heldOver.names.keys()].slice(0, MISSING_SHOWN).map(shownName),
      ttl: this.view.timed(type.traits.type).resources.length > 0 ? type.ttl : undefined,
      ...deliveries.describe(),
    };
  }
}

function bringsVersions(request: DiscoveryRequest): boolean {
  return request.kind === "delta" ? request.initialVersions.size > 0 : request.versionInfo !== undefined;
}

const none: readonly PlaneEffect[] = [];

type ReportEffect = Extract<PlaneEffect, { kind: "report" }>;

function report(what: ReportEffect["report"]): ReportEffect {
  return { kind: "report", report: what };
}
