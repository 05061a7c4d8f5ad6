import type { AccessGrant, AccessPolicy } from "../access/access-policy.ts";
import type { DiscoveryRequest } from "../message/request.ts";
import type { Node } from "../node/node.ts";
import type { NodeMappingRejection, Peer } from "../node/node-mapping.ts";
import type { Resource } from "../resource/resource.ts";
import type { TypeUrl } from "../resource/type-url.ts";
import { ambiguitiesIn } from "../state/ambiguity.ts";
import type { TableRules } from "../state/layer.ts";
import { LayerSet, type LayerState } from "../state/layer-set.ts";
import { finish, type Steps } from "../state/steps.ts";
import type { Transaction } from "../state/transaction.ts";
import { Admission } from "./admission.ts";
import { CurrentViews } from "./cache/current-view.ts";
import { KnownVersions } from "./cache/known-versions.ts";
import { ServedVersions } from "./cache/served.ts";
import { SharedResponses } from "./cache/shared-responses.ts";
import type { ServerEffect } from "./contract/effect.ts";
import type { ServerEvent, StreamId, TransactionCommitted } from "./contract/event.ts";
import type { PlacedStream, ResourceState, StreamState } from "./contract/inspect.ts";
import type { PreparedCommit } from "./contract/prepared-commit.ts";
import type { Remembered } from "./contract/remembered.ts";
import type { ServerMachineOptions } from "./contract/server-machine-options.ts";
import { History } from "./history.ts";
import { AccountUsage, clientBytes } from "./memory/account-usage.ts";
import { ClusterSources } from "./order/cluster-sources.ts";
import { listsDeleted } from "./order/deferred-removals.ts";
import type { PolledView } from "./poll/polled-view.ts";
import { Polls } from "./poll/polls.ts";
import { Progress } from "./progress/progress.ts";
import { SiblingSets } from "./stream/sibling-sets.ts";
import type { Stream } from "./stream/stream.ts";
import { Streams } from "./stream/streams.ts";
import { ChangedNames } from "./subscription/changed-names.ts";

const DEFAULT_PLACED_AT_ONCE = 50;
const DEFAULT_MAX_JOURNAL_LINES = 1_000_000;
const DEFAULT_MAX_JOURNAL_BYTES = 256 * 1024 * 1024;
const noChanges: Transaction = { changes: [] };

/**
 * The protocol server of all streams and polls: it takes events, and returns effects; `next` flushes streams, a budget
 * at a time.
 */
