import { EffectQueue, Timers } from "@xdskit/disk";
import type { Node, SourceId, Status, TypeUrl } from "@xdskit/protocol";
import {
  type ClientEffect,
  type ClientEvent,
  type ClientReport,
  type ClientStreamId,
  type DiscoveryResponse,
  type KeptResource,
  type Moment,
  type SourcedState,
  type SourceSpec,
  statusCode,
  type WatchEvent,
  type WatchId,
} from "@xdskit/protocol/internal";
import type { SourceConfig } from "../config/client-config.ts";
import { envoyBackOff } from "../config/config-defaults.ts";
import type { ResponseReader } from "../reading/response-reader.ts";
import type { ClientStream, StreamListener, Transport } from "../transport/transport.ts";
import { NackPauses } from "./nack-pauses.ts";

/** The protocol machine that the driver runs. */
export interface Machine {
  onAll(events: readonly ClientEvent[], moment: Moment): readonly ClientEffect[];
  /** The state of every name, at all sources or only one. Iterate it at once. */
  states(only?: SourceId): Iterable<SourcedState>;
}

/** The parts that a driver connects. */
export interface DriverOptions {
  readonly machine: Machine;
  readonly transports: { readonly [K in SourceConfig["kind"]]: Transport<Extract<SourceConfig, { kind: K }>> };
  readonly reader: Pick<ResponseReader, "expect" | "forget" | "read">;
  readonly report: (report: ClientReport) => void;
  /** Resources that a source held in an earlier run (C-CLI-06). Called once for each source until it is forgotten. */
  readonly restore: (source: SourceConfig) => readonly KeptResource[] | undefined;
  /** Nothing is known of a source any more that was not watched for long. */
  readonly forget: (source: SourceId) => void;
}

/** The limit of delta responses of a stream that wait for their ACK under a rate limit; then no further one is read. */
const MOST_UNANSWERED = 1_000;

/**
 * The limit of sources without a watch that are remembered, because config sources in resources may be ever new ones.
 */
const MOST_UNWATCHED = 100;

/** What a watch subscribes to. */
export interface Interest {
  readonly source: SourceConfig;
  readonly type: TypeUrl;
  /** A name, a glob or `*`; with parameters in the form of `locatedTerm`. */
  readonly term: string;
  /** Also report a new response with unchanged content (C-WRM-04). */
  readonly wantsConfirmations?: true;
}

interface OpenStream {
  readonly source: SourceConfig;
  readonly onlyType: TypeUrl | undefined;
  stream: ClientStream | undefined;
  /** Sends the requests; undefined where a request does not leave at once anyway. */
  readonly pauses: NackPauses | undefined;
  /** The types requested on it. */
  readonly asked: Set<TypeUrl>;
  /** Delta responses without an ACK or NACK yet. */
  unanswered: number;
  /** Set while no further response is read. */
  readOn: (() => void) | undefined;
}

/** The only caller of the machine: passes events to it and performs its effects in order. */
export class Driver {
  readonly #options: DriverOptions;
  readonly #sources = new Map<SourceId, SourceConfig>();
  /** The number of watches of each source that has some. */
  readonly #watched = new Map<SourceId, number>();
  /** The sources that have lost their last watch, the one that did first at the front. */
  readonly #unwatched = new Set<SourceId>();
  readonly #streams = new Map<ClientStreamId, OpenStream>();
  readonly #listeners = new Map<WatchId, (news: WatchEvent) => void>();
  readonly #timers = new Timers((timer) => this.#happened({ kind: "timer-fired", timer }));
  readonly #judging = new Map<SourceId, number>();
  readonly #events: ClientEvent[] = [];
  readonly #effects = new EffectQueue<ClientEffect>((effect) => this.#perform(effect));
  #isClosed = false;
  #closing: Promise<void> | undefined;
  #watchesGiven = 0;

  constructor(options: DriverOptions) {
    this.#options = options;
  }

