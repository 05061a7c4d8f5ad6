import type { BodyEncoder } from "@xdskit/envoy-api/internal";
import type { Peer, Status } from "@xdskit/protocol";
import { type Body, type ServerEffect, type StreamId, statusCode } from "@xdskit/protocol/internal";
import type { LimitName, Limits } from "../options.ts";
import { BodyOutbox } from "./body-outbox.ts";
import type { ConnectionLimits } from "./connection-limits.ts";
import { MessageMaker } from "./message.ts";
import { Outbox, type OutboxChange } from "./outbox.ts";
import type { BodyHandle, NewStream, StreamEnd, StreamHandle } from "./port.ts";

/** How often it is looked whether somebody stopped reading. */
const SWEEP_MS = 1_000;
/** A stream that we ended has so long to read the rest. */
const END_WITHIN_MS = 5_000;

/** A stream that is open. */
export interface OpenStream extends NewStream {
  readonly id: StreamId;
  readonly peer: Peer;
  readonly openedAtMs: number;
}

/** What waits to be written to clients. */
export interface Backlog {
  readonly slowClients: number;
  readonly bufferedBytes: number;
}

/** What was written at once. */
export interface Written {
  readonly responses: number;
  readonly bytes: number;
}

export interface StreamRegistryOptions {
  readonly encoder: BodyEncoder;
  readonly limits: Pick<Limits, "maxPendingBytes" | "maxBlockedMs">;
  readonly connectionLimits: ConnectionLimits;
  /** A stream is over, for us; what its client was not given yet may still be read. */
  readonly closed: (stream: OpenStream, status: Status, reason: StreamEnd) => void;
  /** A client does not read, or reads again. */
  readonly pace: (stream: OpenStream, kind: "stream-stalled" | "stream-drained", pendingBytes: number) => void;
  readonly limitHit: (limit: LimitName, stream: OpenStream, message: string) => void;
}

/** A stream with what waits to be written to it. */
interface OutgoingStream extends OpenStream {
  readonly outbox: Outbox | BodyOutbox;
  /** Puts a response into the outbox, and says how many bytes it has. */
  readonly send: (body: Body, nonce: string) => number;
}

/** The streams that are open or not yet written to the end, and what waits to be written to them. */
export class StreamRegistry {
  readonly #options: StreamRegistryOptions;
  readonly #messages: MessageMaker;
  readonly #open = new Map<StreamId, OutgoingStream>();
  /** Streams that are over for the plane, but not yet written to the end. */
  readonly #ending = new Map<StreamId, OutgoingStream>();
  /** Streams that were given something since everything was last written. */
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

  /** The numbers of those that are open, oldest first. */
  get ids(): Iterable<StreamId> {
    return this.#open.keys();
  }

  get(id: StreamId): OpenStream | undefined {
    return this.#open.get(id);
  }

  get backlog(): Backlog {
    let slowClients = 0;
    let bufferedBytes = 0;
    for (const { outbox } of this.#open.values()) {
      if (outbox.isStalled) slowClients++;
      bufferedBytes += outbox.pendingBytes;
    }
    return { slowClients, bufferedBytes };
  }

  /** Takes in a stream that the census admitted. */
  open(opened: OpenStream, handle: StreamHandle | BodyHandle): void {
    const outgoing = this.#createOutbox(opened, handle, (change) => this.#outboxChanged(stream, change));
    const stream: OutgoingStream = { ...opened, ...outgoing };
    this.#open.set(stream.id, stream);
    this.#watchWrites();
  }

  /**
   * Has a response written with the next `flush`. How many bytes it has; undefined if the stream is over. Throws what the
   * encoder throws.
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

  /** Ends a stream on which more waits to be read than may. */
  endOverfull(id: StreamId): void {
    const stream = this.#open.get(id);
    const limit = this.#options.limits.maxPendingBytes;
    if (stream === undefined || stream.outbox.pendingBytes <= limit) return;
    const message = `${stream.outbox.pendingBytes} bytes wait to be read; at most ${limit} may (maxPendingBytes)`;
    this.#options.limitHit("maxPendingBytes", stream, message);
    this.#reset(stream, { code: statusCode.RESOURCE_EXHAUSTED, message }, "limit");
  }

  /** One write for each stream that was given something. What that was, all in all. */
  flush(): Written {
    for (const { outbox } of this.#given) outbox.flush();
    this.#given.clear();
    const written = { responses: this.#responses, bytes: this.#bytes };
    this.#responses = 0;
    this.#bytes = 0;
    return written;
  }

  /** Ends a stream after all that it was given. */
  end(id: StreamId, status: Status, reason: StreamEnd): void {
    const stream = this.#open.get(id);
    if (stream === undefined) return;
    this.#ending.set(id, stream);
    this.#close(stream, status, reason);
    stream.outbox.end(status);
  }

  /** The client is gone. Its handle is not called again. */
  abandon(id: StreamId, reason: StreamEnd): void {
    const stream = this.#open.get(id);
    stream?.outbox.abandon();
    this.#ending.get(id)?.outbox.abandon();
    this.#ending.delete(id);
    if (stream !== undefined) this.#close(stream, cancelled, reason);
  }

  /** Ends all there are at once, also those that are ending. */
  close(status: Status, reason: StreamEnd): void {
    for (const stream of [...this.#open.values()]) this.#reset(stream, status, reason);
    for (const { outbox } of this.#ending.values()) outbox.reset(status);
    this.#ending.clear();
    clearInterval(this.#sweep);
    this.#sweep = undefined;
  }

  /** Who is in this process is given bodies, everybody else their bytes. */
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

  /** Forgets a stream. Its handle is not touched. */
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

/** What is said of a client that went away. */
export const cancelled: Status = { code: statusCode.CANCELLED, message: "the client is gone" };
