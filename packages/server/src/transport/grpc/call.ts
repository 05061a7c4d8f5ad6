import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import { promisify } from "node:util";
import { gunzip, inflate } from "node:zlib";
import { type Status, statusCode } from "@xdskit/protocol";
import type { StreamEnd, StreamHandle } from "../../hub/port.ts";
import { isGone, stopReading } from "../stream-state.ts";
import { type FramedMessage, FramingError, MessageParser, messagePrefix } from "./framing.ts";
import { type CallHeaders, type Compression, formatTrailers, parseHeaders, responseHeaders } from "./metadata.ts";

/** What a method does with a call. */
export interface CallListener {
  /** A whole message. While a promise is pending, nothing more is read: that is how a caller is slowed down. */
  onMessage(bytes: Uint8Array): Promise<void> | void;
  /** The client sends no more. */
  onHalfClose(): void;
  /** What was sent cannot be read, or the deadline passed: the method ends the call with this status. */
  onFailure(status: Status, reason: StreamEnd): void;
  /** The stream is gone, for whatever reason; the call cannot be written to. Last, once, always. */
  onClose(reason: "cancelled" | "connection-lost"): void;
}

/** So many messages of one call are read before others have their turn: a flood slows down only itself. */
const MESSAGES_PER_TURN = 32;
/** The longest that a timer can be set to; a longer deadline is none. */
const LONGEST_MS = 2 ** 31 - 1;

const gunzipped = promisify(gunzip);
const inflated = promisify(inflate);

export interface CallOptions {
  /** Bytes of one message, after decompression. */
  readonly maxBytes: number;
  /** Told what ended the call with INTERNAL. */
  readonly onMistake: (error: unknown) => void;
}

/** One gRPC call: an HTTP/2 stream whose headers were understood. */
export class GrpcCall implements StreamHandle {
  readonly headers: CallHeaders;
  readonly prefix: (byteLength: number) => Uint8Array = messagePrefix;
  readonly #stream: ServerHttp2Stream;
  readonly #parser: MessageParser;
  readonly #options: CallOptions;
  #listener: CallListener | undefined;
  #deadline: NodeJS.Timeout | undefined;
  #isWaiting = false;
  #isHalfClosed = false;
  #isOver = false;
  #closedBy: "cancelled" | "connection-lost" | undefined;

  constructor(stream: ServerHttp2Stream, headers: CallHeaders, options: CallOptions) {
    this.#stream = stream;
    this.headers = headers;
    this.#options = options;
    this.#parser = new MessageParser(options.maxBytes);
  }