  /** Adds a source to watch; an existing one stays unchanged. */
  addSource(source: SourceConfig): void {
    if (this.#sources.has(source.id)) return;
    this.#sources.set(source.id, source);
    this.#happened({ kind: "source-added", source: sourceSpecOf(source) });
    const resources = this.#options.restore(source);
    if (resources !== undefined) this.#happened({ kind: "resources-restored", source: source.id, resources });
  }

  /** The listener is called neither before this returns nor after the result is called. */
  watch({ source, ...wanted }: Interest, listener: (news: WatchEvent) => void): () => void {
    this.addSource(source);
    this.#watched.set(source.id, (this.#watched.get(source.id) ?? 0) + 1);
    this.#unwatched.delete(source.id);
    const watch = ++this.#watchesGiven;
    this.#listeners.set(watch, listener);
    this.#happened({ kind: "watch-started", watch, source: source.id, ...wanted });
    return () => {
      if (!this.#listeners.delete(watch)) return;
      this.#happened({ kind: "watch-stopped", watch });
      this.#unwatch(source.id);
    };
  }

  changeNode(node: Node): void {
    this.#happened({ kind: "node-changed", node });
  }

  warmingEnded(source: SourceId): void {
    this.#happened({ kind: "warming-ended", source });
  }

  /** Whether a response of the source is still being validated. */
  isJudging(source: SourceId): boolean {
    return (this.#judging.get(source) ?? 0) > 0;
  }

  /** The current states, including events that were just reported. */
  states(only?: SourceId): Iterable<SourcedState> {
    this.#turn();
    return this.#options.machine.states(only);
  }

  #unwatch(source: SourceId): void {
    const left = (this.#watched.get(source) ?? 0) - 1;
    if (left > 0) {
      this.#watched.set(source, left);
      return;
    }
    this.#watched.delete(source);
    this.#unwatched.add(source);
    const [oldest] = this.#unwatched;
    if (oldest === undefined || this.#unwatched.size <= MOST_UNWATCHED) return;
    this.#unwatched.delete(oldest);
    this.#sources.delete(oldest);
    this.#happened({ kind: "source-removed", source: oldest });
  }

  /** Stops all watches. Resolves when no connection is left, for each call. */
  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    this.#isClosed = true;
    this.#timers.cancelAll();
    this.#listeners.clear();
    for (const id of [...this.#streams.keys()]) this.#take(id)?.close();
    const { grpc, rest, file } = this.#options.transports;
    await Promise.all([grpc.close(), rest.close(), file.close()]);
  }

  /** Events of one turn reach the machine together, so that they cost one request per type (C-CLI-07). */
  #happened(event: ClientEvent): void {
    if (this.#isClosed) return;
    this.#events.push(event);
    if (this.#events.length === 1) queueMicrotask(() => this.#turn());
  }

  #turn(): void {
    if (this.#isClosed || this.#events.length === 0) return;
    const events = this.#events.splice(0);
    const moment = { nowMs: performance.now(), chance: Math.random() };
    this.#effects.add(this.#options.machine.onAll(events, moment));
  }

  #perform(effect: ClientEffect): void {
    if (this.#isClosed) return;
    switch (effect.kind) {
      case "open-stream":
        this.#open(effect);
        break;
      case "send-request":
        this.#send(effect);
        break;
      case "close-stream":
        this.#close(effect.stream);
        break;
      case "source-forgotten":
        this.#forget(effect.source);
        break;
      case "start-timer":
        this.#timers.start(effect.timer, effect.ms);
        break;
      case "cancel-timer":
        this.#timers.cancel(effect.timer);
        break;
      case "notify":
        this.#listeners.get(effect.watch)?.(effect.news);
        break;
      case "report":
        this.#options.report(effect.report);
        break;
      default:
        effect satisfies never;
    }
  }

  #open({ stream: id, source: sourceId, server, onlyType }: Extract<ClientEffect, { kind: "open-stream" }>): void {
    const source = this.#sources.get(sourceId);
    // Its last watch ended since the machine asked for the stream.
    if (source === undefined) return;
    // Polls and files have a pace of their own.
    const pauses = source.kind === "grpc" ? new NackPauses((request) => open.stream?.send(request, false)) : undefined;
    const answers = { asked: new Set<TypeUrl>(), unanswered: 0, readOn: undefined };
    const open: OpenStream = { source, onlyType, stream: undefined, pauses, ...answers };
    this.#streams.set(id, open);
    const listener = this.#listenerOf(id, open);
    const chosen = source.kind === "file" ? undefined : source.servers[server];
    open.stream = this.#openWith(source, { server: chosen, onlyType }, listener);
  }

  #send({ stream: id, request, isUrgent }: Extract<ClientEffect, { kind: "send-request" }>): void {
    const open = this.#streams.get(id);
    if (open?.pauses === undefined) open?.stream?.send(request, isUrgent === true);
    else open.pauses.send(request);
    if (request.type !== undefined) this.#options.reader.expect(request.type);
    if (open === undefined) return;
    if (request.type !== undefined) open.asked.add(request.type);
    if (open.unanswered > 0 && --open.unanswered < MOST_UNANSWERED) open.readOn?.();
  }

  #openWith(
    source: SourceConfig,
    rest: Pick<Parameters<Transport["open"]>[0], "server" | "onlyType">,
    listener: StreamListener,
  ): ClientStream {
    const { grpc, rest: polls, file } = this.#options.transports;
    switch (source.kind) {
      case "grpc":
        return grpc.open({ source, ...rest }, listener);
      case "rest":
        return polls.open({ source, ...rest }, listener);
      case "file":
        return file.open({ source, ...rest }, listener);
    }
  }

  #listenerOf(id: ClientStreamId, open: OpenStream): StreamListener {
    const happened = (event: ClientEvent): void => {
      if (this.#streams.get(id) === open) this.#happened(event);
    };
    const onTyped = (make: (type: TypeUrl) => ClientEvent): void => {
      if (open.onlyType !== undefined) happened(make(open.onlyType));
    };
    return {
      opened: () => happened({ kind: "stream-opened", stream: id }),
      response: (bytes) => this.#received(id, open, bytes),
      unchanged: () => onTyped((type) => ({ kind: "poll-unchanged", stream: id, type })),
      unreadable: (problem) => onTyped((type) => ({ kind: "unreadable-received", stream: id, type, problem })),
      due: () => onTyped((type) => ({ kind: "poll-due", stream: id, type })),
      ended: (status) => {
        if (this.#streams.get(id) === open) this.#ended(id, status);
      },
    };
  }

  /** Resolves when the response is processed; only then is the next one read (C-CLI-07). */
  async #received(id: ClientStreamId, open: OpenStream, bytes: Uint8Array): Promise<void> {
    const isWanted = (): boolean => this.#streams.get(id) === open;
    if (!isWanted()) return;
    const { source, onlyType } = open;
    const reading = this.#options.reader.read(bytes, { source, onlyType, isWanted });
    switch (reading.kind) {
      case "read":
        await this.#tellResponse(id, open, reading.response);
        break;
      case "being-judged": {
        const { type, nonce } = reading;
        if (type !== undefined) this.#happened({ kind: "response-arrived", stream: id, type, nonce });
        this.#judging.set(source.id, (this.#judging.get(source.id) ?? 0) + 1);
        const response = await reading.response;
        this.#judged(source.id);
        if (isWanted()) await this.#tellResponse(id, open, response);
        break;
      }
      case "unreadable":
        this.#unreadable(id, open, reading.problem);
    }
  }

  #judged(source: SourceId): void {
    const left = (this.#judging.get(source) ?? 0) - 1;
    if (left > 0) this.#judging.set(source, left);
    else this.#judging.delete(source);
  }

  /**
   * Under a rate limit ACKs wait for tokens, so a server that does not wait for them is read no faster once very many
   * do. In State of the World only the newest of a type waits.
   */
  async #tellResponse(id: ClientStreamId, open: OpenStream, response: DiscoveryResponse): Promise<void> {
    this.#happened({ kind: "response-received", stream: id, response });
    const { source, onlyType, asked } = open;
    const type = onlyType ?? response.type;
    const isAnswered = type !== undefined && asked.has(type);
    if (source.kind !== "grpc" || source.rateLimit === undefined || source.variant === "sotw" || !isAnswered) return;
    // ACKs that are withheld while Clusters warm do not wait for tokens: what ends the warming may be still to be read.
    if (source.dialect.cdsAckWhenWarm) return;
    if (++open.unanswered < MOST_UNANSWERED) return;
    await new Promise<void>((resolve) => {
      open.readOn = resolve;
    });
    open.readOn = undefined;
  }

  /** A response without a readable nonce cannot be NACKed, so its stream is closed. */
  #unreadable(id: ClientStreamId, { source, onlyType, stream }: OpenStream, problem: string): void {
    if (source.kind !== "grpc" && onlyType !== undefined) {
      this.#happened({ kind: "unreadable-received", stream: id, type: onlyType, problem });
      return;
    }
    stream?.close();
    this.#ended(id, { code: statusCode.INTERNAL, message: `a response that cannot be read: ${problem}` });
  }

  #ended(id: ClientStreamId, status: Status): void {
    this.#take(id);
    this.#happened({ kind: "stream-closed", stream: id, status });
  }

