import type { Status } from "../../message/status.ts";
import { statusCode } from "../../message/status.ts";
import type { Node } from "../../node/node.ts";
import type { LayerSet } from "../../state/layer-set.ts";
import type { View } from "../../state/view.ts";
import type { CurrentView } from "../cache/current-view.ts";
import type { SharedResponses } from "../cache/shared-responses.ts";
import type { ServerEffect } from "../contract/effect.ts";
import type { StreamId, StreamOpened } from "../contract/event.ts";
import { type AccountLimits, excessOf, type PassedLimit, type StreamLimits } from "../contract/stream-limits.ts";
import { AccountUsage, subscribedNames } from "../memory/account-usage.ts";
import { bytesOfNode } from "../memory/node-cost.ts";
import { isUnplaced, PendingPlacements } from "../memory/pending-placements.ts";
import type { Progress } from "../progress/progress.ts";
import type { ChangedNames } from "../subscription/changed-names.ts";
import { SubscriberIndex } from "../subscription/subscriber-index.ts";
import { FlushQueue } from "./flush-queue.ts";
import type { OwedNames } from "./pending-resends.ts";
import type { SiblingSet, SiblingSets } from "./sibling-sets.ts";
import { Stream } from "./stream.ts";
import { WaitTimers } from "./wait-timers.ts";

/** What streams use of the layers. */
export type LayersOfStreams = Pick<LayerSet<Stream>, "viewOf" | "holdsAny" | "watch" | "unwatch"> &
  Pick<LayerSet<object>, "watchersOf" | "trim">;

export interface OpenStreamsOptions extends StreamLimits, AccountLimits {
  readonly layers: LayersOfStreams;
  readonly responses: SharedResponses;
  readonly siblings: SiblingSets;
  readonly progress: Progress;
  /** The memory of what streams and polls say of themselves. */
  readonly clientMemory: AccountUsage;
  /** Returns an unused timer number. */
  readonly nextTimer: () => number;
  /** Called when a stream closed. */
  readonly closed: () => void;
}

/** The open streams: which of them wait for a flush, which a change concerns, and which wait for one another. */
export class OpenStreams {
  readonly #options: OpenStreamsOptions;
  readonly #opened = new Map<StreamId, StreamOpened>();
  readonly #streams = new Map<StreamId, Stream>();
  readonly #subscribers: SubscriberIndex<Stream>;
  readonly #subscriptions: AccountUsage;
  readonly #nodeBytes = new Map<StreamId, number>();
  /** What clients said beside their nodes and names, where they said anything. */
  readonly #said = new Map<StreamId, number>();
  /** The streams that wait for a flush. */
  readonly queue: FlushQueue<Stream> = new FlushQueue();
  /** The streams that are not placed yet. */
  readonly placements: PendingPlacements<Stream> = new PendingPlacements();
  /** The timers of streams that wait for an ACK, or for something that comes first. */
  readonly waitTimers: WaitTimers<Stream>;

  constructor(options: OpenStreamsOptions) {
    this.#options = options;
    this.#subscribers = new SubscriberIndex(options.responses.nameSets);
    this.#subscriptions = new AccountUsage(subscribedNames, options);
    this.waitTimers = new WaitTimers(options.nextTimer);
  }

  /** All streams, also those that have not sent a request. */
  get opened(): Iterable<StreamOpened> {
    return this.#opened.values();
  }

  /** The streams whose node is known. */
  get known(): ReadonlyMap<StreamId, Stream> {
    return this.#streams;
  }

  open(opened: StreamOpened): void {
    this.#opened.set(opened.stream, opened);
  }

  openedAs(id: StreamId): StreamOpened | undefined {
    return this.#opened.get(id);
  }

  /** A stream whose node is known. */
  get(id: StreamId): Stream | undefined {
    return this.#streams.get(id);
  }

  /** Adds a stream whose node is known now. */
  add(stream: Stream, siblings: SiblingSet): void {
    const { layers, progress } = this.#options;
    this.#streams.set(stream.opened.stream, stream);
    layers.watch(stream.view, stream);
    this.#options.siblings.join(siblings, stream);
    progress.found(stream.node);
  }

  /** Gives a stream another view. What the client was sent stays known. */
  move(stream: Stream, current: CurrentView): void {
    const { layers } = this.#options;
    layers.unwatch(stream.view, stream);
    stream.current = current;
    layers.watch(current.view, stream);
  }

