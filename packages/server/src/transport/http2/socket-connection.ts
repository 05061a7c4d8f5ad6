import type { Socket } from "node:net";
import type { Http2Connection, Http2Listener, Http2Options } from "./http2.ts";
import { Http2Machine, type Output } from "./machine.ts";
import type { PacedReader, ReadPacer } from "./read-pacer.ts";

/** Bytes of responses that the socket has and the client has not read. More wait in their streams, in turns. */
export const MAX_UNWRITTEN_BYTES = 262_144;
/** Bytes of other frames, such as the resets of refused streams, that the socket may have beside these. */
const MAX_UNWRITTEN_CONTROL_BYTES = 524_288;
/** Output up to this size is copied into one buffer: faster than to write its parts. */
const COPIED_BYTES = 8_192;
/** Milliseconds that a client has to close its end after GOAWAY and the last stream. */
const CLOSE_WITHIN_MS = 1_000;

/** Runs an `Http2Machine` on a socket. */
export class SocketConnection implements Http2Connection, PacedReader {
  readonly #socket: Socket;
  readonly #listener: Http2Listener;
  readonly #maxBlockedMs: number;
  readonly #machine: Http2Machine;
  readonly #readPacer: ReadPacer | undefined;
  /** What the socket has not taken yet, in the order of its writes. */
  readonly #unwritten: Output[] = [];
  #unwrittenBytes = 0;
  /** When it stopped reading; undefined: it reads. */
  #pausedAt: number | undefined;
  /** How long the pauses before took. */
  #pausedMs = 0;
  #isReceiving = false;
  #isFlushing = false;
  /** Whether it is flushed after this turn's reads. */
  #isFlushDue = false;
  #isDestroyed = false;
  #hasOutput = false;
  #isEnded = false;
  #closing: NodeJS.Timeout | undefined;

