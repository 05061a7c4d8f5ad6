import type { TypeUrl } from "@xdskit/protocol";
import type { StreamId } from "@xdskit/protocol/internal";
import type { ObservedTelemetry } from "./telemetry.ts";

/** Responses awaiting an ACK whose send time is kept, per stream and type; older ones are dropped. */
const MAX_UNANSWERED = 16;
/** Revisions whose commit time is kept, to measure propagation. */
const MAX_REVISIONS = 1024;

/** Times of one type on one stream, in milliseconds since 1970; undefined if it has not happened. */
export interface TypeTimes {
  readonly sentAt: number | undefined;
  readonly ackedAt: number | undefined;
  readonly nackedAt: number | undefined;
  /** When the type began to wait for a response; undefined: it does not wait. */
  readonly waitsSince: number | undefined;
  /** The last request of this type. */
  readonly requestedAt: number | undefined;
  /** When a response that awaits its ACK was sent; undefined if it was answered or is no longer kept. */
  sentAtOf(nonce: string): number | undefined;
}

/** When a stream opened and was last active. */
export interface StreamTimes {
  readonly openedAt: number;
  readonly lastRequestAt: number | undefined;
  readonly lastResponseAt: number | undefined;
}

/** Latency of one ACK, in milliseconds. */
export interface Latency {
  readonly type: TypeUrl;
  /** The revision of the response. */
  readonly revision: number;
  /** From the response to the ACK. */
  readonly sendToAckMs: number;
  /** From the transaction to the ACK, for streams that were open when it was committed; else undefined. */
  readonly propagationMs: number | undefined;
}

/** Delivery times. Bounded: a stream's times are dropped when it ends (S-ACK-13). */
export interface DeliveryTimes {
  stream(stream: StreamId): StreamTimes | undefined;
  type(stream: StreamId, type: TypeUrl): TypeTimes | undefined;
  /** When a revision was committed; undefined if no longer kept. */
  revisionMadeAt(revision: number): number | undefined;
  /** Called for every ACK of a response whose time is known. */
  onAcked(listener: (latency: Latency) => void): void;
  /** Called for every ACK and NACK of a response whose revision is known. */
  onAnswered(listener: (answered: AnsweredResponse) => void): void;
}

/** An ACK or a NACK. */
export interface AnsweredResponse {
  /** The id of the node. */
  readonly node: string;
  readonly type: TypeUrl;
  /** The revision of the response. */
  readonly revision: number;
  /** In milliseconds since 1970. */
  readonly at: number;
  /** The error message of a NACK, as the client sent it; undefined: an ACK. */
  readonly reason: string | undefined;
}

