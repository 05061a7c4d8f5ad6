import type { Dialect } from "../dialect/dialect.ts";
import { forKind } from "../dialect/dialect.ts";
import type { DiscoveryRequest } from "../message/request.ts";
import type { Node } from "../node/node.ts";
import { sendingRank, type TypeTraits } from "../resource/type-traits.ts";
import type { TypeUrl } from "../resource/type-url.ts";
import type { View } from "../state/view.ts";
import { namesIn, sizeOf } from "./delivery.ts";
import { DeltaTypeStream } from "./delta.ts";
import type { PlaneEffect } from "./effect.ts";
import type { StreamOpened } from "./event.ts";
import type { StreamState, TypeState } from "./inspect.ts";
import type { Present } from "./present.ts";
import { SotwTypeStream } from "./sotw.ts";
import type { Answer, TypeStream } from "./type-stream.ts";

/** What a stream has to know once its first request named the node. */
export interface Identity {
  readonly node: Node;
  readonly dialect: Dialect;
  /** Streams with the same group are of one node on one connection. */
  readonly group: string;
  /** The open streams of the group, this one among them. */
  readonly siblings: ReadonlySet<Stream>;
}

/** What became of a turn. */
export interface Turn {
  readonly effects: readonly PlaneEffect[];
  /** Endpoints and the like that other streams of this node are owed: by type, the names. */
  readonly owed: ReadonlyMap<TypeUrl, ReadonlySet<string>>;
  /** A comparison goes on: the stream wants another turn. */
  readonly isUnfinished: boolean;
}

/** Subscribed names without a resource that are shown to people. */
const MISSING_SHOWN = 100;

/** One stream: the node from the first request, one machine per type, types in the order in which they leave. */
export class Stream {
  readonly opened: StreamOpened;
  readonly identity: Identity;
  view: View;
  readonly #types = new Map<TypeUrl, TypeStream>();
  #inOrder: readonly TypeStream[] = [];
  /** Types of which the client came back with versions that it holds. */
  readonly #resumed = new Set<TypeUrl>();
  /** What answers to a client that came back owe in types that it has not asked for yet (S-WRM-08). */
  readonly #owedBeforehand = new Map<TypeUrl, Set<string>>();
  #lastNonce = 0;

  constructor(opened: StreamOpened, identity: Identity, view: View) {
    this.opened = opened;
    this.identity = identity;
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
    if (request.kind === "delta" && request.initialVersions.size > 0) this.#resumed.add(traits.type);
    type.owe(this.#owedBeforehand.get(traits.type) ?? []);
    this.#owedBeforehand.delete(traits.type);
    const about = { stream: this.opened.stream, node: this.identity.node, type: traits.type };
    const effects: PlaneEffect[] = [report({ kind: "request-understood", ...about, as: understood.as })];
    if (understood.acked !== undefined) {
      const { nonce, body } = understood.acked;
      effects.push(report({ kind: "response-acked", ...about, nonce, version: body.version }));
    }
    if (understood.nacked !== undefined) {
      const { delivery, error } = understood.nacked;
      const { nonce, body } = delivery;
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
    for (const type of this.#inOrder) {
      for (const answer of type.next(this.view, present)) {
        effects.push(...this.#send(type, answer, present));
        this.#collectOwed(type, answer.news, owed);
      }
      if (type.isPaused) return { effects, owed, isUnfinished: true };
    }
    return { effects, owed, isUnfinished: false };
  }

  /** Types whose newer content waits for an answer, with how long it may. */
  *waiting(): Iterable<{ readonly type: TypeStream; readonly limitMs: number }> {
    for (const type of this.#inOrder) {
      if (!type.isWaiting(this.view)) continue;
      const { dialect } = this.identity;
      const withheld = this.#isAggregated ? forKind(dialect.withheldAckLimitMs, type.traits.kind) : undefined;
      yield { type, limitMs: withheld ?? dialect.ackLimitMs };
    }
  }

  describe(): StreamState {
    const { stream, variant, onlyType, peer } = this.opened;
    return {
      stream,
      variant,
      onlyType,
      peer,
      node: this.identity.node,
      layers: this.view.layers.map((layer) => layer.name),
      types: this.#inOrder.map((type) => this.#describeType(type)),
    };
  }

  get #isAggregated(): boolean {
    return this.opened.onlyType === undefined;
  }

  #open(traits: TypeTraits, isUnknown: boolean): TypeStream {
    const options = {
      traits,
      dialect: this.identity.dialect,
      isUnknown,
      isAggregated: this.#isAggregated,
      cameAfterOwner: this.#inOrder.some((type) => type.traits.owes.includes(traits.type) && this.#isResumed(type)),
    };
    const type = this.opened.variant === "sotw" ? new SotwTypeStream(options) : new DeltaTypeStream(options);
    this.#types.set(traits.type, type);
    this.#inOrder = [...this.#types.values()].sort((a, b) => sendingRank(a.traits.kind) - sendingRank(b.traits.kind));
    return type;
  }

  #send(type: TypeStream, { body, isInTurn }: Answer, present: Present): readonly PlaneEffect[] {
    const nonce = String(++this.#lastNonce);
    const { stream } = this.opened;
    const { revision } = present;
    type.deliveries.open({ nonce, body, revision, isInTurn });
    const about = { stream, node: this.identity.node, type: body.type, nonce, version: body.version, revision };
    return [{ kind: "send", stream, body, nonce }, report({ kind: "response-sent", ...about, ...sizeOf(body) })];
  }

  /** What the news owe follows in this turn where it is asked for here, and is told to the node's other streams. */
  #collectOwed(type: TypeStream, news: Answer["news"], owed: Map<TypeUrl, Set<string>>): void {
    if (type.traits.owes.length === 0 || !this.identity.dialect.resendEdsOnClusterChange) return;
    for (const owedType of type.traits.owes) {
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
    return !this.#isAggregated && this.identity.siblings.size > 1;
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
      if (this.view.find(type.traits.type, term) === undefined) missing.push(term);
    }
    return {
      type: type.traits.type,
      isWildcard: subscription.isWildcard,
      names: subscription.names.size,
      missing,
      toldRevision: position?.revision,
      sentVersion: deliveries.lastSent?.body.version,
      ...deliveries.describe(),
    };
  }
}

type ReportEffect = Extract<PlaneEffect, { kind: "report" }>;

function report(what: ReportEffect["report"]): ReportEffect {
  return { kind: "report", report: what };
}
