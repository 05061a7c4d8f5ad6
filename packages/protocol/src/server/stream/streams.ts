import type { DiscoveryRequest } from "../../message/request.ts";
import { statusCode } from "../../message/status.ts";
import type { Node } from "../../node/node.ts";
import { opaqueTraits, type TypeTraits } from "../../resource/type-traits.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import type { View } from "../../state/view.ts";
import { entryPointOf } from "../admission.ts";
import type { ServerEffect } from "../contract/effect.ts";
import type { RequestWithheld, StreamEvent, StreamId, StreamOpened } from "../contract/event.ts";
import type { PlacedStream, ResourceState, StreamState } from "../contract/inspect.ts";
import { InvariantError } from "../contract/invariant-error.ts";
import { excessOf, namesIn, noUsage } from "../contract/stream-limits.ts";
import { bytesOfLongVersion } from "../memory/kept-version.ts";
import { isUnplaced } from "../memory/pending-placements.ts";
import type { ProgressMember } from "../progress/member.ts";
import type { ChangedNames } from "../subscription/changed-names.ts";
import { type HeartbeatDue, HeartbeatSchedule } from "./heartbeat-schedule.ts";
import { isLaggard, trimJournals } from "./laggards.ts";
import { OpenStreams, type OpenStreamsOptions } from "./open-streams.ts";
import type { FlushResult, Stream } from "./stream.ts";
import { isEnded, StreamAdmission, type StreamAdmissionOptions } from "./stream-admission.ts";

export interface StreamsOptions extends OpenStreamsOptions, StreamAdmissionOptions {
  readonly traits: (type: TypeUrl) => TypeTraits | undefined;
  /** The records of what clients were sent since the last call; undefined: nobody keeps any. */
  readonly takeServed?: (() => readonly ServerEffect[]) | undefined;
}

/**
 * Streams: takes their requests, and flushes them. A request or a change makes a stream due, and a flush sends what is
 * new at that time, so it does not matter how many of them came.
 */
export class Streams {
  readonly #options: StreamsOptions;
  readonly #open: OpenStreams;
  readonly #admission: StreamAdmission;
  readonly #heartbeats: HeartbeatSchedule;
  #paused = 0;

  constructor(options: StreamsOptions) {
    this.#options = options;
    this.#open = new OpenStreams(options);
    this.#admission = new StreamAdmission(options, this.#open);
    this.#heartbeats = new HeartbeatSchedule(options.nextTimer);
  }

  get isDue(): boolean {
    return !this.#open.queue.isEmpty;
  }

  /** Whether a stream waits that asked for something. */
  get isAskingDue(): boolean {
    return this.#open.queue.hasAsking;
  }

  /** The number of streams that wait because something changed for them. */
  get changed(): number {
    return this.#open.queue.changed;
  }

  /** How many streams were flushed so far, in their turn, because something had changed for them. */
  get flushedChanged(): number {
    return this.#open.queue.takenChanged;
  }

  /** How many flushes so far left an answer that takes several of them. */
  get paused(): number {
    return this.#paused;
  }