/** Records delivery times from the telemetry. */
export function createDeliveryTimes(telemetry: ObservedTelemetry): DeliveryTimes {
  const streams = new Map<StreamId, StreamRecord>();
  const revisions = new Map<number, number>();
  const listeners: ((latency: Latency) => void)[] = [];
  const answerListeners: ((answered: AnsweredResponse) => void)[] = [];

  let newest = 0;

  telemetry.observe("committed", ({ revision }, at) => {
    newest = revision;
    revisions.set(revision, at.getTime());
    if (revisions.size > MAX_REVISIONS) forgetOldest(revisions);
  });
  const open = (stream: StreamId, at: Date): void => {
    streams.set(stream, {
      openedAt: at.getTime(),
      openedAtRevision: newest,
      lastRequestAt: undefined,
      lastResponseAt: undefined,
      types: new Map(),
    });
  };
  telemetry.observe("stream-opened", ({ stream }, at) => open(stream, at));
  telemetry.observe("poller-met", ({ stream }, at) => open(stream, at));
  telemetry.observe("stream-closed", ({ stream }) => {
    streams.delete(stream);
  });
  telemetry.observe("poller-forgotten", ({ stream }) => {
    streams.delete(stream);
  });
  telemetry.observe("request-classified", ({ stream, type }, at) => {
    const record = streams.get(stream);
    if (record === undefined) return;
    record.lastRequestAt = at.getTime();
    typeRecord(record, type).requestedAt = at.getTime();
  });
  telemetry.observe("wait-began", ({ stream, type }, at) => {
    const record = streams.get(stream);
    if (record !== undefined) typeRecord(record, type).waitsSince = at.getTime();
  });
  telemetry.observe("wait-ended", ({ stream, type }) => {
    const record = streams.get(stream);
    if (record !== undefined) typeRecord(record, type).waitsSince = undefined;
  });
  telemetry.observe("response-sent", ({ stream, type, nonce, revision }, at) => {
    const record = streams.get(stream);
    if (record === undefined) return;
    record.lastResponseAt = at.getTime();
    typeRecord(record, type).send(nonce, revision, at.getTime());
  });
  telemetry.observe("response-acked", ({ stream, node, type, nonce }, at) => {
    const record = streams.get(stream);
    if (record === undefined) return;
    const times = typeRecord(record, type);
    times.ackedAt = at.getTime();
    const sent = times.settle(nonce);
    if (sent === undefined) return;
    const answered = { node: node.id, type, revision: sent.revision, at: at.getTime(), reason: undefined };
    for (const listener of answerListeners) listener(answered);
    const madeAt = revisions.get(sent.revision);
    const stood = madeAt !== undefined && sent.revision > record.openedAtRevision;
    const now = at.getTime();
    const latency = {
      type,
      revision: sent.revision,
      sendToAckMs: now - sent.at,
      propagationMs: stood ? now - madeAt : undefined,
    };
    for (const listener of listeners) listener(latency);
  });
  telemetry.observe("response-nacked", ({ stream, node, type, nonce, error }, at) => {
    const record = streams.get(stream);
    if (record === undefined) return;
    const times = typeRecord(record, type);
    times.nackedAt = at.getTime();
    const sent = times.settle(nonce);
    if (sent === undefined) return;
    const answered = { node: node.id, type, revision: sent.revision, at: at.getTime(), reason: error.message };
    for (const listener of answerListeners) listener(answered);
  });

  return {
    stream: (stream) => streams.get(stream),
    type: (stream, type) => streams.get(stream)?.types.get(type),
    revisionMadeAt: (revision) => revisions.get(revision),
    onAcked: (listener) => {
      listeners.push(listener);
    },
    onAnswered: (listener) => {
      answerListeners.push(listener);
    },
  };
}

interface StreamRecord extends StreamTimes {
  /** Earlier revisions do not count as propagated to this stream. */
  readonly openedAtRevision: number;
  lastRequestAt: number | undefined;
  lastResponseAt: number | undefined;
  readonly types: Map<TypeUrl, TypeRecord>;
}

interface Sent {
  readonly nonce: string;
  readonly revision: number;
  readonly at: number;
}

class TypeRecord implements TypeTimes {
  sentAt: number | undefined = undefined;
  ackedAt: number | undefined = undefined;
  nackedAt: number | undefined = undefined;
  waitsSince: number | undefined = undefined;
  requestedAt: number | undefined = undefined;
  #unanswered: Sent[] = [];

  send(nonce: string, revision: number, at: number): void {
    this.sentAt = at;
    this.#unanswered.push({ nonce, revision, at });
    if (this.#unanswered.length > MAX_UNANSWERED) this.#unanswered.shift();
  }

  /** Settles the response with this nonce and all older ones: clients may answer only the newest (A12). */
  settle(nonce: string): Sent | undefined {
    const index = this.#unanswered.findIndex((sent) => sent.nonce === nonce);
    if (index === -1) return undefined;
    const sent = this.#unanswered[index];
    // Nearly always there is one.
    if (this.#unanswered.length === 1) this.#unanswered.pop();
    else this.#unanswered = this.#unanswered.slice(index + 1);
    return sent;
  }

  sentAtOf(nonce: string): number | undefined {
    return this.#unanswered.find((sent) => sent.nonce === nonce)?.at;
  }
}

function typeRecord(record: StreamRecord, type: TypeUrl): TypeRecord {
  let times = record.types.get(type);
  if (times === undefined) {
    times = new TypeRecord();
    record.types.set(type, times);
  }
  return times;
}

function forgetOldest(map: Map<number, number>): void {
  for (const key of map.keys()) {
    map.delete(key);
    return;
  }
}
