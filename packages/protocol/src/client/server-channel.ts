import type { DiscoveryResponse } from "../message/response.ts";
import { type Status, statusCode } from "../message/status.ts";
import type { TypeTraits } from "../resource/type-traits.ts";
import type { TypeUrl } from "../resource/type-url.ts";
import { Attempts } from "./attempts.ts";
import type { ClientTurn, TurnEndListener } from "./client-turn.ts";
import type { WatchId, WatchStarted } from "./event.ts";
import type { KeptResource } from "./held.ts";
import type { Term } from "./interest.ts";
import { Outage } from "./outage.ts";
import { restoreKept } from "./restored.ts";
import type { SourceSpec } from "./source.ts";
import type { ClientStream } from "./stream.ts";
import { TokenBucket } from "./token-bucket.ts";
import { TypeSubscription } from "./type-subscription.ts";

/** What a line shares with the rest of the client. */
export interface ServerChannelOptions {
  readonly turn: ClientTurn;
  readonly spec: SourceSpec;
  /** Undefined if it carries all types of its source. */
  readonly onlyType: TypeUrl | undefined;
  /** Creates a stream and registers its id for events. */
  readonly connect: (line: ServerChannel, server: number) => ClientStream;
  /** Unregisters a stream. */
  readonly disconnect: (stream: ClientStream) => void;
  /** Returns the resources restored from an earlier run (C-CLI-06). */
  readonly kept: (type: TypeUrl) => Iterable<KeptResource>;
  /** Drops the restored resources. */
  readonly forgetKept: () => void;
}

/**
 * How long a stream must stay open to end an outage without a response, because a delta server with nothing new is
 * silent; equals the time that servers have for a first response. In milliseconds.
 */
const SILENCE_MS = 15_000;

/**
 * The connection to a source for all types of an aggregated source, or for one type: one stream at a time as a rule
 * (C-GRP-09, C-ADS-02).
 */
export class ServerChannel implements TurnEndListener {
  readonly spec: SourceSpec;
  readonly onlyType: TypeUrl | undefined;
  readonly #turn: ClientTurn;
  readonly #options: ServerChannelOptions;
  readonly #topics = new Map<TypeUrl, TypeSubscription>();
  readonly #attempts: Attempts;
  readonly #bucket: TokenBucket | undefined;
  #bucketTimer: number | undefined;
  /** Whether a report said that requests wait. */
  #isLimited = false;
  /** Set while no server can be reached. */
  #outage: Outage | undefined;
  #silenceTimer: number | undefined;
  #wasAnswered = false;