  #close(id: ClientStreamId): void {
    const closed = this.#streams.get(id);
    if (closed === undefined) return;
    this.#take(id)?.close();
    const { source, onlyType } = closed;
    const isWanted = [...this.#streams.values()].some((one) => one.source === source && one.onlyType === onlyType);
    if (!isWanted) this.#options.reader.forget(source.id, onlyType);
  }

  #forget(source: SourceId): void {
    // It may have been added again meanwhile.
    if (this.#sources.has(source)) return;
    this.#options.reader.forget(source, undefined);
    this.#options.forget(source);
  }

  #take(id: ClientStreamId): ClientStream | undefined {
    const open = this.#streams.get(id);
    this.#streams.delete(id);
    open?.pauses?.close();
    open?.readOn?.();
    return open?.stream;
  }
}

/** Converts a source to the form that the machine uses. */
function sourceSpecOf(source: SourceConfig): SourceSpec {
  const { id, dialect } = source;
  const common = { id, dialect, absenceMs: source.initialFetchTimeoutMs };
  const separate = { variant: "sotw", isAggregated: false, failover: "cycle", nodeIn: "every-request" } as const;
  switch (source.kind) {
    case "grpc": {
      const { variant, isAggregated, failover, nodeIn, rateLimit, backOff, servers } = source;
      const given = { variant, isAggregated, failover, nodeIn, rateLimit, backOff };
      return { ...common, access: "stream", servers: servers.length, ...given };
    }
    case "rest": {
      const servers = source.servers.length;
      return { ...common, ...separate, access: "poll", servers, rateLimit: undefined, backOff: envoyBackOff };
    }
    case "file":
      return { ...common, ...separate, access: "file", servers: 1, rateLimit: undefined, backOff: envoyBackOff };
  }
}
