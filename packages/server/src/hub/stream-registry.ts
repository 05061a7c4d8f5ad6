import type { BodyEncoder } from "@xdskit/envoy-api/internal";
import type { Peer, Status } from "@xdskit/protocol";
import { type Body, type ServerEffect, type StreamId, statusCode } from "@xdskit/protocol/internal";
import type { LimitName, Limits } from "../limits.ts";
import { BodyOutbox } from "./body-outbox.ts";
import type { ConnectionLimits } from "./connection-limits.ts";
import { MessageMaker } from "./message.ts";
import { Outbox, type OutboxChange } from "./outbox.ts";
import type { BodyHandle, NewStream, StreamEnd, StreamHandle } from "./port.ts";

/** Interval of the check for clients that stopped reading, in milliseconds. */
const SWEEP_MS = 1_000;
/** Time that a client has to read the rest of a stream that the server ended, in milliseconds. */
const END_WITHIN_MS = 5_000;

/** An open stream. */
export interface OpenStream extends NewStream {
  readonly id: StreamId;
  readonly peer: Peer;
  readonly openedAtMs: number;
}

/** Data that is buffered for clients. */
export interface Backlog {
  readonly stalledStreams: number;
  readonly bufferedBytes: number;
}

/** The responses and bytes of one flush. */
export interface Written {
  readonly responses: number;
  readonly bytes: number;
}

export interface StreamRegistryOptions {
  readonly encoder: BodyEncoder;
  readonly limits: Pick<Limits, "maxPendingBytes" | "maxBlockedMs">;
  readonly connectionLimits: ConnectionLimits;
  /** A stream has ended; the client may still read buffered data. */
  readonly closed: (stream: OpenStream, status: Status, reason: StreamEnd) => void;
  /** A client stopped reading, or reads again. */
  readonly pace: (stream: OpenStream, kind: "stream-stalled" | "stream-drained", pendingBytes: number) => void;
  readonly limitHit: (limit: LimitName, stream: OpenStream, message: string) => void;
}

/** A stream and its outbox. */
interface OutgoingStream extends OpenStream {
  readonly outbox: Outbox | BodyOutbox;
  /** Adds a response to the outbox and returns its size in bytes. */
  readonly send: (body: Body, nonce: string) => number;
}

/** The open streams, those still being written to their end, and their outboxes. */
export class StreamRegistry {
  readonly #options: StreamRegistryOptions;
  readonly #messages: MessageMaker;
  readonly #open = new Map<StreamId, OutgoingStream>();
  /** Ended streams that still have data to write. */
  readonly #ending = new Map<StreamId, OutgoingStream>();
  /** Streams with new data since the last flush. */
  readonly #given = new Set<OutgoingStream>();
  #responses = 0;
  #bytes = 0;
  #sweep: NodeJS.Timeout | undefined;

  constructor(options: StreamRegistryOptions) {
    this.#options = options;
    this.#messages = new MessageMaker(options.encoder);
  }

  get size(): number {
    return this.#open.size;
  }

  /** Numbers of the open streams, oldest first. */
  get ids(): Iterable<StreamId> {
    return this.#open.keys();
  }

  get(id: StreamId): OpenStream | undefined {
    return this.#open.get(id);
  }

  get backlog(): Backlog {
    let stalledStreams = 0;
    let bufferedBytes = 0;
    for (const { outbox } of this.#open.values()) {
      if (outbox.isStalled) stalledStreams++;
      bufferedBytes += outbox.pendingBytes;
    }
    return { stalledStreams, bufferedBytes };
  }

  /** Adds a stream that `ConnectionLimits` admitted. */
  open(opened: OpenStream, handle: StreamHandle | BodyHandle): void {
    const { outbox, send } = this.#createOutbox(opened, handle, (change) => this.#outboxChanged(stream, change));
    const stream: OutgoingStream = Object.assign({}, opened, { outbox, send });
    this.#open.set(stream.id, stream);
    this.#watchWrites();
  }

  /**
   * Queues a response for the next `flush`. Returns its size in bytes, or undefined if the stream has ended. Throws
   * what the encoder throws.
   */
  send({ stream: id, body, nonce }: Extract<ServerEffect, { readonly kind: "send" }>): number | undefined {
    const stream = this.#open.get(id);
    if (stream === undefined) return undefined;
    const bytes = stream.send(body, nonce);
    this.#given.add(stream);
    this.#responses++;
    this.#bytes += bytes;
    return bytes;
  }

  /** Encodes some of a response, so that `send` has less to do; false if there is nothing left. Throws what the encoder throws. */
  encodeSome(id: StreamId, body: Body): boolean {
    const stream = this.#open.get(id);
    // What an in-process client is given is not encoded.
    if (stream === undefined || stream.outbox instanceof BodyOutbox) return false;
    return this.#options.encoder.encodeSome(body, stream.apiVersion);
  }