  *inView(view: View): Iterable<Stream> {
    for (const watcher of this.#options.layers.watchersOf(view)) if (watcher instanceof Stream) yield watcher;
  }

  /**
   * Makes due the streams that subscribe to something that changed or have unfinished work, with all their siblings.
   */
  touch(views: ReadonlySet<View>, touched: ChangedNames, revision: number): void {
    const concerned = new Set<Stream>();
    for (const view of views) {
      for (const stream of this.#subscribers.concernedBy(view, touched)) {
        for (const one of stream.identity.siblings.streams) concerned.add(one);
      }
    }
    for (const stream of concerned) this.awaken(stream, revision - 1);
  }

  /**
   * Makes a stream due for a flush, once it is placed; what it is settled about did not change up to `unchangedTo`.
   */
  awaken(stream: Stream, unchangedTo: number = this.#options.responses.revision): void {
    if (stream.isSettled && isUnplaced(stream)) {
      this.placements.concern(stream, unchangedTo);
      return;
    }
    stream.catchUp(unchangedTo);
    stream.unsettle();
    this.#subscribers.unsettle(stream);
    this.queue.add(stream);
    this.#options.progress.note(stream);
  }

  /** A flush left the stream settled. */
  settle(stream: Stream): void {
    this.#subscribers.settle(stream);
  }

  /** Advances the settled streams of one client past the changes that do not concern them. */
  catchUp(stream: Stream): void {
    for (const one of stream.identity.siblings.streams) one.catchUp(this.#options.responses.revision);
  }

  /** Resends resources that depend on changed Clusters on the client's other streams (S-WRM-12). */
  resendOnOthers(stream: Stream, owed: Iterable<OwedNames>): void {
    for (const other of stream.identity.siblings.streams) {
      if (other === stream) continue;
      for (const [type, names] of owed) if (other.types.get(type)?.resend(names) === true) this.awaken(other);
    }
  }

  /** Makes due the sibling streams that wait for one another. */
  wakeWaiting(stream: Stream): void {
    const { waiting } = stream.identity.siblings;
    for (const other of waiting) if (other !== stream) this.awaken(other);
  }

  /** Ends a stream that exceeds a limit; empty: it does not. */
  endBeyondLimits(stream: Stream): readonly ServerEffect[] {
    const { namesAskedFor: subscriptions, namesKept: kept, types } = stream;
    let unanswered = 0;
    for (const { deliveries } of types.values()) unanswered = Math.max(unanswered, deliveries.unanswered);
    const ofAccount = this.countNames(stream);
    const excess = excessOf({ subscriptions, kept, types: types.size, unanswered }, this.#options) ?? ofAccount;
    return excess === undefined ? [] : this.endBeyond(stream, excess);
  }

  /** Counts the names that a stream holds; returns the limit of its account that is exceeded by them. */
  countNames({ opened, namesAskedFor, namesKept }: Stream): PassedLimit | undefined {
    return this.#subscriptions.set(opened.stream, opened.peer, namesAskedFor + namesKept);
  }

  /**
   * Counts the memory of a stream's nodes, and ends a stream that exceeds a limit by it. Those of different streams are
   * kept apart, so each counts.
   */
  countNodes(opened: StreamOpened, nodes: Iterable<Node>): readonly ServerEffect[] {
    let bytes = 0;
    for (const node of nodes) bytes += bytesOfNode(node);
    this.#nodeBytes.set(opened.stream, bytes);
    return this.#countClient(opened);
  }

  /** Counts what else a client said of itself, if it changed, and ends a stream that exceeds a limit by it. */
  countSaid({ opened, saidBytes }: Stream): readonly ServerEffect[] {
    if (saidBytes === (this.#said.get(opened.stream) ?? 0)) return [];
    if (saidBytes === 0) this.#said.delete(opened.stream);
    else this.#said.set(opened.stream, saidBytes);
    return this.#countClient(opened);
  }

  /** Whether anything is counted of a stream beside its nodes. */
  hasSaid({ opened }: Stream): boolean {
    return this.#said.has(opened.stream);
  }

  #countClient(opened: StreamOpened): readonly ServerEffect[] {
    const { stream, peer } = opened;
    const bytes = (this.#nodeBytes.get(stream) ?? 0) + (this.#said.get(stream) ?? 0);
    const excess = this.#options.clientMemory.set(stream, peer, bytes);
    return excess === undefined ? [] : this.endBeyond({ opened }, excess);
  }

  endBeyond({ opened }: Pick<Stream, "opened">, { limit, message }: PassedLimit): readonly ServerEffect[] {
    return this.end(opened.stream, { code: statusCode.RESOURCE_EXHAUSTED, message }, limit);
  }

  end(stream: StreamId, status: Status, limit?: PassedLimit["limit"]): readonly ServerEffect[] {
    return [...this.close(stream), { kind: "close-stream", stream, status, ...(limit !== undefined && { limit }) }];
  }

  /** Forgets a stream that closed. */
  close(id: StreamId): readonly ServerEffect[] {
    const { layers, progress, responses, siblings, clientMemory, closed } = this.#options;
    this.#opened.delete(id);
    this.#nodeBytes.delete(id);
    this.#said.delete(id);
    clientMemory.forget(id);
    const stream = this.#streams.get(id);
    this.queue.forget(id, stream);
    if (stream === undefined) return [];
    this.#streams.delete(id);
    this.#subscriptions.forget(id);
    const { revision } = responses;
    stream.catchUp(revision);
    progress.left(stream, Math.min(stream.reached, revision), revision);
    this.placements.take(stream);
    this.#subscribers.forget(stream);
    layers.unwatch(stream.view, stream);
    siblings.leave(stream);
    this.wakeWaiting(stream);
    closed();
    return this.waitTimers.forget(stream);
  }
}
