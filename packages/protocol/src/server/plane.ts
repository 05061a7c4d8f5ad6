import type { Choices, ClientChoice, NamedChoice } from "../dialect/choice.ts";
import type { DialectOverrides } from "../dialect/dialect.ts";
import { dialectFor } from "../dialect/presets.ts";
import type { Edition } from "../dialect/switches.ts";
import type { DiscoveryRequest } from "../message/request.ts";
import { statusCode } from "../message/status.ts";
import { anonymousNode, type Node } from "../node/node.ts";
import type { Peer, Placement } from "../node/placement.ts";
import type { Resource } from "../resource/resource.ts";
import { opaqueTraits, type TypeTraits, usesClusters } from "../resource/type-traits.ts";
import { messageNameOf, type TypeUrl } from "../resource/type-url.ts";
import type { Digest } from "../resource/version.ts";
import { ambiguitiesIn } from "../state/ambiguity.ts";
import { reaches } from "../state/difference.ts";
import type { TableRules } from "../state/layer.ts";
import { LayerSet, type LayerState } from "../state/layer-set.ts";
import type { Transaction } from "../state/transaction.ts";
import type { View } from "../state/view.ts";
import { Conversion, needsStructs, type StructConverter } from "./conversion.ts";
import type { PlaneEffect } from "./effect.ts";
import type { PlaneEvent, StreamId, StreamOpened } from "./event.ts";
import { type Due, HeartbeatSchedule } from "./heartbeat-schedule.ts";
import { History } from "./history.ts";
import type { ResourceState, StreamState } from "./inspect.ts";
import { InvariantError } from "./invariant-error.ts";
import { Order } from "./order.ts";
import type { PolledView } from "./polled-view.ts";
import { Polls, type PollsOptions } from "./polls.ts";
import { Present } from "./present.ts";
import type { Remembered } from "./remembered.ts";
import { type Siblings, Stream, type Turn } from "./stream.ts";
import type { TypeStream } from "./type-stream.ts";
import { WaitTimers } from "./wait-timers.ts";

export interface PlaneOptions {
  readonly digest: Digest;
  /** What is known about a type; undefined for a type nobody described. */
  readonly traits: (type: TypeUrl) => TypeTraits | undefined;
  readonly placement: Placement;
  /** The edition for clients that nobody knows and for whom no other was chosen. */
  readonly edition?: Edition;
  /** Switched for every stream. */
  readonly dialect?: DialectOverrides;
  /** What is chosen for single clients. Default: nothing. */
  readonly clients?: ClientChoice;
  /** Names subscribed to per stream, over all types; beyond it the stream ends with RESOURCE_EXHAUSTED. */
  readonly maxSubscriptionsPerStream?: number;
  /** Journal lines kept per layer and type for streams that lag behind; beyond it those streams end with UNAVAILABLE. */
  readonly maxJournalLines?: number;
  /** The same in bytes of the replaced Clusters that those lines keep. */
  readonly maxJournalBytes?: number;
  /** Makes extensions structs for clients that take nothing else (S-MSC-04); called once for each resource and such clients. */
  readonly convertForStructs?: StructConverter;
  /** `remember` effects are performed: what they say comes back in `history-restored` when a server is started anew. */
  readonly remembers?: boolean;
}

/** Streams of one client, which open and close. */
type SiblingStreams = Siblings & { readonly nodeId: string; readonly streams: Set<Stream> };

const DEFAULT_MAX_JOURNAL_LINES = 1_000_000;
const DEFAULT_MAX_JOURNAL_BYTES = 256 * 1024 * 1024;