  /**
   * Whether a stream was not sent all that it asked for: its answer takes several flushes, or waits for one, if need be
   * until its client reads.
   */
  isAnswerPending(id: StreamId): boolean {
    const stream = this.#open.get(id);
    return stream !== undefined && (stream.isPaused || this.#open.queue.isAsking(stream));
  }

  *members(): Iterable<ProgressMember> {
    for (const stream of this.#open.known.values()) yield this.#upToDate(stream);
  }

  /** Every stream with the layers that it has, or is about to have. */
  *placed(): Iterable<PlacedStream> {
    const { admission } = this.#options;
    for (const stream of this.#open.known.values()) {
      if (!isUnplaced(stream)) yield stream.placed;
      else {
        const placed = admission.place(stream.node, stream.opened.peer, entryPointOf(stream.opened));
        if (!("refused" in placed)) yield { ...stream.placed, layers: placed.layers };
      }
    }
  }

  *describe(): Iterable<StreamState> {
    for (const opened of this.#open.opened) yield this.#describe(opened);
  }

  nodeOf(id: StreamId): Node | undefined {
    return this.#open.get(id)?.node;
  }

  describeStream(id: StreamId): StreamState | undefined {
    const opened = this.#open.openedAs(id);
    return opened && this.#describe(opened);
  }

  *resourceStates(id: StreamId): Iterable<ResourceState> {
    const stream = this.#open.get(id);
    if (stream !== undefined) yield* this.#upToDate(stream).resources();
  }

  on(event: StreamEvent): readonly ServerEffect[] {
    switch (event.kind) {
      case "stream-opened":
        this.#open.open(event);
        return [];
      case "request-received":
        return this.#receive(event.stream, event.request);
      case "request-withheld":
        return this.#withhold(event);
      case "stream-closed":
        // Whether it had the newest revision depends on the layers that it was to have.
        return [...this.#placeAhead(this.#open.get(event.stream)), ...this.#open.close(event.stream)];
      case "stream-stalled":
        this.#open.queue.stall(event.stream, this.#open.get(event.stream));
        return [];
      case "stream-drained":
        this.#open.queue.resume(event.stream, this.#open.get(event.stream));
        return [];
      default:
        return event satisfies never;
    }
  }

  /** Marks what a transaction at this revision changed in these views. */
  touch(views: ReadonlySet<View>, names: ChangedNames, revision: number): void {
    this.#open.touch(views, names, revision);
  }

  /** Nodes are to be mapped to layers again. `before`: the newest revision that they may have until then. */
  unplace(isConcerned: (node: Node) => boolean, before: number): void {
    for (const stream of this.#open.known.values())
      if (isConcerned(stream.node)) this.#open.placements.add(stream, before);
  }

  /** The number of streams that are not placed. */
  get unplaced(): number {
    return this.#open.placements.size;
  }

  /** Places the next client, with all its streams, which share an order; returns how many streams that were. */
  placeNext(effects: ServerEffect[]): number {
    const { unplaced } = this;
    const stream = this.#open.placements.next();
    if (stream !== undefined) effects.push(...this.#placeAhead(stream));
    return unplaced - this.unplaced;
  }

  /**
   * Places the streams of one client, before anything is sent to one of them: in the same order, one that is placed
   * would take one that is not for one that has everything.
   */
  #placeAhead(stream: Stream | undefined): readonly ServerEffect[] {
    if (stream === undefined || (this.#open.placements.isEmpty && !isUnplaced(stream))) return none;
    const effects: ServerEffect[] = [];
    for (const one of [...stream.identity.siblings.streams]) if (isUnplaced(one)) effects.push(...this.#place(one));
    return effects;
  }

  #place(stream: Stream): readonly ServerEffect[] {
    try {
      return this.#admission.place(stream);
    } catch (cause) {
      throw new InvariantError(stream.opened.stream, cause);
    }
  }

  #isOpen({ opened }: Stream): boolean {
    return this.#open.get(opened.stream) !== undefined;
  }

  /** Trims the journals, and ends the streams that lag too far behind. */
  trim(): readonly ServerEffect[] {
    const message = "fell too far behind the changes; come back with the versions you hold";
    const { layers, responses } = this.#options;
    const { revision } = responses;
    const effects: ServerEffect[] = [];
    for (const laggard of trimJournals(layers, this.#open.known, revision)) {
      // One that is not placed may have all that it needs.
      if (isUnplaced(laggard)) effects.push(...this.#placeAhead(laggard));
      if (!this.#isOpen(laggard) || !isLaggard(laggard, revision)) continue;
      effects.push(...this.#open.end(laggard.opened.stream, { code: statusCode.UNAVAILABLE, message }));
    }
    return effects;
  }

  /** Handles a timer; undefined: it is none of these. */
  fired(timer: number): readonly ServerEffect[] | undefined {
    const due = this.#heartbeats.fired(timer);
    if (due === undefined) return this.#giveUpWaiting(timer);
    this.#beat(due);
    return [];
  }

  /**
   * Flushes the stream that has waited longest among those that asked for something, or that something changed for, in
   * turn, from the newest state.
   *
   * @throws {InvariantError} a bug of the server, with the stream that was flushed
   */
  next(effects: ServerEffect[]): void {
    this.#flushRow(this.#open.queue.takeTurn(), effects);
  }

  /** As `next`, for those that asked for something. */
  nextAsking(effects: ServerEffect[]): void {
    this.#flushRow("asking", effects);
  }

  #flushRow(row: "asking" | "changed", effects: ServerEffect[]): void {
    const { queue } = this.#open;
    const stream = queue.take(row);
    if (stream === undefined) return;
    this.#flush(stream, effects);
    // The rest of an answer that takes several flushes waits where its beginning did.
    if (row === "asking") queue.asks(stream);
  }

  /** Who sends a request, and of which type; without a stream it is not served. */
  #identify(id: StreamId, request: DiscoveryRequest): IdentifiedSender {
    const known = this.#open.get(id);
    const opened = known?.opened ?? this.#open.openedAs(id);
    if (opened === undefined) return { effects: none };
    const type = this.#options.admission.typeOf(opened, request, known?.types);
    if (typeof type !== "string") return { effects: this.#open.end(id, type.refused) };
    const effects =
      known === undefined ? this.#admission.identify(opened, request) : this.#admission.checkNode(known, request);
    const stream = effects.length > 0 ? this.#open.get(id) : known;
    if (stream === undefined) return { effects };
    const placed = known === undefined ? this.#placeAhead(stream) : none;
    return { effects: placed.length === 0 ? effects : [...effects, ...placed], sender: { stream, type } };
  }

  /** The client is known from here on, and has nothing of the type until its request comes through. */
  #withhold({ stream: id, request, missing }: RequestWithheld): readonly ServerEffect[] {
    const placed = this.#placeAhead(this.#open.get(id));
    const { effects, sender } = this.#identify(id, request);
    if (sender === undefined) return [...placed, ...effects];
    sender.stream.withhold(sender.type, request, missing);
    this.#open.awaken(sender.stream);
    return [...placed, ...effects];
  }

  #receive(id: StreamId, request: DiscoveryRequest): readonly ServerEffect[] {
    const placed = this.#placeAhead(this.#open.get(id));
    const taken = this.#take(id, request);
    return placed.length === 0 ? taken : [...placed, ...taken];
  }

  #take(id: StreamId, request: DiscoveryRequest): readonly ServerEffect[] {
    const { effects: identified, sender } = this.#identify(id, request);
    if (sender === undefined) return identified;
    const { stream, type } = sender;
    const { layers, traits: traitsOf, takeServed, progress } = this.#options;
    const effects = [...identified];
    const traits = traitsOf(type);
    const isUnknown = traits === undefined && !layers.holdsAny(type);
    if (!stream.types.has(type)) {
      const denied = this.#admission.denyType(stream, type);
      effects.push(...denied);
      if (isEnded(denied)) return effects;
      const unknown = isUnknown ? this.#admission.meetUnknown(stream, type) : [];
      effects.push(...unknown);
      if (isEnded(unknown)) return effects;
    }
    // Before the names are subscribed to, which costs most.
    const { maxSubscriptionsPerStream: most = Number.POSITIVE_INFINITY } = this.#options;
    const subscriptions = namesIn(request, most);
    const excess = subscriptions === 0 ? undefined : excessOf({ ...noUsage, subscriptions }, this.#options);
    if (excess !== undefined) return [...effects, ...this.#open.endBeyond(stream, excess)];
    this.#open.catchUp(stream);
    effects.push(...stream.onRequest(request, traits ?? opaqueTraits(type), isUnknown));
    effects.push(...this.#open.waitTimers.cancelEnded(stream));
    const isFlushNeeded = !stream.isSettled;
    if (isFlushNeeded) {
      this.#open.awaken(stream);
      if (asks(request, effects)) this.#open.queue.asks(stream);
    } else {
      // What an ACK shows of the node is not left until the next flush.
      if (takeServed !== undefined) effects.push(...takeServed());
      progress.note(stream);
    }
    const owed = stream.identity.siblings.order.takeOwed();
    if (owed.size > 0) this.#open.resendOnOthers(stream, owed);
    this.#open.wakeWaiting(stream);
    if (saysMore(request) || this.#open.hasSaid(stream)) {
      const ended = this.#open.countSaid(stream);
      if (isEnded(ended)) return [...effects, ...ended];
    }
    // What only ACKs exceeds no limit that it did not exceed before, and may release names.
    if (isFlushNeeded) effects.push(...this.#open.endBeyondLimits(stream));
    else this.#open.countNames(stream);
    return effects;
  }

  #flush(stream: Stream, effects: ServerEffect[]): void {
    const { takeServed, responses, progress } = this.#options;
    if (isUnplaced(stream)) {
      effects.push(...this.#placeAhead(stream));
      if (!this.#isOpen(stream)) return;
      // This is the flush for which that made it due.
      this.#open.queue.remove(stream);
    }
    this.#open.catchUp(stream);
    const flushed = flushOf(stream);
    if (takeServed !== undefined) effects.push(...takeServed());
    for (const effect of flushed.effects) effects.push(effect);
    // A silent client exceeds a limit when its responses pile up without ACK, and one that listed versions by what is gone.
    const mayExceed = flushed.effects.length > 0 || this.#open.hasSaid(stream);
    const ended = mayExceed ? this.#open.endBeyondLimits(stream) : [];
    if (ended.length > 0) {
      effects.push(...ended);
      return;
    }
    if (this.#open.hasSaid(stream)) {
      const beyond = this.#open.countSaid(stream);
      effects.push(...beyond);
      if (isEnded(beyond)) return;
    }
    if (stream.isSettled) this.#open.settle(stream);
    this.#open.resendOnOthers(stream, flushed.owed);
    if (flushed.isUnfinished) {
      this.#paused++;
      this.#open.awaken(stream);
    }
    if (flushed.hasMoved) this.#open.wakeWaiting(stream);
    for (const effect of this.#open.waitTimers.update(stream, responses.revision)) effects.push(effect);
    progress.note(stream);
    if (stream.tellsTtls) this.#keepBeating(stream, effects);
  }

  #keepBeating(stream: Stream, effects: ServerEffect[]): void {
    for (const { type, ms } of stream.needsBeats()) {
      const due = { view: stream.view, type };
      if (this.#heartbeats.keep(due, ms, effects)) this.#beat(due);
    }
  }

  /** Marks a heartbeat of a type as due on every stream of a view. */
  #beat({ view, type }: HeartbeatDue): void {
    for (const stream of this.#open.inView(view)) if (stream.expectBeat(type)) this.#open.awaken(stream);
  }

  #giveUpWaiting(timer: number): readonly ServerEffect[] | undefined {
    const fired = this.#open.waitTimers.fired(timer);
    if (fired === undefined) return undefined;
    const { stream, waiting, since } = fired;
    const placed = this.#placeAhead(stream);
    if (!this.#isOpen(stream)) return placed;
    this.#open.catchUp(stream);
    const reports = stream.giveUpWaiting(waiting, since);
    this.#open.awaken(stream);
    // Other streams of the client may have waited for what it ended.
    this.#open.wakeWaiting(stream);
    // Thousands that came back together stop waiting together: nothing changed, and no change is delayed for them.
    this.#open.queue.asks(stream);
    return [...placed, ...reports];
  }

  #upToDate(stream: Stream): Stream {
    stream.catchUp(this.#options.responses.revision);
    return stream;
  }

  #describe(opened: StreamOpened): StreamState {
    const stream = this.#open.get(opened.stream);
    if (stream !== undefined) return this.#upToDate(stream).describe(this.#options.siblings.clientOf(stream));
    const { stream: id, variant, onlyType, apiVersion, peer } = opened;
    const unknown = { node: undefined, client: undefined, dialect: undefined } as const;
    return { stream: id, variant, onlyType, apiVersion, peer, ...unknown, layers: [], types: [] };
  }
}

interface IdentifiedSender {
  readonly effects: readonly ServerEffect[];
  readonly sender?: { readonly stream: Stream; readonly type: TypeUrl };
}

const none: readonly ServerEffect[] = [];

/**
 * Whether a request changes what its stream subscribes to, so that its client waits for an answer. In delta it may be an
 * ACK as well; in State of the World, such a one is taken for an ACK.
 */
function asks(request: DiscoveryRequest, effects: readonly ServerEffect[]): boolean {
  if (request.kind === "delta" && (request.subscribe.length > 0 || request.unsubscribe.length > 0)) return true;
  return effects.some(
    (effect) =>
      effect.kind === "report" && effect.report.kind === "request-classified" && subscribing.has(effect.report.as),
  );
}

const subscribing: ReadonlySet<string> = new Set(["initial", "subscribe", "unsubscribe"]);

/** Whether a request says more of its client than its node and names. */
function saysMore(request: DiscoveryRequest): boolean {
  if (request.error !== undefined) return true;
  return request.kind === "delta" ? request.initialVersions.size > 0 : bytesOfLongVersion(request.versionInfo) > 0;
}

function flushOf(stream: Stream): FlushResult {
  try {
    return stream.flush();
  } catch (cause) {
    throw new InvariantError(stream.opened.stream, cause);
  }
}