  constructor(socket: Socket, { maxStreams, maxBlockedMs, readPacer }: Http2Options, listener: Http2Listener) {
    this.#socket = socket;
    this.#listener = listener;
    this.#maxBlockedMs = maxBlockedMs;
    this.#readPacer = readPacer;
    this.#isReceiving = true;
    this.#machine = new Http2Machine({
      maxStreams,
      now: () => performance.now(),
      onStream: (stream, headers) => listener.onStream(stream, headers),
      onOutput: () => this.#flushSoon(),
      onBroken: (reason) => {
        this.#isDestroyed = true;
        listener.onFailure({ kind: "broken", reason });
      },
    });
    socket.setNoDelay(true);
    socket.on("data", (chunk: Buffer) => this.#receive(chunk));
    socket.on("error", ({ message }) => listener.onFailure({ kind: "lost", reason: message }));
    socket.once("end", () => this.destroy());
    socket.once("close", () => this.#lose());
    this.#isReceiving = false;
    // The bytes that told the protocol are taken first, so that the answers to them leave with the settings.
    process.nextTick(() => this.#flushAfterReads());
  }

  get isLeaving(): boolean {
    return this.#isDestroyed || this.#machine.isLeaving;
  }

  get isDestroyed(): boolean {
    return this.#isDestroyed;
  }

  get isPaused(): boolean {
    return this.#socket.isPaused();
  }

  get pausedMs(): number {
    return this.#pausedMs + (this.#pausedAt === undefined ? 0 : performance.now() - this.#pausedAt);
  }

  leave(): void {
    this.#machine.leave();
  }

  destroy(): void {
    this.#isDestroyed = true;
    this.#socket.destroy();
  }

  ping(answered: () => void): void {
    this.#machine.ping(answered);
  }

  pauseReading(): void {
    this.#pausedAt ??= performance.now();
    this.#socket.pause();
  }

  resumeReading(): void {
    this.#pausedMs = this.pausedMs;
    this.#pausedAt = undefined;
    this.#socket.resume();
  }

  #receive(chunk: Buffer): void {
    if (this.#isDestroyed) return;
    this.#readPacer?.onRead(this, chunk.byteLength);
    this.#isReceiving = true;
    this.#machine.receive(chunk);
    this.#isReceiving = false;
    this.#flushAfterReads();
  }

  /** Writes what reads led to at the end of this turn of the event loop, together with a response that is made by then. */
  #flushAfterReads(): void {
    if (!this.#hasOutput || this.#isFlushDue) return;
    this.#isFlushDue = true;
    flushAfterReads(this.#flush);
  }

  #flushSoon(): void {
    this.#hasOutput = true;
    if (this.#isReceiving || this.#isFlushing) return;
    this.#isFlushing = true;
    flushLater(this.#flush);
  }

  readonly #flush = (): void => {
    this.#isFlushing = true;
    this.#isFlushDue = false;
    this.#hasOutput = false;
    const output = this.#machine.takeOutput(MAX_UNWRITTEN_BYTES - this.#unwrittenBytes);
    if (output.byteLength > 0 && this.#socket.writable) this.#write(output);
    this.#machine.tellClosed();
    this.#isFlushing = false;
    if (this.#hasOutput) this.#flushSoon();
    else if (this.#machine.isDone) this.#end();
    if (this.#machine.hasUnread) setImmediate(() => this.#flushSoon());
  };

  #write(output: Output): void {
    const socket = this.#socket;
    const { chunks, byteLength } = output;
    this.#unwritten.push(output);
    this.#unwrittenBytes += byteLength;
    const most = MAX_UNWRITTEN_BYTES + MAX_UNWRITTEN_CONTROL_BYTES;
    if (this.#unwrittenBytes > most) {
      this.#listener.onFailure({ kind: "broken", reason: `more than ${most} bytes wait to be read` });
      this.destroy();
      return;
    }
    const [first] = chunks;
    if (chunks.length === 1 && first !== undefined) {
      socket.write(first, this.#written);
    } else if (byteLength <= COPIED_BYTES) {
      socket.write(Buffer.concat(chunks, byteLength), this.#written);
    } else {
      socket.cork();
      const last = chunks.length - 1;
      chunks.forEach((chunk, index) => {
        socket.write(chunk, index === last ? this.#written : undefined);
      });
      socket.uncork();
    }
  }

  readonly #written = (error?: Error | null): void => {
    if (error !== undefined && error !== null) return; // "close" follows
    const output = this.#unwritten.shift();
    if (output === undefined) return;
    this.#unwrittenBytes -= output.byteLength;
    this.#machine.onWritten(output);
    if (this.#machine.hasUnsent) this.#flushSoon();
  };

  /** Closes the connection once all has been written. */
  #end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    const socket = this.#socket;
    socket.end(() => this.#closeWithin(CLOSE_WITHIN_MS));
    if (!socket.writableFinished) this.#closeWithin(this.#maxBlockedMs);
  }

  #closeWithin(ms: number): void {
    clearTimeout(this.#closing);
    if (this.#socket.destroyed) return;
    this.#closing = setTimeout(() => {
      if (!this.#socket.writableFinished) {
        this.#listener.onFailure({ kind: "blocked", reason: `nothing could be written for ${ms} ms (maxBlockedMs)` });
      }
      this.destroy();
    }, ms);
    this.#closing.unref();
  }

  #lose(): void {
    this.#isDestroyed = true;
    clearTimeout(this.#closing);
    this.#readPacer?.forget(this);
    this.#machine.lose();
    this.#machine.tellClosed();
  }
}

let afterReads: (() => void)[] = [];

/** Runs what is flushed after all reads of this turn of the event loop. */
function flushAfterReads(flush: () => void): void {
  afterReads.push(flush);
  if (afterReads.length > 1) return;
  setImmediate(() => {
    const flushed = afterReads;
    afterReads = [];
    for (const one of flushed) one();
  });
}

let waiting: (() => void)[] = [];

/** Runs all that is flushed in this turn of the event loop at its end, so that what is written meanwhile goes along. */
function flushLater(flush: () => void): void {
  waiting.push(flush);
  if (waiting.length > 1) return;
  process.nextTick(() => {
    const flushed = waiting;
    waiting = [];
    for (const one of flushed) one();
  });
}