/** Every stream and every view: an event in, effects out; then turns of streams, a budget at a time. */
export class Plane {
  readonly #options: PlaneOptions;
  readonly #layers: LayerSet<Stream | PolledView>;
  readonly #polls: Polls;
  readonly #present: Present;
  readonly #opened = new Map<StreamId, StreamOpened>();
  readonly #streams = new Map<StreamId, Stream>();
  /** Streams of one client; an aggregated stream is alone. */
  readonly #siblings = new Map<string, SiblingStreams>();
  /** Those of them that are streams for each type, by their node. */
  readonly #separate = new Map<string, Set<SiblingStreams>>();
  readonly #due = new Set<Stream>();
  #isTurnOfPolls = false;
  readonly #stalled = new Set<StreamId>();
  readonly #waitTimers = new WaitTimers(() => ++this.#lastTimer);
  /** Resources that a client may go on using when they are gone. */
  readonly #isCluster = (type: TypeUrl): boolean => this.#options.traits(type)?.kind === "cds";
  /** Whether resources of a type may name Clusters. Virtual hosts come one by one: nobody has all that a route table names. */
  readonly #mayUseClusters = (type: TypeUrl): boolean => {
    const traits = this.#options.traits(type);
    return traits !== undefined && usesClusters(traits.kind) && traits.kind !== "vhds";
  };
  readonly #history: History<Stream | PolledView>;
  readonly #conversion: Conversion | undefined;
  #placement: Placement;
  #clients: ClientChoice | undefined;
  #lastTimer = 0;
  readonly #heartbeats = new HeartbeatSchedule(() => ++this.#lastTimer);

  constructor(options: PlaneOptions) {
    this.#options = options;
    this.#placement = options.placement;
    this.#conversion = options.convertForStructs && new Conversion(options.convertForStructs);
    this.#clients = options.clients;
    this.#present = new Present(options.digest);
    const rules: TableRules = {
      keepsBodies: this.#isCluster,
      terms: (type) => options.traits(type)?.terms,
    };
    this.#layers = new LayerSet(rules, {
      lines: options.maxJournalLines ?? DEFAULT_MAX_JOURNAL_LINES,
      bytes: options.maxJournalBytes ?? DEFAULT_MAX_JOURNAL_BYTES,
    });
    this.#history = new History(this.#layers, this.#present, this.#isCluster);
    const [layers, present] = [this.#layers, this.#present];
    const nextTimer = (): number => ++this.#lastTimer;
    const choices: PollsOptions["choices"] = (node, peer, listener) => this.#choicesFor(node, peer, listener);
    this.#polls = new Polls({ ...options, layers, present, nextTimer, choices }, options.placement);
  }

  /** Takes an event. What it has to say to clients waits for `next`. */
  on(event: PlaneEvent): readonly PlaneEffect[] {
    switch (event.kind) {
      case "transaction-committed":
        return this.#commit(event.transaction);
      case "stream-opened":
        this.#opened.set(event.stream, event);
        return [];
      case "request-received":
        return this.#receive(event.stream, event.request);
      case "stream-closed":
        return this.#close(event.stream);
      case "stream-stalled":
        return this.#stall(event.stream);
      case "stream-drained":
        return this.#resume(event.stream);
      case "placement-changed":
        this.#placement = event.placement;
        return [
          ...[...this.#streams.values()].flatMap((stream) => this.#place(stream)),
          ...this.#polls.place(event.placement),
        ];
      case "clients-changed":
        this.#clients = event.clients;
        return [];
      case "poll-received":
      case "poll-closed":
      case "polls-dismissed":
        return this.#polls.on(event);
      case "timer-fired":
        return this.#expire(event.timer);
      case "history-restored":
        this.#history.restore(event.remembered);
        return [];
      default:
        return event satisfies never;
    }
  }

  /**
   * The turns of at most `budget` streams and polls, each made from the newest state.
   *
   * @throws {InvariantError} a bug of ours, with the stream whose turn it was; call with a budget of 1 to lose no effects
   */
  next(budget: number): readonly PlaneEffect[] {
    const effects: PlaneEffect[] = [];
    for (let left = budget; left > 0 && this.isDue; left--) {
      // By turns, so that neither kind waits for all of the other.
      this.#isTurnOfPolls = !this.#isTurnOfPolls;
      if (this.#polls.isDue && (this.#isTurnOfPolls || this.#due.size === 0)) effects.push(...this.#polls.next());
      else this.#nextStream(effects);
    }
    return effects;
  }

  #nextStream(effects: PlaneEffect[]): void {
    for (const stream of this.#due) {
      this.#due.delete(stream);
      const turn = this.#turnOf(stream);
      if (this.#options.remembers === true) effects.push(...this.#history.served());
      effects.push(...turn.effects);
      if (turn.owed.size > 0 && stream.opened.onlyType !== undefined) this.#owe(stream, turn.owed);
      if (turn.isUnfinished) this.#due.add(stream);
      if (turn.hasMoved) this.#wake(stream);
      effects.push(...this.#waitTimers.update(stream, this.#present.revision));
      if (stream.tellsTtls) this.#keepBeating(stream, effects);
      return;
    }
  }

  #keepBeating(stream: Stream, effects: PlaneEffect[]): void {
    for (const { type, ms } of stream.needsBeats(this.#present)) {
      const due = { view: stream.view, type };
      if (this.#heartbeats.keep(due, ms, effects)) this.#beat(due);
    }
  }

  #turnOf(stream: Stream): Turn {
    try {
      return stream.turn(this.#present);
    } catch (cause) {
      throw new InvariantError(stream.opened.stream, cause);
    }
  }

  /** A stream or a poll waits for its turn. */
  get isDue(): boolean {
    return this.#due.size > 0 || this.#polls.isDue;
  }

  /** The number of the newest transaction that changed anything. */
  get revision(): number {
    return this.#present.revision;
  }

  /** Every stream as it stands, and everybody who polled of late. */
  *streams(): Iterable<StreamState> {
    for (const opened of this.#opened.values()) {
      const stream = this.#streams.get(opened.stream);
      if (stream !== undefined) yield stream.describe(this.#clientOf(stream));
      else {
        const { stream: id, variant, onlyType, apiVersion, peer } = opened;
        const unknown = { node: undefined, client: undefined, dialect: undefined } as const;
        yield { stream: id, variant, onlyType, apiVersion, peer, ...unknown, layers: [], types: [] };
      }
    }
    yield* this.#polls.describe();
  }

  /**
   * How every resource that a stream asks for stands with it; nothing for a stream that is not open. May be walked over several
   * events: a resource is told as it stands when the walk comes by.
   */
  *resourceStates(stream: StreamId): Iterable<ResourceState> {
    const open = this.#streams.get(stream);
    if (open !== undefined) yield* open.resources(this.#present);
  }

  /** Every layer with the types and the number of resources it holds. */
  layers(): Iterable<LayerState> {
    return this.#layers.describe();
  }

  /** The resources of a type that a view of these layers holds, top-most holder first; all variants of a name. */
  *resources(layers: readonly string[], type: TypeUrl): Iterable<Resource> {
    for (const member of this.#layers.viewOf(layers).members(type)) if (member.isStandIn !== true) yield member;
  }

  /** What one layer holds under a name, which may be an error. */
  holder(layer: string, type: TypeUrl, name: string): Resource | undefined {
    return this.#layers.layer(layer)?.table(type)?.resources.get(name);
  }

  /** The errors that stand in place of resources of a type in a view of these layers. */
  resourceErrors(layers: readonly string[], type: TypeUrl): Iterable<Resource> {
    return this.#layers.viewOf(layers).errors(type).values();
  }

  /** What a transaction would make ambiguous (S-LOC-08): then it must not be committed. */
  ambiguities(transaction: Transaction): readonly string[] {
    return ambiguitiesIn(transaction, (name) => this.#layers.layer(name));
  }

  /** The Clusters that there are, as a server that comes after this one has to know them. */
  remembered(): Iterable<Remembered> {
    return this.#history.present();
  }

  #commit(asGiven: Transaction): readonly PlaneEffect[] {
    const revision = this.#present.revision + 1;
    const transaction = this.#history.complete(asGiven);
    const remembered = this.#options.remembers === true ? this.#history.changed(transaction, revision) : [];
    const touched = this.#layers.apply(transaction, revision);
    if (touched === undefined && transaction.systemVersion === undefined) return [];
    this.#present.advance(revision, transaction.systemVersion);
    if (touched === undefined) return [];
    for (const view of touched.views) for (const stream of this.#streamsOf(view)) this.#mark(stream);
    this.#polls.touch(touched.views);
    return [...remembered, ...this.#trim()];
  }

  /** Forgets what no live cursor needs; cursors that hold too much back are given up. */
  #trim(): readonly PlaneEffect[] {
    const cursors = (type: TypeUrl): Iterable<{ readonly stream: Stream; readonly position: TypeStream["position"] }> =>
      [...this.#streams.values()].flatMap((stream) => {
        const position = stream.types.get(type)?.position;
        return position === undefined ? [] : [{ stream, position }];
      });
    const trimmed = this.#layers.trim((type, layer) => {
      let oldest = this.#present.revision;
      for (const { position } of cursors(type)) {
        if (position?.view.layers.includes(layer) === true) oldest = Math.min(oldest, position.revision);
      }
      return oldest;
    });
    const message = "fell too far behind the changes; come back with the versions you hold";
    return trimmed.flatMap((type) =>
      [...cursors(type)].flatMap(({ stream, position }) =>
        position === undefined || reaches(position, type)
          ? []
          : this.#end(stream.opened.stream, statusCode.UNAVAILABLE, message),
      ),
    );
  }

  #receive(id: StreamId, request: DiscoveryRequest): readonly PlaneEffect[] {
    const opened = this.#opened.get(id);
    if (opened === undefined) return [];
    const type = this.#typeOf(opened, request);
    if (typeof type !== "string") return this.#end(id, statusCode.INVALID_ARGUMENT, type.wrong);
    const known = this.#streams.get(id);
    const identified = known === undefined ? this.#identify(opened, request) : this.#checkNode(known, request);
    const stream = this.#streams.get(id);
    if (stream === undefined) return identified;
    const traits = this.#options.traits(type);
    const isUnknown = traits === undefined && !this.#layers.holdsAny(type);
    const unknown = isUnknown && !stream.types.has(type) ? this.#meetUnknown(stream, type) : [];
    if (unknown.some((effect) => effect.kind === "close-stream")) return [...identified, ...unknown];
    const effects = [
      ...stream.onRequest(request, traits ?? opaqueTraits(type), isUnknown),
      ...this.#waitTimers.cancelEnded(stream),
    ];
    this.#mark(stream);
    const owed = stream.identity.siblings.order.takeOwed();
    if (owed.size > 0) this.#owe(stream, owed);
    this.#wake(stream);
    const limit = this.#options.maxSubscriptionsPerStream;
    if (limit !== undefined && stream.subscriptions > limit) {
      const message = `subscribed to ${stream.subscriptions} names; at most ${limit} per stream are served`;
      return [...identified, ...unknown, ...effects, ...this.#end(id, statusCode.RESOURCE_EXHAUSTED, message)];
    }
    return [...identified, ...unknown, ...effects];
  }

  /**
   * A per-type stream carries one type for its life, that of its method or its twin, as the first request has it; an aggregated
   * one says it in every request (B-TYP-02, S-TYP-04 to S-TYP-06).
   */
  #typeOf({ stream, onlyType }: StreamOpened, { type }: DiscoveryRequest): TypeUrl | { readonly wrong: string } {
    if (onlyType === undefined) return type ?? { wrong: "a request on an aggregated stream needs a type_url" };
    const [carried] = this.#streams.get(stream)?.types.keys() ?? [];
    const asked = type ?? carried ?? onlyType;
    const twin = this.#options.traits(onlyType)?.twin;
    if (asked !== onlyType && asked !== twin) {
      const served = [onlyType, ...(twin === undefined ? [] : [twin])].map(messageNameOf).join(" or ");
      return { wrong: `this method serves ${served}, not ${messageNameOf(asked)}` };
    }
    if (carried === undefined || carried === asked) return asked;
    return { wrong: `this stream carries ${messageNameOf(carried)} for its life, not ${messageNameOf(asked)}` };
  }

  /** What was chosen for a client, by whom. */
  #choicesFor(node: Node, peer: Peer, listener: NamedChoice | undefined): Choices {
    return { server: this.#options, listener, clients: this.#clients?.(node, peer, listener?.name) };
  }

  #identify(opened: StreamOpened, request: DiscoveryRequest): readonly PlaneEffect[] {
    const node = request.node ?? anonymousNode;
    const { listener, peer } = opened;
    const choices = this.#choicesFor(node, peer, listener);
    const dialect = dialectFor(node, choices);
    if (request.node === undefined && dialect.requireNode) {
      return this.#end(opened.stream, statusCode.INVALID_ARGUMENT, "the first request of a stream needs a node");
    }
    const layers = this.#placement(node, peer);
    if ("refused" in layers) return this.#end(opened.stream, statusCode.PERMISSION_DENIED, layers.refused);
    if (opened.needs !== undefined && !dialect[opened.needs]) {
      const message = `this method is only served where the switch "${opened.needs}" is on`;
      return this.#end(opened.stream, statusCode.UNIMPLEMENTED, message);
    }
    const siblings = this.#siblingsOf(opened, node.id);
    const view = this.#layers.viewOf(layers);
    const conversion = needsStructs(node) ? this.#conversion : undefined;
    const stream = new Stream(opened, { node, dialect, choices, siblings, conversion }, view);
    this.#streams.set(opened.stream, stream);
    this.#layers.watch(view, stream);
    this.#siblings.set(siblings.key, siblings);
    if (opened.onlyType !== undefined) {
      const ofNode = this.#separate.get(node.id) ?? new Set();
      this.#separate.set(node.id, ofNode.add(siblings));
    }
    siblings.streams.add(stream);
    return [{ kind: "report", report: { kind: "node-identified", stream: opened.stream, node, layers } }];
  }

  /**
   * The streams that one order holds for. Those of a node on one connection are one client's; over several connections too,
   * unless several clients may have the id: then there are two connections with a stream of the same type.
   */
  #siblingsOf({ onlyType, connection, stream }: StreamOpened, nodeId: string): SiblingStreams {
    const key = onlyType === undefined ? `stream ${stream}` : `${connection} ${nodeId}`;
    const known = this.#siblings.get(key);
    if (known !== undefined) return known;
    const others = onlyType === undefined || nodeId === "" ? [] : [...(this.#separate.get(nodeId) ?? [])];
    const twin = onlyType && this.#options.traits(onlyType)?.twin;
    const isSameApi = (type: TypeUrl | undefined): boolean =>
      type === onlyType || (twin !== undefined && type === twin);
    const isOfAnother = ({ opened }: Stream): boolean => isSameApi(opened.onlyType) && opened.connection !== connection;
    const [only] = others;
    if (only !== undefined && others.length === 1 && ![...only.streams].some(isOfAnother)) return only;
    const order = new Order({
      mayUseClusters: this.#mayUseClusters,
      isCluster: this.#isCluster,
      hasClustersElsewhere: () => onlyType === undefined && this.#bringsClusters(nodeId),
    });
    return { key, nodeId, streams: new Set(), waiting: new Set(), order };
  }

  /** An aggregated stream is alone in its order, and yet of the client whose other streams come over the same connection. */
  #clientOf({ opened, identity }: Stream): string {
    if (opened.onlyType !== undefined) return identity.siblings.key;
    const isHere = (stream: Stream): boolean => stream.opened.connection === opened.connection;
    const beside = [...(this.#separate.get(identity.node.id) ?? [])].find(({ streams }) => [...streams].some(isHere));
    return beside?.key ?? `${opened.connection} ${identity.node.id}`;
  }
  /** Whether a node has a stream of its own for Clusters, beside an aggregated one that only what they name is asked on. */
  #bringsClusters(nodeId: string): boolean {
    const separate = nodeId === "" ? [] : [...(this.#separate.get(nodeId) ?? [])];
    return separate.some(({ order }) => order.hasClusters);
  }

  #forgetSiblings(siblings: SiblingStreams): void {
    this.#siblings.delete(siblings.key);
    const ofNode = this.#separate.get(siblings.nodeId);
    ofNode?.delete(siblings);
    if (ofNode?.size === 0) this.#separate.delete(siblings.nodeId);
  }

  #checkNode(stream: Stream, { node, type }: DiscoveryRequest): readonly PlaneEffect[] {
    const first = stream.identity.node;
    if (node === undefined || node === first || isSameNode(node, first)) return [];
    if (stream.identity.dialect.nodeChange === "reject") {
      const message = `the node of a stream cannot change from "${first.id}" to "${node.id}"`;
      return this.#end(stream.opened.stream, statusCode.INVALID_ARGUMENT, message);
    }
    return [oddity(stream, type, "node-changed")];
  }

  #meetUnknown(stream: Stream, type: TypeUrl): readonly PlaneEffect[] {
    if (stream.identity.dialect.unknownType === "ignore") return [oddity(stream, type, "unknown-type")];
    return this.#end(stream.opened.stream, statusCode.INVALID_ARGUMENT, `unknown type ${messageNameOf(type)}`);
  }

  /** Places a node anew; its cursors keep their old positions, and the difference is told (S-DEL-08). */
  #place(stream: Stream): readonly PlaneEffect[] {
    const { node } = stream.identity;
    const layers = this.#placement(node, stream.opened.peer);
    if ("refused" in layers) return this.#end(stream.opened.stream, statusCode.PERMISSION_DENIED, layers.refused);
    const view = this.#layers.viewOf(layers);
    if (view === stream.view) return [];
    this.#layers.unwatch(stream.view, stream);
    stream.view = view;
    this.#layers.watch(view, stream);
    // Heartbeats of the view that it leaves do not reach it any more, and it may hold what only that one has.
    for (const type of stream.types.keys()) stream.expectBeat(type);
    this.#mark(stream);
    return [{ kind: "report", report: { kind: "node-moved", stream: stream.opened.stream, node, layers } }];
  }

  /** What changed clusters owe on the node's other streams of this connection (S-WRM-12). */
  #owe(stream: Stream, owed: ReadonlyMap<TypeUrl, ReadonlySet<string>>): void {
    for (const other of stream.identity.siblings.streams) {
      if (other === stream) continue;
      for (const [type, names] of owed) if (other.types.get(type)?.owe(names) === true) this.#mark(other);
    }
  }

  /** Streams of the same node that wait for one another look again. */
  #wake(stream: Stream): void {
    for (const other of stream.identity.siblings.waiting) if (other !== stream) this.#mark(other);
  }

  #mark(stream: Stream): void {
    if (!this.#stalled.has(stream.opened.stream)) this.#due.add(stream);
  }

  #stall(id: StreamId): readonly PlaneEffect[] {
    this.#stalled.add(id);
    const stream = this.#streams.get(id);
    if (stream !== undefined) this.#due.delete(stream);
    return [];
  }

  #resume(id: StreamId): readonly PlaneEffect[] {
    this.#stalled.delete(id);
    const stream = this.#streams.get(id);
    if (stream !== undefined) this.#mark(stream);
    return [];
  }

  #expire(timer: number): readonly PlaneEffect[] {
    const due = this.#heartbeats.fired(timer);
    if (due === undefined) return this.#polls.fired(timer) ?? this.#release(timer);
    this.#beat(due);
    return [];
  }

  /** Every stream of a view is to be sent a heartbeat of a type at its turn. */
  #beat({ view, type }: Due): void {
    for (const stream of this.#streamsOf(view)) if (stream.expectBeat(type)) this.#mark(stream);
  }

  *#streamsOf(view: View): Iterable<Stream> {
    for (const watcher of this.#layers.watchersOf(view)) if (watcher instanceof Stream) yield watcher;
  }

  #release(timer: number): readonly PlaneEffect[] {
    const fired = this.#waitTimers.fired(timer);
    if (fired === undefined) return [];
    const { stream, waiting, since } = fired;
    const reports = stream.giveUpWaiting(waiting, since, this.#present);
    this.#mark(stream);
    return reports;
  }

  #end(stream: StreamId, code: number, message: string): readonly PlaneEffect[] {
    return [...this.#close(stream), { kind: "close-stream", stream, status: { code, message } }];
  }

  #close(id: StreamId): readonly PlaneEffect[] {
    this.#opened.delete(id);
    this.#stalled.delete(id);
    const stream = this.#streams.get(id);
    if (stream === undefined) return [];
    this.#streams.delete(id);
    this.#due.delete(stream);
    this.#layers.unwatch(stream.view, stream);
    const siblings = this.#siblings.get(stream.identity.siblings.key);
    siblings?.streams.delete(stream);
    siblings?.waiting.delete(stream);
    if (siblings?.streams.size === 0) this.#forgetSiblings(siblings);
    for (const type of stream.types.values()) stream.identity.siblings.order.leave(type);
    this.#wake(stream);
    return this.#waitTimers.forget(stream);
  }
}

function isSameNode(a: Node, b: Node): boolean {
  return a.id === b.id && a.cluster === b.cluster && a.userAgentName === b.userAgentName;
}

function oddity(stream: Stream, type: TypeUrl | undefined, what: "node-changed" | "unknown-type"): PlaneEffect {
  const report = { kind: "oddity", stream: stream.opened.stream, node: stream.identity.node, type, what } as const;
  return { kind: "report", report };
}
