import type { AccessGrant, AccessPolicy } from "../access/access-policy.ts";
import type { DiscoveryRequest } from "../message/request.ts";
import { type Status, statusCode } from "../message/status.ts";
import type { Node } from "../node/node.ts";
import type { NodeMappingRejection, Peer } from "../node/node-mapping.ts";
import type { Resource } from "../resource/resource.ts";
import { opaqueTraits } from "../resource/type-traits.ts";
import { messageNameOf, type TypeUrl } from "../resource/type-url.ts";
import { ambiguitiesIn } from "../state/ambiguity.ts";
import type { TableRules } from "../state/layer.ts";
import { LayerSet, type LayerState } from "../state/layer-set.ts";
import { finish, type Steps } from "../state/steps.ts";
import type { Transaction } from "../state/transaction.ts";
import type { View } from "../state/view.ts";
import { Admission, entryPointOf, isOtherNode, type RejectedStream, typeDenied } from "./admission.ts";
import { CurrentViews } from "./cache/current-view.ts";
import { ServedVersions } from "./cache/served.ts";
import { SharedResponses } from "./cache/shared-responses.ts";
import { Conversion, needsStructs } from "./contract/conversion.ts";
import type { ServerEffect } from "./contract/effect.ts";
import type { ServerEvent, StreamId, StreamOpened, TransactionCommitted } from "./contract/event.ts";
import type { ResourceState, StreamState } from "./contract/inspect.ts";
import { InvariantError } from "./contract/invariant-error.ts";
import type { PreparedCommit } from "./contract/prepared-commit.ts";
import type { Remembered } from "./contract/remembered.ts";
import type { ServerMachineOptions } from "./contract/server-machine-options.ts";
import { excessOf, namesIn, noUsage, type PassedLimit } from "./contract/stream-limits.ts";
import { History } from "./history.ts";
import { NodesWithoutClusters } from "./order/nodes-without-clusters.ts";
import type { PolledView } from "./poll/polled-view.ts";
import { Polls } from "./poll/polls.ts";
import type { ProgressMember } from "./progress/member.ts";
import { Progress } from "./progress/progress.ts";
import { AccountSubscriptions } from "./stream/account-subscriptions.ts";
import { FlushQueue } from "./stream/flush-queue.ts";
import { type HeartbeatDue, HeartbeatSchedule } from "./stream/heartbeat-schedule.ts";
import { trimJournals } from "./stream/laggards.ts";
import { SiblingSets } from "./stream/sibling-sets.ts";
import { type FlushResult, Stream } from "./stream/stream.ts";
import { WaitTimers } from "./stream/wait-timers.ts";
import { ChangedNames } from "./subscription/changed-names.ts";
import { SubscriberIndex } from "./subscription/subscriber-index.ts";

const DEFAULT_MAX_JOURNAL_LINES = 1_000_000;
const DEFAULT_MAX_JOURNAL_BYTES = 256 * 1024 * 1024;
const noChanges: Transaction = { changes: [] };

/**
 * The protocol server of all streams and polls: it takes events, and returns effects; `next` flushes streams, a budget
 * at a time.
 */
