import type { ErrorCode } from "./frame.ts";
import type { ResponseFields } from "./header-encoder.ts";
import type { ReadPacer } from "./read-pacer.ts";

/** The headers of a request by their lower-case names; of several the first. */
export type RequestHeaders = Readonly<Record<string, string | undefined>>;

/** The server's end of one HTTP/2 connection. */
export interface Http2Connection {
  /** Whether it sent GOAWAY, or has ended. */
  readonly isLeaving: boolean;
  /** Whether it has ended: its streams were or will be closed. */
  readonly isDestroyed: boolean;
  /** Whether it does not read for now, so that nothing can be expected of the client. */
  readonly isPaused: boolean;
  /** For how many milliseconds it has not read so far, all in all. */
  readonly pausedMs: number;
  /** Sends GOAWAY: open streams continue, new ones are ignored; the connection closes after its last stream. */
  leave(): void;
  /** Closes the connection and its socket at once. */
  destroy(): void;
  /** Sends a PING; calls `answered` when its answer comes. */
  ping(answered: () => void): void;
}

/** Why a connection cannot go on: an error of the client's, a client that does not read or answer, a network error. */
export interface Http2Failure {
  readonly kind: "broken" | "blocked" | "silent" | "lost";
  readonly reason: string;
}

export interface Http2Listener {
  /** A request came. What it throws ends nothing: the listener handles its own mistakes. */
  onStream(stream: Http2Stream, headers: RequestHeaders): void;
  /** The connection failed, and closes by itself. */
  onFailure(failure: Http2Failure): void;
}

export interface Http2Options {
  /** Streams that may be open at the same time. */
  readonly maxStreams: number;
  /** Milliseconds within which a client must read what was written before its connection closes. */
  readonly maxBlockedMs: number;
  /** Bounds what all connections read in a turn of the event loop; undefined: nothing does. */
  readonly readPacer?: ReadPacer | undefined;
}

/** Receives the body of a request. */
export interface BodyListener {
  onData(chunk: Uint8Array): void;
  /** The body is complete. Not called for a stream that was reset. */
  onEnd(): void;
}

/** One request and its response. */
export interface Http2Stream {
  /** Whether it has closed: nothing can be written any more. */
  readonly isClosed: boolean;
  readonly headersSent: boolean;
  /** Bytes of the response that wait for the client's window or the socket. */
  readonly unsentBytes: number;
  /** Starts reading the body. */
  read(listener: BodyListener): void;
  /** Throws away what comes of the body from now on. */
  discard(): void;
  /** Sends the headers of the response, once; `isLast`: they are the whole response, as always to a HEAD request. */
  respond(headers: ResponseFields, isLast?: boolean): void;
  /** Writes consecutive pieces; calls `written` when the socket has taken them, which may never be. */
  write(pieces: readonly Uint8Array[], written?: () => void): void;
  /**
   * Ends the response, with trailers if given. A client that still sends is told that the rest is not read
   * (RST_STREAM with NO_ERROR) when the response has left.
   */
  end(trailers?: ResponseFields): void;
  /** Resets the stream: what was written and has not left is lost. */
  reset(code: ErrorCode): void;
  /** Adds a callback for the close, which comes in a later turn. */
  onClose(listener: () => void): void;
}