export class ServerMachine {
  readonly #options: ServerMachineOptions;
  readonly #layers: LayerSet<Stream | PolledView>;
  readonly #responses: SharedResponses;
  readonly #currentViews: CurrentViews;
  readonly #knownVersions = new KnownVersions();
  readonly #admission: Admission;
  readonly #history: History<Stream | PolledView>;
  readonly #streams: Streams;
  readonly #polls: Polls;
  readonly #clientMemory: AccountUsage;
  #isTurnOfPolls = false;
  #lastTimer = 0;
  /** Which clients have which revision. */
  readonly progress: Progress = new Progress(() => [this.#streams.members(), this.#polls.members()]);

  constructor(options: ServerMachineOptions) {
    this.#options = options;
    const { traits } = options;
    this.#clientMemory = new AccountUsage(clientBytes, options);
    const listsNews = options.remembers === true;
    const isCluster = (type: TypeUrl): boolean => traits(type)?.kind === "cds";
    const clusterSources = new ClusterSources({ listsNews });
    this.#responses = new SharedResponses(options.digest, {
      namesPerStep: options.maxComparedPerTurn,
      maxRemoved: options.maxSubscriptionsPerStream,
      served: new ServedVersions({ listsNews }),
    });
    const rules: TableRules = {
      keepsBodies: (type) => listsDeleted(traits(type)?.kind),
      terms: (type) => traits(type)?.terms,
      addressesIn: (type) => traits(type)?.addressesIn,
    };
    this.#layers = new LayerSet(rules, {
      lines: options.maxJournalLines ?? DEFAULT_MAX_JOURNAL_LINES,
      bytes: options.maxJournalBytes ?? DEFAULT_MAX_JOURNAL_BYTES,
    });
    this.#history = new History(this.#layers, this.#responses, rules.keepsBodies, clusterSources);
    this.#admission = new Admission(options, (layer) => this.#layers.isPresent(layer));
    this.#currentViews = new CurrentViews(this.#responses);
    const shared = {
      ...options,
      clientMemory: this.#clientMemory,
      layers: this.#layers,
      currentViews: this.#currentViews,
      admission: this.#admission,
      progress: this.progress,
      nextTimer: () => ++this.#lastTimer,
    };
    this.#streams = new Streams({
      ...shared,
      responses: this.#responses,
      siblings: new SiblingSets(traits, isCluster, clusterSources),
      takeServed: listsNews ? () => this.#history.served() : undefined,
      closed: () => this.#rest(),
    });
    this.#polls = new Polls(shared);
  }

  /** Takes an event. What is to be sent because of it waits for `next`. */
  on(event: ServerEvent): readonly ServerEffect[] {
    switch (event.kind) {
      case "transaction-committed":
        return this.#commit(event);
      case "stream-opened":
      case "request-received":
      case "request-withheld":
      case "stream-closed":
      case "stream-stalled":
      case "stream-drained":
        return this.#streams.on(event);
      case "poll-received":
      case "poll-closed":
      case "polls-dismissed":
        return this.#polls.on(event);
      case "timer-fired":
        return this.#streams.fired(event.timer) ?? this.#polls.fired(event.timer) ?? [];
      case "history-restored":
        this.#history.restore(event.remembered);
        return [];
      case "served-elsewhere":
        return this.#history.noteElsewhere(event.remembered);
      default:
        return event satisfies never;
    }
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
      this.#streams.touch(touched.views, names, revision);
      this.#polls.touch(touched.views, names, revision);
    }
    const changed = new Set(layers.filter((layer, index) => this.#layers.isPresent(layer) !== present[index]));
    const isConcerned = (node: Node): boolean => mapsAll || this.#admission.dependsOn(changed, node);
    if (mapsAll || changed.size > 0) {
      this.#streams.unplace(isConcerned, before);
      this.#polls.unplace(isConcerned, before);
    }
    const moved = this.#placeSome(this.#options.placedAtOnce ?? DEFAULT_PLACED_AT_ONCE);
    return touched === undefined ? moved : [...remembered, ...moved, ...this.#streams.trim()];
  }

  /** Gives clients the layers that they are to have: so many streams, or those of one client more. */
  #placeSome(budget: number): readonly ServerEffect[] {
    const effects: ServerEffect[] = [];
    for (let left = budget; left > 0 && this.isPlacementDue; ) {
      if (this.#streams.unplaced > 0) left -= this.#streams.placeNext(effects);
      else {
        this.#polls.placeNext(effects);
        left--;
      }
    }
    return effects;
  }

  /** Gives one client the layers that it is to have. Throws as `next` does. */
  placeNext(): readonly ServerEffect[] {
    const effects = this.#placeSome(1);
    this.#rest();
    return effects;
  }

  /**
   * Flushes at most `budget` streams and polls, each from the newest state; when none is left, it places clients.
   *
   * @throws {InvariantError} a bug of the server, with the stream that was flushed; a budget of 1 loses no effects of
   * others
   */
  next(budget: number): readonly ServerEffect[] {
    const effects: ServerEffect[] = [];
    for (let left = budget; left > 0 && this.isDue; left--) {
      // Streams and polls alternate, so that neither waits for all of the other.
      this.#isTurnOfPolls = !this.#isTurnOfPolls;
      if (this.#polls.isDue && (this.#isTurnOfPolls || !this.#streams.isDue)) effects.push(...this.#polls.next());
      else if (this.#streams.isDue) this.#streams.next(effects);
      else effects.push(...this.#placeSome(1));
    }
    this.#rest();
    return effects;
  }

  /** As `next` with a budget of 1, for a poll or for a stream that asked for something, which alternate. */
  nextAsking(): readonly ServerEffect[] {
    const effects: ServerEffect[] = [];
    this.#isTurnOfPolls = !this.#isTurnOfPolls;
    if (this.#polls.isDue && (this.#isTurnOfPolls || !this.#streams.isAskingDue)) effects.push(...this.#polls.next());
    else this.#streams.nextAsking(effects);
    this.#rest();
    return effects;
  }

  /** Drops what only streams and polls flushed at the same time share, once none is due. */
  #rest(): void {
    if (!this.isDue) this.#responses.rest();
  }

  /** Whether a stream or a poll waits for a flush, or a client for its layers. */
  get isDue(): boolean {
    return this.#streams.isDue || this.#polls.isDue || this.isPlacementDue;
  }

  /** Whether a client waits until it is given the layers that it is to have; it is sent nothing until then. */
  get isPlacementDue(): boolean {
    return this.#streams.unplaced + this.#polls.unplaced > 0;
  }

  /** The number of streams that something changed for, or may have, once they have their layers. */
  get changedStreams(): number {
    return this.#streams.changed + this.#streams.unplaced;
  }

  /** How many streams `next` has flushed so far because something had changed for them. */
  get flushedChanged(): number {
    return this.#streams.flushedChanged;
  }

  /** How many flushes so far left an answer that takes several of them. */
  get pausedFlushes(): number {
    return this.#streams.paused;
  }

  /** What the remembered pollers without a poll cost, in bytes. */
  get pollerBytes(): number {
    return this.#polls.rememberedBytes;
  }

  /** What streams and waiting polls say of themselves, in estimated bytes of memory. */
  get clientBytes(): number {
    return this.#clientMemory.inAll;
  }

  /** Whether a poll waits, or a stream that asked for something. */
  get isAskingDue(): boolean {
    return this.#polls.isDue || this.#streams.isAskingDue;
  }

  /** Whether a stream was not sent all that it asked for: its answer waits for a flush, or for several. */
  isAnswerPending(stream: StreamId): boolean {
    return this.#streams.isAnswerPending(stream);
  }

  /** The revision of the newest transaction that changed anything. */
  get revision(): number {
    return this.#responses.revision;
  }

  /** The current state of every stream, and of every recent poller. */
  *streams(): Iterable<StreamState> {
    yield* this.#streams.describe();
    yield* this.#polls.describe();
  }

  /** Every stream whose node is known, and every recent poller, with their layers. */
  *placedStreams(): Iterable<PlacedStream> {
    yield* this.#streams.placed();
    yield* this.#polls.placed();
  }

  /** The node of a stream; undefined: no request has named it yet, or there is no such stream. */
  nodeOf(stream: StreamId): Node | undefined {
    return this.#streams.nodeOf(stream);
  }

  /** The current state of one stream or recent poller; undefined if there is no such one. */
  streamState(id: StreamId): StreamState | undefined {
    return this.#streams.describeStream(id) ?? this.#polls.describePoller(id);
  }

  /**
   * The status of every resource that a stream subscribes to; empty for a stream that is not open. The iteration may be
   * spread over several events: each resource is reported as it is when the iteration reaches it.
   */
  resourceStates(stream: StreamId): Iterable<ResourceState> {
    return this.#streams.resourceStates(stream);
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

  /**
   * Whether what a client of these layers says it has of a type is of states that are in force here, or were lately.
   * `grant`: it sees only what that shows.
   */
  knows(layers: readonly string[], type: TypeUrl, request: DiscoveryRequest, grant?: AccessGrant): boolean {
    return this.#knownVersions.covers(request, type, this.#currentViews.of(this.#layers.viewOf(layers, grant)));
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

  /** The current Clusters, as records for the next server. */
  remembered(): Iterable<Remembered> {
    return this.#history.present();
  }
}