  constructor(options: ServerChannelOptions) {
    const { turn, spec, onlyType } = options;
    this.#options = options;
    this.#turn = turn;
    this.spec = spec;
    this.onlyType = onlyType;
    this.#bucket = spec.rateLimit && new TokenBucket(spec.rateLimit, turn.nowMs);
    this.#attempts = new Attempts(turn, spec, {
      connect: (server) => this.#connect(server),
      disconnect: (stream) => this.#disconnect(stream),
      isMissingSomething: () => [...this.#topics.values()].some((topic) => topic.isMissingSomething),
    });
  }

  /** Whether a server answered since the client started, which makes restored resources useless. */
  get wasAnswered(): boolean {
    return this.#wasAnswered;
  }

  /** Whether any of its types has a watch. */
  get isWatched(): boolean {
    for (const { interest } of this.#topics.values()) if (interest.wanted > 0) return true;
    return false;
  }

  topics(): Iterable<TypeSubscription> {
    return this.#topics.values();
  }

  start(event: WatchStarted, traits: TypeTraits): Term {
    const topic = this.#topicOf(traits);
    const { term, isFirst } = topic.start(event);
    if (isFirst) for (const stream of this.#attempts.streams()) stream.talkOf(topic.type)?.add(term.text);
    if (this.#outage !== undefined) {
      this.#restore(topic);
      this.#tellUnreachable(event.watch, this.#outage.status);
    }
    this.#turn.touch(this);
    return term;
  }

  stop(watch: WatchId, type: TypeUrl, term: Term): void {
    const topic = this.#topics.get(type);
    if (topic?.stop(watch, term) !== true) return;
    for (const stream of this.#attempts.streams()) stream.talkOf(type)?.drop(term.text);
    this.#turn.touch(this);
  }

  /** Whether another server's resources are in use, so that this one's silence means nothing. */
  isOutdone(stream: ClientStream): boolean {
    return this.#attempts.isOutdone(stream);
  }

  opened(stream: ClientStream): void {
    stream.isOpen = true;
    if (stream.isConnected) {
      this.#reportConnected(stream);
      if (this.#outage !== undefined) this.#startSilence();
    }
    this.#turn.touch(this);
  }

  arrived(stream: ClientStream, type: TypeUrl): void {
    stream.talkOf(this.onlyType ?? type)?.judge();
  }

  received(stream: ClientStream, response: DiscoveryResponse): void {
    const { type } = response;
    this.#answered(stream);
    this.#reportRead();
    const spokenOf = this.onlyType ?? type;
    const talk = spokenOf && stream.talkOf(spokenOf);
    if (talk?.hasAsked !== true) {
      talk?.ignore();
      const source = this.spec.id;
      if (spokenOf !== undefined) this.#turn.report({ kind: "response-ignored", source, type: spokenOf });
      this.#turn.touch(this);
      return;
    }
    const isForeign = type !== undefined && stream.talkOf(type) !== talk;
    const problem = `expected resources of ${talk.topic.type}, got ${type}`;
    talk.receive(isForeign ? { ...response, problems: [...response.problems, problem] } : response);
    this.#turn.touch(this);
  }

  unchanged(stream: ClientStream, type: TypeUrl): void {
    this.#answered(stream);
    this.#turn.report({ kind: "poll-unchanged", source: this.spec.id, type });
  }

  pollIsDue(stream: ClientStream, type: TypeUrl): void {
    stream.talkOf(type)?.pollIsDue();
    this.#turn.touch(this);
  }

  unreadable(stream: ClientStream, type: TypeUrl, problem: string): void {
    this.#answered(stream);
    this.#reportRead();
    const talk = stream.talkOf(type);
    if (talk === undefined) return;
    const error = { code: statusCode.INVALID_ARGUMENT, message: problem };
    const about = { source: this.spec.id, type, version: "", controlPlane: undefined, isNews: false };
    this.#turn.report({ kind: "response-rejected", ...about, error: problem });
    talk.topic.tellFailed("rejected", error);
    talk.refuse(error);
    this.#turn.touch(this);
  }

  closed(stream: ClientStream, status: Status): void {
    this.#disconnect(stream);
    const isFailing = this.#attempts.ended(stream, status) === "none-is-left";
    if (isFailing) this.#fail(status);
    this.#turn.touch(this);
  }

  /** Uses restored resources that arrive during an outage. */
  restored(): void {
    if (this.#outage === undefined) return;
    for (const topic of this.#topics.values()) this.#restore(topic);
  }

  endWarming(): void {
    for (const stream of this.#attempts.streams()) for (const talk of stream.talks()) talk.endWarming();
    this.#turn.touch(this);
  }

  /** Connects if a watch needs it, sends what is due, and disconnects if nothing is watched. */
  settle(): void {
    if (this.isWatched) {
      this.#attempts.start();
      this.#flush();
    } else this.#stop();
    this.#release();
  }

  #stop(): void {
    this.#attempts.stop();
    this.#turn.cancelTimer(this.#bucketTimer);
    this.#bucketTimer = undefined;
    this.#reportPending(0);
    this.#endSilence();
    this.#outage = undefined;
  }

  #flush(): void {
    let pending = 0;
    for (const stream of this.#attempts.streams()) {
      if (!stream.flush(() => this.#bucket?.take(this.#turn.nowMs) ?? true)) pending += stream.pending;
    }
    if (pending === 0) {
      this.#reportPending(0);
      return;
    }
    if (this.#bucket === undefined || this.#bucketTimer !== undefined) return;
    this.#reportPending(pending);
    this.#bucketTimer = this.#turn.startTimer(this.#bucket.waitMs(this.#turn.nowMs), () => {
      this.#bucketTimer = undefined;
      this.#turn.touch(this);
    });
  }

  #reportPending(pending: number): void {
    if (pending === 0 && !this.#isLimited) return;
    this.#isLimited = pending > 0;
    this.#turn.report({ kind: "rate-limited", source: this.spec.id, pending });
  }

  /** Drops terms that have no watch and that no server believes to be subscribed. */
  #release(): void {
    for (const topic of this.#topics.values()) {
      for (const term of topic.leaving) {
        if (!this.#isBelieved(topic.type, term.text)) topic.release(term);
      }
    }
  }

  #isBelieved(type: TypeUrl, term: string): boolean {
    for (const stream of this.#attempts.streams()) if (stream.talkOf(type)?.believes(term) === true) return true;
    return false;
  }

  #topicOf(traits: TypeTraits): TypeSubscription {
    const known = this.#topics.get(traits.type);
    if (known !== undefined) return known;
    const topic = new TypeSubscription(this.#turn, this.spec, traits);
    this.#topics.set(traits.type, topic);
    for (const stream of this.#attempts.streams()) stream.join(topic);
    return topic;
  }

  #connect(server: number): ClientStream {
    const stream = this.#options.connect(this, server);
    for (const topic of this.#topics.values()) stream.join(topic);
    const { spec, onlyType } = this;
    this.#turn.ask({ kind: "open-stream", stream: stream.id, source: spec.id, server, onlyType });
    return stream;
  }

  #disconnect(stream: ClientStream): void {
    stream.end();
    this.#options.disconnect(stream);
  }

  #answered(stream: ClientStream): void {
    this.#recover();
    if (!this.#wasAnswered) this.#options.forgetKept();
    this.#wasAnswered = true;
    const wasConnected = stream.isConnected;
    this.#attempts.answered(stream);
    if (!wasConnected) this.#reportConnected(stream);
  }

  #reportConnected({ server }: ClientStream): void {
    this.#turn.report({ kind: "stream-opened", source: this.spec.id, server });
  }

  #reportRead(): void {
    if (this.spec.access !== "file" || this.onlyType === undefined) return;
    this.#turn.report({ kind: "file-read", source: this.spec.id, type: this.onlyType });
  }

  /** Notifies the watches once per outage and reason. */
  #fail(status: Status): void {
    this.#endSilence();
    this.#outage ??= new Outage(status);
    const isTold = this.#outage.goesOn(status);
    for (const topic of this.#topics.values()) {
      this.#restore(topic);
      if (isTold) topic.tellFailed("unreachable", status);
    }
  }

  /** Ends an outage and notifies every watch, because each was told of it, some when they started. */
  #recover(): void {
    this.#endSilence();
    if (this.#outage === undefined) return;
    this.#outage = undefined;
    for (const topic of this.#topics.values()) topic.tellRecovered();
  }

  #startSilence(): void {
    this.#silenceTimer ??= this.#turn.startTimer(SILENCE_MS, () => this.#recover());
  }

  #endSilence(): void {
    this.#turn.cancelTimer(this.#silenceTimer);
    this.#silenceTimer = undefined;
  }

  #restore(topic: TypeSubscription): void {
    restoreKept(topic, this.#options.kept(topic.type));
  }

  #tellUnreachable(watch: WatchId, error: Status): void {
    this.#turn.notify(watch, { kind: "failed", name: undefined, why: "unreachable", error, held: undefined });
  }
}
