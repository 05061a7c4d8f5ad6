import type { Node } from "../node/node.ts";
import type { TypeTraits } from "../resource/type-traits.ts";
import type { TypeUrl } from "../resource/type-url.ts";
import { ClientSource } from "./client-source.ts";
import { ClientTurn } from "./client-turn.ts";
import type { ClientEffect } from "./effect.ts";
import type { ClientEvent, ClientStreamId, Moment, WatchId, WatchStarted } from "./event.ts";
import type { HeldState } from "./held.ts";
import type { Term } from "./interest.ts";
import type { ServerChannel } from "./server-channel.ts";
import type { SourceId } from "./source.ts";
import { ClientStream } from "./stream.ts";
import type { TypeSubscription } from "./type-subscription.ts";

/** Options of a client machine. */
export interface ClientMachineOptions {
  /** Returns the traits of a type; `opaqueTraits` for one without a descriptor. */
  readonly traits: (type: TypeUrl) => TypeTraits;
  /** The node that the client identifies itself as. */
  readonly node: Node;
}

/** The state of a name at a source. */
export type SourcedState = HeldState & { readonly source: SourceId };

interface Watch {
  readonly line: ServerChannel;
  readonly type: TypeUrl;
  readonly term: Term;
}

interface OpenStream {
  readonly stream: ClientStream;
  readonly line: ServerChannel;
}

/**
 * The client's half of the protocol as a state machine: events in, effects out. It has no clock, randomness or
 * connection of its own.
 *
 * Pass events that happen together in one call, so that they cause one request per type (C-CLI-07).
 */
export class ClientMachine {
  readonly #options: ClientMachineOptions;
  readonly #turn: ClientTurn;
  readonly #sources = new Map<SourceId, ClientSource>();
  readonly #watches = new Map<WatchId, Watch>();
  readonly #streams = new Map<ClientStreamId, OpenStream>();
  #lastStream = 0;

  constructor(options: ClientMachineOptions) {
    this.#options = options;
    this.#turn = new ClientTurn(options.node);
  }

  /**
   * Handles one event and returns the effects.
   *
   * @throws {RangeError} if a watch names a source that was not added
   */
  on(event: ClientEvent, moment: Moment): readonly ClientEffect[] {
    return this.onAll([event], moment);
  }

  /**
   * Handles events that happen together, in order, and returns the effects.
   *
   * @throws {RangeError} if a watch names a source that was not added
   */
  onAll(events: Iterable<ClientEvent>, moment: Moment): readonly ClientEffect[] {
    this.#turn.begin(moment);
    for (const event of events) {
      this.#hear(event);
      this.#turn.tell();
    }
    return this.#turn.end();
  }

  /**
   * Yields the state of every name, at every source or only one, for state dumps and CSDS (B-OBS-04). Do not handle
   * events while iterating.
   */
  *states(only?: SourceId): Iterable<SourcedState> {
    for (const [source, { lines }] of this.#sources) {
      if (only !== undefined && source !== only) continue;
      for (const line of lines.values()) {
        for (const topic of line.topics()) for (const state of statesOf(topic)) yield { source, ...state };
      }
    }
  }

  #hear(event: ClientEvent): void {
    switch (event.kind) {
      case "source-added":
        this.#addSource(event.source);
        break;
      case "source-removed":
        this.#removeSource(event.source);
        break;
      case "watch-started":
        this.#start(event);
        break;
      case "watch-stopped":
        this.#stop(event.watch);
        break;
      case "timer-fired":
        this.#turn.fire(event.timer);
        break;
      case "node-changed":
        this.#turn.node = event.node;
        break;
      case "resources-restored":
        this.#sources.get(event.source)?.restore(event.resources);
        break;
      case "warming-ended":
        for (const line of this.#sources.get(event.source)?.lines.values() ?? []) line.endWarming();
        break;
      default:
        this.#hearStream(event);
    }
  }

  #hearStream(event: Extract<ClientEvent, { readonly stream: ClientStreamId }>): void {
    const open = this.#streams.get(event.stream);
    // Events of a stream that the client closed may still arrive.
    if (open === undefined) return;
    const { stream, line } = open;
    switch (event.kind) {
      case "stream-opened":
        line.opened(stream);
        break;
      case "response-arrived":
        line.arrived(stream, event.type);
        break;
      case "response-received":
        line.received(stream, event.response);
        break;
      case "poll-unchanged":
        line.unchanged(stream, event.type);
        break;
      case "poll-due":
        line.pollIsDue(stream, event.type);
        break;
      case "unreadable-received":
        line.unreadable(stream, event.type, event.problem);
        break;
      case "stream-closed":
        line.closed(stream, event.status);
        break;
      default:
        event satisfies never;
    }
  }

  #addSource(spec: ClientSource["spec"]): void {
    if (this.#sources.has(spec.id)) return;
    const source = new ClientSource(this.#turn, spec, {
      connect: (line, server) => this.#connect(line, server),
      disconnect: ({ id }) => this.#streams.delete(id),
    });
    this.#sources.set(spec.id, source);
  }

  #removeSource(id: SourceId): void {
    if (this.#sources.get(id)?.isWatched !== false) return;
    this.#sources.delete(id);
    // After its streams are closed.
    this.#turn.touch({ settle: () => this.#turn.ask({ kind: "source-forgotten", source: id }) });
  }

  #start(event: WatchStarted): void {
    const source = this.#sources.get(event.source);
    if (source === undefined) throw new RangeError(`expected a source that was added, got ${event.source}`);
    const line = source.lineOf(event.type);
    const term = line.start(event, this.#options.traits(event.type));
    this.#watches.set(event.watch, { line, type: event.type, term });
  }

  #stop(id: WatchId): void {
    const watch = this.#watches.get(id);
    if (watch === undefined) return;
    this.#watches.delete(id);
    watch.line.stop(id, watch.type, watch.term);
  }

  #connect(line: ServerChannel, server: number): ClientStream {
    const stream: ClientStream = new ClientStream(this.#turn, line.spec, {
      id: ++this.#lastStream,
      server,
      isOutdone: () => line.isOutdone(stream),
    });
    this.#streams.set(stream.id, { stream, line });
    return stream;
  }
}

/** Yields the state of every held or requested name of a type (B-OBS-04). */
function* statesOf(topic: TypeSubscription): Iterable<HeldState> {
  const { type, accepted, interest } = topic;
  for (const { name, status, resource, acceptedAtMs, failure } of accepted.entries()) {
    yield { type, name, status, resource, acceptedAtMs, failure };
  }
  for (const term of interest.terms()) {
    if (!isOpen(topic, term)) continue;
    const { text: name, status, failure } = term;
    yield { type, name, status, resource: undefined, acceptedAtMs: undefined, failure };
  }
}

/** Whether a term is watched and no entry gives its state. */
function isOpen({ accepted }: TypeSubscription, term: Term): boolean {
  if (term.kind === "everything" || term.watches.size === 0) return false;
  if (term.kind === "glob" && term.status === "requested") return !term.isSynced;
  for (const _ of accepted.answering(term)) return false;
  return true;
}
