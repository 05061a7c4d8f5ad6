import {
  constants,
  type IncomingHttpHeaders,
  performServerHandshake,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { Socket } from "node:net";
import type { ErrorCode } from "./frame.ts";
import type { ResponseFields } from "./header-encoder.ts";
import type { BodyListener, Http2Connection, Http2Listener, Http2Options, Http2Stream } from "./http2.ts";
import { RECEIVE_WINDOW_BYTES } from "./limits.ts";
import { SessionWatch } from "./session-watch.ts";
import { firstLimit, StreamRoom } from "./stream-room.ts";

/**
 * Node's memory limit of a session in megabytes. Streams have their own limits; this one must never be reached first.
 */
const MAX_SESSION_MB = 1_024;
/** Node's own limit of invalid frames, which refused streams count as. */
const MIN_INVALID_FRAMES = 1_000;

/** A connection of `node:http2`. */
export class NodeConnection implements Http2Connection {
  readonly #session: ServerHttp2Session;
  readonly #socket: Socket;
  readonly #streams = new Set<ServerHttp2Stream>();
  readonly #room: StreamRoom;

  constructor(socket: Socket, { maxStreams, maxBlockedMs }: Http2Options, listener: Http2Listener) {
    this.#socket = socket;
    this.#session = performServerHandshake(socket, {
      maxSessionMemory: MAX_SESSION_MB,
      // A client that did not wait for SETTINGS may open again what was refused.
      maxSessionInvalidFrames: Math.max(MIN_INVALID_FRAMES, maxStreams),
      settings: { initialWindowSize: RECEIVE_WINDOW_BYTES, maxConcurrentStreams: firstLimit(maxStreams) },
    });
    this.#session.setLocalWindowSize(RECEIVE_WINDOW_BYTES);
    this.#room = new StreamRoom({
      max: maxStreams,
      announce: (maxConcurrentStreams, acknowledged) => {
        if (!this.#session.destroyed) this.#session.settings({ maxConcurrentStreams }, acknowledged);
      },
    });
    const watch = new SessionWatch(this.#session, socket, {
      streams: this.#streams,
      maxBlockedMs,
      onEnded: (failure) => {
        listener.onFailure(failure);
        this.destroy();
      },
    });
    this.#session.on("stream", (stream, headers) => this.#take(stream, headers, listener));
    this.#session.on("error", ({ code, message }: NodeJS.ErrnoException) => {
      // "close" follows. Network errors have other codes.
      const isBroken = code?.startsWith("ERR_HTTP2_") === true;
      listener.onFailure({ kind: isBroken ? "broken" : "lost", reason: message });
    });
    socket.once("close", () => watch.stop());
  }

  get isLeaving(): boolean {
    return this.#session.closed;
  }

  get isDestroyed(): boolean {
    return this.#session.destroyed;
  }

  /** Node's session reads whatever comes. */
  readonly isPaused = false;
  readonly pausedMs = 0;

  leave(): void {
    this.#session.close();
  }

  destroy(): void {
    this.#session.destroy();
    // A session with a write in progress waits for it, for ever if the client reads nothing.
    this.#socket.destroy();
  }

  ping(answered: () => void): void {
    this.#session.ping(answered);
  }

  #take(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, listener: Http2Listener): void {
    // First, because a frame of the same read may have ended the stream, and its error comes next.
    stream.on("error", () => undefined); // "close" follows, with all that is to be known
    if (isGone(stream)) return;
    this.#streams.add(stream);
    stream.once("close", () => this.#streams.delete(stream));
    const started = (): void => {
      this.#room.open();
      stream.once("close", () => this.#room.close());
    };
    listener.onStream(new NodeStream(stream, started), singleValues(headers));
  }
}

/** Node joins what may occur several times, but for lists. */
function singleValues(headers: IncomingHttpHeaders): Readonly<Record<string, string | undefined>> {
  const single: Record<string, string | undefined> = Object.create(null);
  for (const [name, value] of Object.entries(headers)) single[name] = typeof value === "object" ? value[0] : value;
  return single;
}

/** Whether the stream can no longer be written to. A reset stream is closed for a moment before it is destroyed. */
function isGone(stream: ServerHttp2Stream): boolean {
  return stream.destroyed || stream.closed;
}

class NodeStream implements Http2Stream {
  readonly #stream: ServerHttp2Stream;
  #started: (() => void) | undefined;
  #isEnded = false;

  constructor(stream: ServerHttp2Stream, started: () => void) {
    this.#stream = stream;
    this.#started = started;
  }

  get isClosed(): boolean {
    return isGone(this.#stream);
  }

  get headersSent(): boolean {
    return this.#stream.headersSent;
  }

  get unsentBytes(): number {
    return this.#stream.writableLength;
  }

  read(body: BodyListener): void {
    this.#start();
    const stream = this.#stream;
    stream.on("data", (chunk: Uint8Array) => body.onData(chunk));
    stream.on("end", () => {
      if (!stream.aborted && !stream.closed) body.onEnd();
    });
  }

  discard(): void {
    this.#stream.removeAllListeners("data").removeAllListeners("end").resume();
  }

  respond(fields: ResponseFields, isLast = false): void {
    this.#start();
    if (this.isClosed) return;
    this.#stream.respond(fields, { endStream: isLast, waitForTrailers: !isLast });
    if (isLast) this.#stopReading();
  }

  write(pieces: readonly Uint8Array[], written?: () => void): void {
    const stream = this.#stream;
    if (!stream.writable) return;
    // A failed write is followed by "close"; nothing more is written until then.
    const done = (error?: Error | null): void => {
      if (error === undefined || error === null) written?.();
    };
    const last = pieces.length - 1;
    if (last > 0) stream.cork();
    pieces.forEach((piece, index) => {
      if (index === last) stream.write(piece, done);
      else stream.write(piece);
    });
    if (last > 0) stream.uncork();
  }

  end(trailers: ResponseFields = {}): void {
    const stream = this.#stream;
    if (this.isClosed || this.#isEnded) return;
    this.#isEnded = true;
    stream.once("wantTrailers", () => {
      if (isGone(stream)) return;
      stream.sendTrailers(trailers);
      this.#stopReading();
    });
    stream.end();
  }

  reset(code: ErrorCode): void {
    this.#stream.close(code);
  }

  onClose(listener: () => void): void {
    this.#stream.once("close", listener);
  }

  /** Handling begins. */
  #start(): void {
    const started = this.#started;
    this.#started = undefined;
    started?.();
  }

  /**
   * Tells a client that still sends that its request is no longer read. Only after the whole response has left: if a
   * stream is closed with data pending and then destroyed by a session error, Node writes empty frames forever. And
   * only in a later turn: a reset would overtake trailers and, from Node 26, headers that are the whole response.
   */
  #stopReading(): void {
    const stream = this.#stream;
    this.discard();
    const stop = (): void => {
      if (!stream.readableEnded && !isGone(stream)) stream.close(constants.NGHTTP2_NO_ERROR);
    };
    const stopSoon = (): void => void setImmediate(stop);
    if (stream.writableFinished) stopSoon();
    else stream.once("finish", stopSoon);
  }
}