  /** Sends the headers and begins to read, unless the call has ended already. Some clients wait for the headers before they ask. */
  accept(listener: CallListener): void {
    this.#listener = listener;
    if (this.#closedBy !== undefined) this.closed(this.#closedBy);
    const stream = this.#stream;
    if (this.#isOver || isGone(stream)) return; // "close" follows
    stream.respond(responseHeaders, { waitForTrailers: true });
    stream.on("data", (chunk: Uint8Array) => {
      if (this.#isOver) return;
      this.#parser.push(chunk);
      this.#read();
    });
    stream.on("end", () => {
      if (stream.aborted || stream.closed) return; // a reset, which "close" tells
      this.#isHalfClosed = true;
      this.#read();
    });
    this.#startDeadline();
  }

  write(pieces: readonly Uint8Array[], written: () => void): void {
    const stream = this.#stream;
    if (this.#isOver || !stream.writable) return;
    // A write that failed is followed by "close"; until then nothing more is to be tried.
    const done = (error?: Error | null): void => {
      if (error === undefined || error === null) written();
    };
    const last = pieces.length - 1;
    if (last > 0) stream.cork();
    pieces.forEach((piece, index) => {
      if (index === last) stream.write(piece, done);
      else stream.write(piece);
    });
    if (last > 0) stream.uncork();
  }

  /** Writes one message, framed; resolves once the client's window took it, or never. */
  async send(message: Uint8Array): Promise<void> {
    await new Promise<void>((resolve) => {
      this.write([messagePrefix(message.byteLength), message], resolve);
    });
  }

  /** The same for a message that comes in pieces: each leaves once the one before it was taken. */
  async sendPieces(pieces: readonly Uint8Array[], byteLength: number): Promise<void> {
    for (const piece of [messagePrefix(byteLength), ...pieces]) {
      await new Promise<void>((resolve) => {
        this.write([piece], resolve);
      });
    }
  }

  end(status: Status): void {
    if (this.#isOver) return;
    this.#finish();
    const stream = this.#stream;
    if (isGone(stream)) return;
    if (!stream.headersSent) {
      refuseCall(stream, status);
      return;
    }
    stream.once("wantTrailers", () => {
      if (isGone(stream)) return;
      stream.sendTrailers(formatTrailers(status));
      setImmediate(() => stopReading(stream)); // a reset in the same breath would overtake the trailers
    });
    stream.end();
  }

  reset({ code }: Status): void {
    if (this.#isOver) return;
    this.#finish();
    // What clients make of it: RESOURCE_EXHAUSTED and CANCELLED.
    const isExhausted = code === statusCode.RESOURCE_EXHAUSTED;
    this.#stream.close(isExhausted ? constants.NGHTTP2_ENHANCE_YOUR_CALM : constants.NGHTTP2_CANCEL);
  }

  #finish(): void {
    this.#isOver = true;
    clearTimeout(this.#deadline);
    this.#parser.clear();
    this.#stream.resume(); // what still comes is thrown away, so that the stream can close
  }

  /** Told by the connection when the stream has closed. */
  closed(reason: "cancelled" | "connection-lost"): void {
    this.#isOver = true;
    this.#closedBy = reason;
    clearTimeout(this.#deadline);
    this.#parser.clear();
    this.#listener?.onClose(reason);
    this.#listener = undefined;
  }

  /** Reads what has come, until it is to wait for something. */
  #read(): void {
    try {
      for (let read = 1; !this.#isOver && !this.#isWaiting; read++) {
        const message = this.#parser.next();
        if (message === undefined) break;
        const work = this.#take(message) ?? (read % MESSAGES_PER_TURN === 0 ? nextTurn() : undefined);
        if (work !== undefined) void this.#waitFor(work);
      }
      if (!this.#isHalfClosed || this.#isOver || this.#isWaiting) return;
      this.#parser.end();
      this.#isHalfClosed = false;
      this.#listener?.onHalfClose();
    } catch (error) {
      this.#fail(error);
    }
  }

  #take({ isCompressed, bytes }: FramedMessage): Promise<void> | void {
    if (!isCompressed) return this.#listener?.onMessage(bytes);
    const { compression } = this.headers;
    if (compression === "identity") {
      throw new FramingError(statusCode.INTERNAL, "a compressed message without grpc-encoding");
    }
    return this.#decompress(bytes, compression);
  }

  async #decompress(bytes: Uint8Array, compression: Exclude<Compression, "identity">): Promise<void> {
    const { maxBytes } = this.#options;
    const decompressed = compression === "gzip" ? gunzipped : inflated;
    const plain = await decompressed(bytes, { maxOutputLength: maxBytes }).catch((cause: unknown) => {
      throw decompressionError(cause, compression, maxBytes);
    });
    if (!this.#isOver) await this.#listener?.onMessage(plain);
  }

  async #waitFor(work: Promise<void>): Promise<void> {
    this.#isWaiting = true;
    this.#stream.pause();
    try {
      await work;
    } catch (error) {
      this.#fail(error);
    }
    this.#isWaiting = false;
    this.#stream.resume();
    this.#read();
  }

  #fail(error: unknown): void {
    if (this.#isOver) return;
    if (error instanceof FramingError) {
      this.#listener?.onFailure(
        error.status,
        error.status.code === statusCode.RESOURCE_EXHAUSTED ? "limit" : "malformed",
      );
    } else {
      this.#options.onMistake(error);
      this.#listener?.onFailure(
        { code: statusCode.INTERNAL, message: "the server made a mistake; see its log" },
        "failed",
      );
    }
  }

  #startDeadline(): void {
    const { timeoutMs } = this.headers;
    if (timeoutMs === undefined || timeoutMs > LONGEST_MS) return;
    this.#deadline = setTimeout(() => {
      this.#listener?.onFailure({ code: statusCode.DEADLINE_EXCEEDED, message: "the deadline has passed" }, "deadline");
    }, timeoutMs);
    this.#deadline.unref();
  }
}

/**
 * Understands a request. Undefined when it was refused: with a status in the headers (Trailers-Only), or in plain HTTP if it
 * is no gRPC at all.
 */
export function openCall(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  options: CallOptions,
): GrpcCall | undefined {
  const parsed = parseHeaders(headers);
  if ("path" in parsed) return new GrpcCall(stream, parsed, options);
  if ("code" in parsed) refuseCall(stream, parsed);
  else {
    stream.respond({ "content-type": "text/plain", ...parsed.headers });
    stream.end(parsed.body);
    stopReading(stream);
  }
  return undefined;
}

/** Answers a call that has no headers yet with its status alone. */
function refuseCall(stream: ServerHttp2Stream, status: Status): void {
  if (isGone(stream)) return;
  stream.respond({ ...responseHeaders, ...formatTrailers(status) }, { endStream: true });
  stopReading(stream);
}

function decompressionError(cause: unknown, compression: string, maxBytes: number): FramingError {
  const isTooLong = cause instanceof RangeError;
  return isTooLong
    ? new FramingError(
        statusCode.RESOURCE_EXHAUSTED,
        `a request of more than ${maxBytes} bytes after decompression (maxRequestBytes)`,
      )
    : new FramingError(statusCode.INTERNAL, `a message is not ${compression} as it says`);
}

async function nextTurn(): Promise<void> {
  await new Promise<void>((resolve) => {
    setImmediate(resolve);
  });
}
