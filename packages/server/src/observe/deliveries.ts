import type { TypeUrl, Variant } from "@xdskit/protocol";
import type { StreamId } from "@xdskit/protocol/internal";
import type { NodeCondition } from "./node-condition.ts";
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

/** Counts in which condition the types of a node are. */
export interface ConditionCounter {
  add(condition: NodeCondition, by: 1 | -1): void;
  /** The condition of one type changed. */
  move(before: NodeCondition, after: NodeCondition): void;
}

/** A stream: when it opened and was last active, and how its types stand. */
export interface StreamTimes {
  /** The polls of a poller are State of the World. */
  readonly variant: Variant;
  readonly openedAt: number;
  readonly lastRequestAt: number | undefined;
  readonly lastResponseAt: number | undefined;
  /** Has the conditions of the types counted by one counter, and no longer by that before; undefined: by none. */
  countWith(counter: ConditionCounter | undefined): void;
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
  /** Called for every NACK of a response whose revision is known. */
  onNacked(listener: (nacked: NackedResponse) => void): void;
}

/** A response that was NACKed. */
export interface NackedResponse {
  /** The id of the node. */
  readonly node: string;
  readonly type: TypeUrl;
  /** The revision of the response. */
  readonly revision: number;
  /** In milliseconds since 1970. */
  readonly at: number;
  /** The error message, as the client sent it. */
  readonly reason: string;
}

/** Records delivery times from the telemetry. */
export function createDeliveryTimes(telemetry: ObservedTelemetry): DeliveryTimes {
  const streams = new StreamRecords();
  const revisions = new Map<number, number>();
  const ackListeners: ((latency: Latency) => void)[] = [];
  const nackListeners: ((nacked: NackedResponse) => void)[] = [];

  let newest = 0;

  telemetry.observe("committed", ({ revision }, at) => {
    newest = revision;
    revisions.set(revision, at.getTime());
    if (revisions.size > MAX_REVISIONS) forgetOldest(revisions);
  });
  telemetry.observe("stream-opened", ({ stream, variant }, at) => streams.open(stream, variant, at, newest));
  telemetry.observe("poller-met", ({ stream }, at) => streams.open(stream, "sotw", at, newest));
  telemetry.observe("stream-closed", ({ stream }) => streams.forget(stream));
  telemetry.observe("poller-forgotten", ({ stream }) => streams.forget(stream));
  telemetry.observe("request-classified", ({ stream, type }, at) => {
    const record = streams.get(stream);
    if (record === undefined) return;
    record.lastRequestAt = at.getTime();
    record.type(type).requestedAt = at.getTime();
  });
  telemetry.observe("wait-began", ({ stream, type }, at) => streams.get(stream)?.wait(type, at.getTime()));
  telemetry.observe("wait-ended", ({ stream, type }) => streams.get(stream)?.wait(type, undefined));
  telemetry.observe("response-sent", ({ stream, type, nonce, revision }, at) => {
    streams.get(stream)?.send(type, { nonce, revision, at: at.getTime() });
  });
  telemetry.observe("response-acked", ({ stream, type, nonce }, at) => {
    const record = streams.get(stream);
    const now = at.getTime();
    const sent = record?.ack(type, nonce, now);
    if (record === undefined || sent === undefined) return;
    const madeAt = revisions.get(sent.revision);
    const stood = madeAt !== undefined && sent.revision > record.openedAtRevision;
    const latency = {
      type,
      revision: sent.revision,
      sendToAckMs: now - sent.at,
      propagationMs: stood ? now - madeAt : undefined,
    };
    for (const listener of ackListeners) listener(latency);
  });
  telemetry.observe("response-nacked", ({ stream, node, type, nonce, error }, at) => {
    const sent = streams.get(stream)?.nack(type, nonce, at.getTime());
    if (sent === undefined) return;
    const nacked = { node: node.id, type, revision: sent.revision, at: at.getTime(), reason: error.message };
    for (const listener of nackListeners) listener(nacked);
  });

  return {
    stream: (stream) => streams.get(stream),
    type: (stream, type) => streams.get(stream)?.knownType(type),
    revisionMadeAt: (revision) => revisions.get(revision),
    onAcked: (listener) => {
      ackListeners.push(listener);
    },
    onNacked: (listener) => {
      nackListeners.push(listener);
    },
  };
}