  /** Ends a stream whose buffer exceeds `maxPendingBytes`. */
  endOverfull(id: StreamId): void {
    const stream = this.#open.get(id);
    const limit = this.#options.limits.maxPendingBytes;
    if (stream === undefined || stream.outbox.pendingBytes <= limit) return;
    const message = `${stream.outbox.pendingBytes} bytes wait to be read; at most ${limit} may (maxPendingBytes)`;
    this.#options.limitHit("maxPendingBytes", stream, message);
    this.#reset(stream, { code: statusCode.RESOURCE_EXHAUSTED, message }, "limit");
  }

  /** Writes once per stream with new data, and returns the totals. */
  flush(): Written {
    for (const { outbox } of this.#given) outbox.flush();
    this.#given.clear();
    const written = { responses: this.#responses, bytes: this.#bytes };
    this.#responses = 0;
    this.#bytes = 0;
    return written;
  }

  /** Ends a stream after its queued data. */
  end(id: StreamId, status: Status, reason: StreamEnd): void {
    const stream = this.#open.get(id);
    if (stream === undefined) return;
    this.#ending.set(id, stream);
    this.#close(stream, status, reason);
    stream.outbox.end(status);
  }

  /** The client disconnected. Its handle is not called again. */
  abandon(id: StreamId, reason: StreamEnd): void {
    const stream = this.#open.get(id);
    stream?.outbox.abandon();
    this.#ending.get(id)?.outbox.abandon();
    this.#ending.delete(id);
    if (stream !== undefined) this.#close(stream, cancelled, reason);
  }

  /** Ends all streams at once, also those that are ending. */
  close(status: Status, reason: StreamEnd): void {
    for (const stream of [...this.#open.values()]) this.#reset(stream, status, reason);
    for (const { outbox } of this.#ending.values()) outbox.reset(status);
    this.#ending.clear();
    clearInterval(this.#sweep);
    this.#sweep = undefined;
  }

  /** Creates an outbox of bodies for an in-process client, of bytes for any other. */
  #createOutbox(
    { apiVersion }: OpenStream,
    handle: StreamHandle | BodyHandle,
    changed: (change: OutboxChange) => void,
  ): Pick<OutgoingStream, "outbox" | "send"> {
    if ("take" in handle) {
      const outbox = new BodyOutbox(handle, changed);
      return { outbox, send: (body, nonce) => outbox.send(body, nonce) };
    }
    const outbox = new Outbox(handle, changed);
    const send: OutgoingStream["send"] = (body, nonce) => {
      const message = this.#messages.make(body, nonce, apiVersion, handle.prefix);
      outbox.push(message);
      return message.byteLength;
    };
    return { outbox, send };
  }

  #outboxChanged(stream: OutgoingStream, change: OutboxChange): void {
    if (change === "ended") this.#ending.delete(stream.id);
    else if (this.#open.has(stream.id)) {
      this.#options.pace(
        stream,
        change === "stalled" ? "stream-stalled" : "stream-drained",
        stream.outbox.pendingBytes,
      );
    }
  }

  /** Removes a stream without calling its handle. */
  #close(stream: OutgoingStream, status: Status, reason: StreamEnd): void {
    this.#open.delete(stream.id);
    this.#given.delete(stream);
    this.#options.connectionLimits.streamClosed(stream.peer);
    this.#options.closed(stream, status, reason);
  }

  #reset(stream: OutgoingStream, status: Status, reason: StreamEnd): void {
    this.#close(stream, status, reason);
    stream.outbox.reset(status);
  }

  #watchWrites(): void {
    if (this.#sweep !== undefined) return;
    const { maxBlockedMs } = this.#options.limits;
    this.#sweep = setInterval(() => this.#endBlocked(), Math.min(SWEEP_MS, maxBlockedMs));
    this.#sweep.unref();
  }

  #endBlocked(): void {
    const now = performance.now();
    const { maxBlockedMs } = this.#options.limits;
    for (const stream of this.#open.values()) {
      if (stream.outbox.blockedMs(now) <= maxBlockedMs) continue;
      const message = `nothing could be written for ${maxBlockedMs} ms (maxBlockedMs)`;
      this.#options.limitHit("maxBlockedMs", stream, message);
      this.#reset(stream, { code: statusCode.RESOURCE_EXHAUSTED, message }, "blocked");
    }
    for (const [id, { outbox }] of this.#ending) {
      if (outbox.blockedMs(now) <= Math.min(END_WITHIN_MS, maxBlockedMs)) continue;
      this.#ending.delete(id);
      outbox.reset(cancelled);
    }
  }
}

/** The status of a stream whose client disconnected. */
export const cancelled: Status = { code: statusCode.CANCELLED, message: "the client is gone" };