export class ServerMachine {
  readonly #options: ServerMachineOptions;
  readonly #accountSubscriptions: AccountSubscriptions;
  readonly #layers: LayerSet<Stream | PolledView>;
  readonly #polls: Polls;
  readonly #responses: SharedResponses;
  readonly #currentViews: CurrentViews;
  readonly #opened = new Map<StreamId, StreamOpened>();
  readonly #streams = new Map<StreamId, Stream>();
  readonly #siblings: SiblingSets;
  readonly #admission: Admission;
  readonly #due = new FlushQueue<Stream>();
  readonly #askers: SubscriberIndex<Stream>;
  #isTurnOfPolls = false;
  readonly #waitTimers = new WaitTimers<Stream>(() => ++this.#lastTimer);
  /** Whether resources of a type are Clusters, which a client may go on using after they are deleted. */
  readonly #isCluster = (type: TypeUrl): boolean => this.#options.traits(type)?.kind === "cds";
  readonly #history: History<Stream | PolledView>;
  readonly #conversion: Conversion | undefined;
  #lastTimer = 0;
  readonly #heartbeats = new HeartbeatSchedule(() => ++this.#lastTimer);
  /** Which clients have which revision. */
  readonly progress: Progress = new Progress(() => this.#members());

  constructor(options: ServerMachineOptions) {
    this.#options = options;
    this.#accountSubscriptions = new AccountSubscriptions(options);
    this.#admission = new Admission(options, (layer) => this.#layers.isPresent(layer));
    const listsNews = options.remembers === true;
    const withoutClusters = new NodesWithoutClusters({ listsNews });
    this.#siblings = new SiblingSets(options.traits, this.#isCluster, withoutClusters);
    this.#conversion = options.convertForStructs && new Conversion(options.convertForStructs);
    this.#responses = new SharedResponses(options.digest, {
      namesPerStep: options.maxComparedPerTurn,
      served: new ServedVersions({ listsNews }),
    });
    this.#currentViews = new CurrentViews(this.#responses);
    this.#askers = new SubscriberIndex(this.#responses.nameSets);
    const rules: TableRules = {
      keepsBodies: this.#isCluster,
      terms: (type) => options.traits(type)?.terms,
    };
    this.#layers = new LayerSet(rules, {
      lines: options.maxJournalLines ?? DEFAULT_MAX_JOURNAL_LINES,
      bytes: options.maxJournalBytes ?? DEFAULT_MAX_JOURNAL_BYTES,
    });
    this.#history = new History(this.#layers, this.#responses, this.#isCluster, withoutClusters);
    const [layers, currentViews, admission] = [this.#layers, this.#currentViews, this.#admission];
    this.#polls = new Polls({
      ...options,
      layers,
      currentViews,
      admission,
      nextTimer: () => ++this.#lastTimer,
      progress: this.progress,
    });
  }

  /** Takes an event. What is to be sent because of it waits for `next`. */
  on(event: ServerEvent): readonly ServerEffect[] {
    switch (event.kind) {
      case "transaction-committed":
        return this.#commit(event);
      case "stream-opened":
        this.#opened.set(event.stream, event);
        return [];
      case "request-received":
        return this.#receive(event.stream, event.request);
      case "stream-closed":
        return this.#close(event.stream);
      case "stream-stalled":
        this.#due.stall(event.stream, this.#streams.get(event.stream));
        return [];
      case "stream-drained":
        this.#due.resume(event.stream, this.#streams.get(event.stream));
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
   * Flushes at most `budget` streams and polls, each from the newest state.
   *
   * @throws {InvariantError} a bug of the server, with the stream that was flushed; a budget of 1 loses no effects of
   * others
   */
  next(budget: number): readonly ServerEffect[] {
    const effects: ServerEffect[] = [];
    for (let left = budget; left > 0 && this.isDue; left--) {
      // Streams and polls alternate, so that neither waits for all of the other.
      this.#isTurnOfPolls = !this.#isTurnOfPolls;
      if (this.#polls.isDue && (this.#isTurnOfPolls || this.#due.isEmpty)) effects.push(...this.#polls.next());
      else this.#nextStream(effects);
    }
    this.#rest();
    return effects;
  }

  /** Flushes one stream ahead of the others; undefined: it does not wait for a flush. Throws as `next` does. */
  flushAhead(id: StreamId): readonly ServerEffect[] | undefined {
    const stream = this.#streams.get(id);
    if (stream === undefined || !this.#due.takeAhead(stream)) return undefined;
    const effects: ServerEffect[] = [];
    this.#flush(stream, effects);
    this.#rest();
    return effects;
  }

  /** Evaluates one poll ahead of the streams, if one waits. Throws as `next` does. */
  pollAhead(): readonly ServerEffect[] {
    const effects = this.#polls.isDue ? this.#polls.next() : [];
    this.#rest();
    return effects;
  }

  /** Drops what only streams and polls flushed at the same time share, once none is due. */
  #rest(): void {
    if (!this.isDue) this.#responses.rest();
  }

  #nextStream(effects: ServerEffect[]): void {
    const stream = this.#due.take();
    if (stream !== undefined) this.#flush(stream, effects);
  }

  #flush(stream: Stream, effects: ServerEffect[]): void {
    this.#catchUp(stream);
    const flushed = this.#flushOf(stream);
    if (this.#options.remembers === true) effects.push(...this.#history.served());
    for (const effect of flushed.effects) effects.push(effect);
    const ended = flushed.effects.length === 0 ? [] : this.#endBeyondLimits(stream);
    if (ended.length > 0) {
      effects.push(...ended);
      return;
    }
    if (stream.isSettled) this.#askers.settle(stream);
    if (stream.opened.onlyType !== undefined) this.#owe(stream, flushed.owed);
    if (flushed.isUnfinished) this.#awaken(stream);
    if (flushed.hasMoved) this.#wake(stream);
    for (const effect of this.#waitTimers.update(stream, this.#responses.revision)) effects.push(effect);
    this.progress.note(stream);
    if (stream.tellsTtls) this.#keepBeating(stream, effects);
  }

  #keepBeating(stream: Stream, effects: ServerEffect[]): void {
    for (const { type, ms } of stream.needsBeats()) {
      const due = { view: stream.view, type };
      if (this.#heartbeats.keep(due, ms, effects)) this.#beat(due);
    }
  }

  #flushOf(stream: Stream): FlushResult {
    try {
      return stream.flush();
    } catch (cause) {
      throw new InvariantError(stream.opened.stream, cause);
    }
  }

  /** Whether a stream or a poll waits for a flush. */
  get isDue(): boolean {
    return !this.#due.isEmpty || this.#polls.isDue;
  }

  /** The number of streams that wait for a flush. */
  get dueStreams(): number {
    return this.#due.size;
  }

  /** How many streams `next` has flushed so far. */
  get flushedStreams(): number {
    return this.#due.taken;
  }

  get isPollDue(): boolean {
    return this.#polls.isDue;
  }

  /** Whether an answer to a stream takes several flushes and is not complete. */
  isPaused(stream: StreamId): boolean {
    return this.#streams.get(stream)?.isPaused === true;
  }

  /** The revision of the newest transaction that changed anything. */
  get revision(): number {
    return this.#responses.revision;
  }

  *#members(): Iterable<ProgressMember> {
    for (const stream of this.#streams.values()) {
      stream.catchUp(this.#responses.revision);
      yield stream;
    }
    yield* this.#polls.members();
  }

  /** The current state of every stream, and of every recent poller. */
  *streams(): Iterable<StreamState> {
    for (const opened of this.#opened.values()) yield this.#describe(opened);
    yield* this.#polls.describe();
  }

  /** The current state of one stream or recent poller; undefined if there is no such one. */
  streamState(id: StreamId): StreamState | undefined {
    const opened = this.#opened.get(id);
    return opened === undefined ? this.#polls.describePoller(id) : this.#describe(opened);
  }

  #describe(opened: StreamOpened): StreamState {
    const stream = this.#streams.get(opened.stream);
    stream?.catchUp(this.#responses.revision);
    if (stream !== undefined) return stream.describe(this.#siblings.clientOf(stream));
    const { stream: id, variant, onlyType, apiVersion, peer } = opened;
    const unknown = { node: undefined, client: undefined, dialect: undefined } as const;
    return { stream: id, variant, onlyType, apiVersion, peer, ...unknown, layers: [], types: [] };
  }

  /**
   * The status of every resource that a stream subscribes to; empty for a stream that is not open. The iteration may be
   * spread over several events: each resource is reported as it is when the iteration reaches it.
   */
  *resourceStates(stream: StreamId): Iterable<ResourceState> {
    const open = this.#streams.get(stream);
    open?.catchUp(this.#responses.revision);
    if (open !== undefined) yield* open.resources();
  }

  /** Every layer with its types and the number of resources of each. */
  layers(): Iterable<LayerState> {
    return this.#layers.describe();
  }

  /**
   * The resources of a type in a view of these layers: the top-most holder of each name, with all variants of a name.
   * `grant`: only what it shows.
   */
  *resources(layers: readonly string[], type: TypeUrl, grant?: AccessGrant): Iterable<Resource> {
    for (const member of this.#layers.viewOf(layers, grant).members(type)) if (member.isStandIn !== true) yield member;
  }

  /** The layers of a node, or why the node mapping rejects it. */
  layersOf(node: Node, peer: Peer): readonly string[] | NodeMappingRejection {
    return this.#admission.layersOf(node, peer);
  }

  /** Who may have what. */
  get access(): AccessPolicy {
    return this.#admission.access;
  }

  /** The resource that one layer holds under a name; may be a resource error. */
  holder(layer: string, type: TypeUrl, name: string): Resource | undefined {
    return this.#layers.layer(layer)?.table(type)?.resources.get(name);
  }

  /** The resource errors of a type in a view of these layers. */
  resourceErrors(layers: readonly string[], type: TypeUrl): Iterable<Resource> {
    return this.#layers.viewOf(layers).errors(type).values();
  }

  /**
   * Prepares a transaction, so that little of a large one is left for the turn in which it takes effect. Changes nothing;
   * what is prepared is used if nothing else was committed to the same tables, and at its revision. Undefined: there is
   * nothing to prepare.
   */
  *prepare(transaction: Transaction): Steps<PreparedCommit | undefined> {
    const revision = this.#responses.revision + 1;
    if (this.#history.isRestored) return undefined;
    const tables = yield* this.#layers.prepare(transaction, revision, this.#options.editedAtOnce);
    if (tables === undefined) return undefined;
    const remembered = this.#options.remembers === true ? yield* this.#history.changed(transaction, revision) : [];
    return { tables, remembered };
  }

  /** Describes what a transaction would make ambiguous (S-LOC-08); such a transaction must not be committed. */
  ambiguities(transaction: Transaction): Steps<readonly string[]> {
    return ambiguitiesIn(transaction, (name) => this.#layers.layer(name));
  }

  /** The current Clusters, as records for the next server. */
  remembered(): Iterable<Remembered> {
    return this.#history.present();
  }

  #commit({ transaction: asGiven, prepared, ...replaced }: TransactionCommitted): readonly ServerEffect[] {
    const before = this.#responses.revision;
    const revision = before + 1;
    const transaction = asGiven === undefined ? noChanges : this.#history.complete(asGiven);
    const used = prepared !== undefined && this.#layers.holds(prepared.tables, revision) ? prepared : undefined;
    const remembers = used === undefined && this.#options.remembers === true;
    const remembered = remembers ? finish(this.#history.changed(transaction, revision)) : (used?.remembered ?? []);
    const layers = transaction.changes.map(({ layer }) => layer);
    const present = layers.map((layer) => this.#layers.isPresent(layer));
    const touched = this.#layers.apply(transaction, revision, used?.tables);
    this.#admission.replace(replaced);
    const mapsAll = replaced.nodeMapping !== undefined || replaced.access !== undefined;
    // A new mapping is a revision, so that one can ask who has it; before the first one there is nothing to have.
    const isRevision = touched !== undefined || transaction.systemVersion !== undefined || (mapsAll && before > 0);
    if (isRevision) this.#responses.advance(revision, transaction.systemVersion);
    if (touched !== undefined) {
      const names = new ChangedNames(revision);
      this.#touch(touched.views, names, revision);
      this.#polls.touch(touched.views, names, revision);
    }
    const changed = new Set(layers.filter((layer, index) => this.#layers.isPresent(layer) !== present[index]));
    const moved = this.#placeAgain((node) => mapsAll || this.#admission.dependsOn(changed, node), before);
    return touched === undefined ? moved : [...remembered, ...moved, ...this.#trim()];
  }

  /**
   * Makes due the streams that subscribe to something that changed or have unfinished work, with all their siblings.
   */
  #touch(views: ReadonlySet<View>, touched: ChangedNames, revision: number): void {
    const concerned = new Set<Stream>();
    for (const view of views) {
      for (const stream of this.#askers.concernedBy(view, touched)) {
        for (const one of stream.identity.siblings.streams) concerned.add(one);
      }
    }
    for (const stream of concerned) this.#awaken(stream, revision - 1);
  }

  /** Makes a stream due for a flush; what it is settled about did not change up to `unchangedTo`. */
  #awaken(stream: Stream, unchangedTo = this.#responses.revision): void {
    stream.catchUp(unchangedTo);
    stream.unsettle();
    this.#askers.unsettle(stream);
    this.#due.add(stream);
    this.progress.note(stream);
  }

  /** Advances the settled streams of one client past the changes that do not concern them. */
  #catchUp(stream: Stream): void {
    for (const one of stream.identity.siblings.streams) one.catchUp(this.#responses.revision);
  }

  /** Trims the journals, and ends the streams that lag too far behind. */
  #trim(): readonly ServerEffect[] {
    const message = "fell too far behind the changes; come back with the versions you hold";
    const laggards = trimJournals(this.#layers, this.#streams, this.#responses.revision);
    return [...laggards].flatMap(({ opened }) => this.#end(opened.stream, { code: statusCode.UNAVAILABLE, message }));
  }

  #receive(id: StreamId, request: DiscoveryRequest): readonly ServerEffect[] {
    const opened = this.#opened.get(id);
    if (opened === undefined) return [];
    const known = this.#streams.get(id);
    const type = this.#admission.typeOf(opened, request, known?.types);
    if (typeof type !== "string") return this.#end(id, type.refused);
    const identified = known === undefined ? this.#identify(opened, request) : this.#checkNode(known, request);
    const stream = this.#streams.get(id);
    if (stream === undefined) return identified;
    const denied = stream.types.has(type) ? [] : this.#denyType(stream, type);
    if (denied.some((effect) => effect.kind === "close-stream")) return [...identified, ...denied];
    const traits = this.#options.traits(type);
    const isUnknown = traits === undefined && !this.#layers.holdsAny(type);
    const unknown = isUnknown && !stream.types.has(type) ? this.#meetUnknown(stream, type) : [];
    if (unknown.some((effect) => effect.kind === "close-stream")) return [...identified, ...denied, ...unknown];
    // Before the names are subscribed to, which costs most.
    const { maxSubscriptionsPerStream: most = Number.POSITIVE_INFINITY } = this.#options;
    const excess = excessOf({ ...noUsage, subscriptions: namesIn(request, most) }, this.#options);
    if (excess !== undefined) return [...identified, ...denied, ...unknown, ...this.#endBeyond(stream, excess)];
    this.#catchUp(stream);
    const effects = [
      ...stream.onRequest(request, traits ?? opaqueTraits(type), isUnknown),
      ...this.#waitTimers.cancelEnded(stream),
    ];
    const isFlushNeeded = !stream.isSettled;
    if (isFlushNeeded) this.#awaken(stream);
    else {
      // What an ACK shows of the node is not left until the next flush.
      if (this.#options.remembers === true) effects.push(...this.#history.served());
      this.progress.note(stream);
      if (this.#options.flushesInVain === true) this.#flushInVain(stream);
    }
    const owed = stream.identity.siblings.order.takeOwed();
    if (owed.size > 0) this.#owe(stream, owed);
    this.#wake(stream);
    // What only ACKs exceeds no limit that it did not exceed before.
    const beyond = isFlushNeeded ? this.#endBeyondLimits(stream) : [];
    return [...identified, ...denied, ...unknown, ...effects, ...beyond];
  }

  /** Flushes a stream that has nothing to send. Throws if that has an effect. */
  #flushInVain(stream: Stream): void {
    this.#askers.unsettle(stream);
    stream.unsettle();
    const effects: ServerEffect[] = [];
    this.#flush(stream, effects);
    if (effects.length === 0 && stream.isSettled) return;
    throw new InvariantError(
      stream.opened.stream,
      new Error(`a flush that was left out has effects: ${effects.length}`),
    );
  }

  /** Checked after a flush too: a silent client exceeds a limit when its responses pile up without ACK. */
  #endBeyondLimits(stream: Stream): readonly ServerEffect[] {
    const { namesAskedFor: subscriptions, types } = stream;
    let unanswered = 0;
    for (const { deliveries } of types.values()) unanswered = Math.max(unanswered, deliveries.unanswered);
    const ofAccount = this.#accountSubscriptions.set(stream.opened.stream, stream.opened.peer, subscriptions);
    const excess = excessOf({ subscriptions, types: types.size, unanswered }, this.#options) ?? ofAccount;
    return excess === undefined ? [] : this.#endBeyond(stream, excess);
  }

  #endBeyond({ opened }: Stream, { limit, message }: PassedLimit): readonly ServerEffect[] {
    return this.#end(opened.stream, { code: statusCode.RESOURCE_EXHAUSTED, message }, limit);
  }

  #identify(opened: StreamOpened, request: DiscoveryRequest): readonly ServerEffect[] {
    const admitted = this.#admission.admit(opened, request);
    if ("refused" in admitted)
      return this.#refuse(opened, this.#admission.identify(request.node, opened.peer, opened.listener).node, admitted);
    const { node, choices, dialect, layers, grant } = admitted;
    const siblings = this.#siblings.find(opened, node.id);
    const view = this.#layers.viewOf(layers, grant);
    const conversion = needsStructs(node) ? this.#conversion : undefined;
    const stream = new Stream(opened, { node, dialect, choices, siblings, conversion }, this.#currentViews.of(view));
    this.#streams.set(opened.stream, stream);
    this.#layers.watch(view, stream);
    this.#siblings.join(siblings, stream);
    this.progress.found(node);
    return [{ kind: "report", report: { kind: "node-identified", stream: opened.stream, node, layers } }];
  }

  /** Ends a stream whose node is not served, or is not who it claims to be. */
  #refuse(opened: StreamOpened, node: Node, { refused, denied }: RejectedStream): readonly ServerEffect[] {
    const told = denied === undefined ? [] : [accessDenied(opened, node, undefined, denied)];
    return [...told, ...this.#end(opened.stream, refused)];
  }

  /**
   * Tells of a type that a stream may not have. On an aggregated stream it is as if the type had no resources; a stream
   * of this type alone ends.
   */
  #denyType({ view, opened, identity }: Stream, type: TypeUrl): readonly ServerEffect[] {
    if (!view.isDenied(type)) return [];
    const told = accessDenied(opened, identity.node, type, "its access does not cover the type");
    return [told, ...(opened.onlyType === undefined ? [] : this.#end(opened.stream, typeDenied(type)))];
  }

  #checkNode(stream: Stream, request: DiscoveryRequest): readonly ServerEffect[] {
    const { node, dialect } = stream.identity;
    if (!isOtherNode(node, request)) return [];
    if (dialect.nodeChange !== "reject") return [anomaly(stream, request.type, "node-changed")];
    const message = `the node of a stream cannot change from "${node.id}" to "${request.node?.id}"`;
    return this.#end(stream.opened.stream, { code: statusCode.INVALID_ARGUMENT, message });
  }

  #meetUnknown(stream: Stream, type: TypeUrl): readonly ServerEffect[] {
    if (stream.identity.dialect.unknownType === "ignore") return [anomaly(stream, type, "unknown-type")];
    const message = `unknown type ${messageNameOf(type)}`;
    return this.#end(stream.opened.stream, { code: statusCode.INVALID_ARGUMENT, message });
  }

  /** Maps nodes to layers again, and decides again what each may have. `before`: the revision that they may have. */
  #placeAgain(isConcerned: (node: Node) => boolean, before: number): readonly ServerEffect[] {
    const effects: ServerEffect[] = [];
    for (const stream of [...this.#streams.values()])
      if (isConcerned(stream.node)) effects.push(...this.#place(stream, before));
    effects.push(...this.#polls.place(isConcerned));
    return effects;
  }

  /**
   * Maps the node of a stream to layers again. What the client was sent stays known; only the difference is sent
   * (S-DEL-08).
   */
  #place(stream: Stream, before: number): readonly ServerEffect[] {
    const { node } = stream.identity;
    const { opened } = stream;
    const placed = this.#admission.place(node, opened.peer, entryPointOf(opened));
    if ("refused" in placed) return this.#refuse(opened, node, placed);
    const { layers, grant } = placed;
    const view = this.#layers.viewOf(layers, grant);
    if (view === stream.view) return [];
    this.#layers.unwatch(stream.view, stream);
    stream.current = this.#currentViews.of(view);
    this.#layers.watch(view, stream);
    // The old view's heartbeats no longer reach the stream, and the client may hold resources of that view only.
    for (const type of stream.types.keys()) stream.expectBeat(type);
    const denied = [...stream.types.keys()].flatMap((type) => this.#denyType(stream, type));
    if (denied.some((effect) => effect.kind === "close-stream")) return denied;
    this.#awaken(stream, before);
    const moved = { kind: "node-moved", stream: stream.opened.stream, node, layers } as const;
    return [...denied, { kind: "report", report: moved }];
  }

  /** Resends resources that depend on changed Clusters on the client's other streams (S-WRM-12). */
  #owe(stream: Stream, owed: ReadonlyMap<TypeUrl, ReadonlySet<string>>): void {
    for (const other of stream.identity.siblings.streams) {
      if (other === stream) continue;
      for (const [type, names] of owed) if (other.types.get(type)?.resend(names) === true) this.#awaken(other);
    }
  }

  /** Makes due the sibling streams that wait for one another. */
  #wake(stream: Stream): void {
    const { waiting } = stream.identity.siblings;
    for (const other of waiting) if (other !== stream) this.#awaken(other);
  }

  #expire(timer: number): readonly ServerEffect[] {
    const due = this.#heartbeats.fired(timer);
    if (due === undefined) return this.#polls.fired(timer) ?? this.#release(timer);
    this.#beat(due);
    return [];
  }

  /** Marks a heartbeat of a type as due on every stream of a view. */
  #beat({ view, type }: HeartbeatDue): void {
    for (const stream of this.#streamsOf(view)) if (stream.expectBeat(type)) this.#awaken(stream);
  }

  *#streamsOf(view: View): Iterable<Stream> {
    for (const watcher of this.#layers.watchersOf(view)) if (watcher instanceof Stream) yield watcher;
  }

  #release(timer: number): readonly ServerEffect[] {
    const fired = this.#waitTimers.fired(timer);
    if (fired === undefined) return [];
    const { stream, waiting, since } = fired;
    this.#catchUp(stream);
    const reports = stream.giveUpWaiting(waiting, since);
    this.#awaken(stream);
    return reports;
  }

  #end(stream: StreamId, status: Status, limit?: PassedLimit["limit"]): readonly ServerEffect[] {
    return [...this.#close(stream), { kind: "close-stream", stream, status, ...(limit !== undefined && { limit }) }];
  }

  #close(id: StreamId): readonly ServerEffect[] {
    this.#opened.delete(id);
    const stream = this.#streams.get(id);
    this.#due.forget(id, stream);
    if (stream === undefined) return [];
    this.#streams.delete(id);
    this.#accountSubscriptions.forget(id);
    stream.catchUp(this.#responses.revision);
    const head = this.#responses.revision;
    this.progress.left(stream, Math.min(stream.reached, head), head);
    this.#askers.forget(stream);
    this.#layers.unwatch(stream.view, stream);
    this.#siblings.leave(stream);
    this.#wake(stream);
    this.#rest();
    return this.#waitTimers.forget(stream);
  }
}

function accessDenied(opened: StreamOpened, node: Node, type: TypeUrl | undefined, reason: string): ServerEffect {
  const { stream, peer } = opened;
  const entryPoint = entryPointOf(opened);
  return { kind: "report", report: { kind: "access-denied", entryPoint, stream, node, peer, type, reason } };
}

function anomaly(stream: Stream, type: TypeUrl | undefined, what: "node-changed" | "unknown-type"): ServerEffect {
  const report = { kind: "anomaly", stream: stream.opened.stream, node: stream.identity.node, type, what } as const;
  return { kind: "report", report };
}