/** The open streams and the pollers. */
class StreamRecords {
  readonly #records = new Map<StreamId, StreamRecord>();
  /** The one that was looked up last: what is reported of a request or a response comes in a row. */
  #last: StreamRecord | undefined;

  get(id: StreamId): StreamRecord | undefined {
    if (this.#last?.id !== id) this.#last = this.#records.get(id);
    return this.#last;
  }

  open(id: StreamId, variant: Variant, at: Date, revision: number): void {
    this.#records.set(id, new StreamRecord(id, variant, at.getTime(), revision));
  }

  forget(id: StreamId): void {
    this.#records.delete(id);
    this.#last = undefined;
  }
}

class StreamRecord implements StreamTimes {
  readonly id: StreamId;
  readonly variant: Variant;
  readonly openedAt: number;
  /** Earlier revisions do not count as propagated to this stream. */
  readonly openedAtRevision: number;
  lastRequestAt: number | undefined = undefined;
  lastResponseAt: number | undefined = undefined;
  /** Few: `maxTypesPerStream`. */
  readonly #types: TypeRecord[] = [];
  #counter: ConditionCounter | undefined;

  constructor(id: StreamId, variant: Variant, openedAt: number, openedAtRevision: number) {
    this.id = id;
    this.variant = variant;
    this.openedAt = openedAt;
    this.openedAtRevision = openedAtRevision;
  }

  countWith(counter: ConditionCounter | undefined): void {
    for (const { condition } of this.#types) {
      this.#counter?.add(condition, -1);
      counter?.add(condition, 1);
    }
    this.#counter = counter;
  }

  knownType(type: TypeUrl): TypeRecord | undefined {
    for (const known of this.#types) if (known.type === type) return known;
    return undefined;
  }

  type(type: TypeUrl): TypeRecord {
    const known = this.knownType(type);
    if (known !== undefined) return known;
    const met = new TypeRecord(type);
    this.#types.push(met);
    this.#counter?.add(met.condition, 1);
    return met;
  }

  wait(type: TypeUrl, since: number | undefined): void {
    const record = this.type(type);
    record.waitsSince = since;
    this.#recount(record);
  }

  send(type: TypeUrl, sent: Sent): void {
    const record = this.type(type);
    this.lastResponseAt = sent.at;
    record.send(sent);
    this.#recount(record);
  }

  /** Returns the response, if it awaited an ACK and is known. */
  ack(type: TypeUrl, nonce: string, at: number): Sent | undefined {
    const record = this.type(type);
    record.ackedAt = at;
    return this.#settle(record, nonce, false);
  }

  /** As `ack`. */
  nack(type: TypeUrl, nonce: string, at: number): Sent | undefined {
    const record = this.type(type);
    record.nackedAt = at;
    return this.#settle(record, nonce, true);
  }

  #settle(record: TypeRecord, nonce: string, isNacked: boolean): Sent | undefined {
    record.isNacked = isNacked;
    const sent = record.settle(nonce);
    this.#recount(record);
    return sent;
  }

  #recount(type: TypeRecord): void {
    const { condition: before } = type;
    type.judge();
    if (type.condition !== before) this.#counter?.move(before, type.condition);
  }
}

interface Sent {
  readonly nonce: string;
  readonly revision: number;
  readonly at: number;
}

class TypeRecord implements TypeTimes {
  readonly type: TypeUrl;
  sentAt: number | undefined = undefined;
  ackedAt: number | undefined = undefined;
  nackedAt: number | undefined = undefined;
  waitsSince: number | undefined = undefined;
  requestedAt: number | undefined = undefined;
  /** The last ACK or NACK was a NACK. */
  isNacked = false;
  /** As of `judge`. */
  condition: NodeCondition = "acked";
  #unanswered: Sent[] = [];

  constructor(type: TypeUrl) {
    this.type = type;
  }

  judge(): void {
    if (this.isNacked) this.condition = "nacked";
    else if (this.waitsSince !== undefined) this.condition = "waiting";
    else this.condition = this.#unanswered.length > 0 ? "pending" : "acked";
  }

  send(sent: Sent): void {
    this.sentAt = sent.at;
    this.#unanswered.push(sent);
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

function forgetOldest(map: Map<number, number>): void {
  for (const key of map.keys()) {
    map.delete(key);
    return;
  }
}
