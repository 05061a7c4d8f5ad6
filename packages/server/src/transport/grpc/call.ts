import { startTimer, type Timer } from "@xdskit/disk";
import type { Status } from "@xdskit/protocol";
import type { Account } from "@xdskit/protocol/internal";
import { statusCode } from "@xdskit/protocol/internal";
import type { HeldBytes } from "../../hub/byte-budget.ts";
import type { StreamEnd, StreamHandle } from "../../hub/port.ts";
import type { LimitName } from "../../limits.ts";
import { nextTurn } from "../../next-turn.ts";
import { startArrivalTimer } from "../arrival-timer.ts";
import { errorCode } from "../http2/frame.ts";
import type { ResponseFields } from "../http2/header-encoder.ts";
import type { BodyListener, Http2Stream, RequestHeaders } from "../http2/http2.ts";
import { retryHintMs } from "../retry-hint.ts";
import { blockedMessage, closeWithin } from "../stream-state.ts";
import type { Decompression } from "./decompression.ts";
import { type FramedMessage, FramingError, type MessageLimits, MessageParser, messagePrefix } from "./framing.ts";
import type { Intake } from "./intake.ts";
import { type CallHeaders, formatTrailers, parseHeaders, responseHeaders } from "./metadata.ts";

/** A method's callbacks for one call. */
export interface CallListener {
  /** One message. While a returned promise is pending, the next one waits. */
  onMessage(bytes: Uint8Array): Promise<void> | void;
  /** The client half-closed. */
  onHalfClose(): void;
  /** The input is unreadable, or the deadline passed: the method ends the call with this status. */
  onFailure(status: Status, reason: StreamEnd): void;
  /** The stream closed and cannot be written to. Always called, once, as the last callback. */
  onClose(reason: "cancelled" | "connection-lost"): void;
}

/** Messages of one call that are read before other work runs: a flood slows down only its own call. */
const MESSAGES_PER_TURN = 32;
/** Bytes that may wait behind a message that is slowed down: what a client may send without being read. */
const MAX_SLOWED_BYTES = 1_048_576;
/** The longest timer in milliseconds; a longer deadline is ignored. */
const LONGEST_MS = 2 ** 31 - 1;

export interface CallOptions extends MessageLimits {
  readonly account: Account;
  /** Bytes of one message, after decompression. */
  readonly maxBytes: number;
  /** Milliseconds within which a message must arrive, without those for which its connection is not read. */
  readonly maxMessageMs: number;
  /** For how many milliseconds the connection has not been read so far. */
  readonly pausedMs: () => number;
  /** Milliseconds within which a client must read a message. */
  readonly maxBlockedMs: number;
  readonly decompression: Decompression;
  /** Counts the call's bytes of messages that are not fully processed. */
  readonly held: HeldBytes;
  /** Where large messages wait for their turn. */
  readonly intake: Intake;
  /** Counts a message; returns the milliseconds that it has to wait. */
  readonly delayRequest: () => number;
  /** Called for each exceeded limit; the call ends. */
  readonly onLimit: (limit: LimitName, message: string) => void;
  /** Called with the exception that ended the call with INTERNAL. */
  readonly onMistake: (error: unknown) => void;
}

/** One gRPC call: an HTTP/2 stream with valid headers. */
export class GrpcCall implements StreamHandle, BodyListener {
  readonly headers: CallHeaders;
  readonly prefix: (byteLength: number) => Uint8Array = messagePrefix;
  readonly #stream: Http2Stream;
  readonly #parser: MessageParser;
  readonly #options: CallOptions;
  #listener: CallListener | undefined;
  readonly #gone: (() => void)[] = [];
  #deadline: NodeJS.Timeout | undefined;
  /** Timer of an incomplete message. */
  #messageTimeout: Timer | undefined;
  /** Number of unwritten messages; a timer runs while there are any. */
  #unwritten = 0;
  #writeTimeout: NodeJS.Timeout | undefined;
  /** Bytes of the message in progress. */
  #workBytes = 0;
  #isWaiting = false;
  #isInflating = false;
  /** A message waits, because there are too many. */
  #isSlowed = false;
  /** Timer of the message that is slowed down. */
  #slowed: Timer | undefined;
  #isHalfClosed = false;
  #isOver = false;
  #closedBy: "cancelled" | "connection-lost" | undefined;

  constructor(stream: Http2Stream, headers: CallHeaders, options: CallOptions) {
    this.#stream = stream;
    this.headers = headers;
    this.#options = options;
    this.#parser = new MessageParser(options);
  }

  /**
   * Sends the response headers and starts reading, unless the call has ended. Some clients wait for the headers before
   * their first request.
   */
  accept(listener: CallListener): void {
    this.#listener = listener;
    if (this.#closedBy !== undefined) this.closed(this.#closedBy);
    const stream = this.#stream;
    if (this.#isOver || stream.isClosed) return; // its close follows
    stream.respond(responseHeaders);
    this.#startDeadline();
    stream.read(this);
  }

  /** A part of the request came. */
  onData(chunk: Uint8Array): void {
    if (!this.#isOver) this.#read(chunk);
  }

  /** The client half-closed. */
  onEnd(): void {
    this.#isHalfClosed = true;
    this.#read();
  }

  write(pieces: readonly Uint8Array[], written: () => void): void {
    if (!this.#isOver) this.#stream.write(pieces, written);
  }

  /** Writes one framed message; resolves once the client's window accepted it, or never. */
  async send(message: Uint8Array): Promise<void> {
    await this.#written([messagePrefix(message.byteLength), message]);
  }

  /** As `send`, for a message in pieces: each piece waits for the one before it. */
  async sendPieces(pieces: readonly Uint8Array[], byteLength: number): Promise<void> {
    for (const piece of [messagePrefix(byteLength), ...pieces]) {
      await this.#written([piece]);
    }
  }

  /** Resolves once the pieces were written, or never. */
  async #written(pieces: readonly Uint8Array[]): Promise<void> {
    this.#unwritten++;
    this.#expectTaken();
    await new Promise<void>((resolve) => {
      this.write(pieces, resolve);
    });
    this.#unwritten--;
    this.#expectTaken();
  }

  /** Resets the call unless the next write completes in time. */
  #expectTaken(): void {
    clearTimeout(this.#writeTimeout);
    if (this.#unwritten === 0 || this.#isOver) return;
    const { maxBlockedMs, onLimit } = this.#options;
    const message = blockedMessage(maxBlockedMs);
    this.#writeTimeout = setTimeout(() => {
      onLimit("maxBlockedMs", message);
      this.reset({ code: statusCode.RESOURCE_EXHAUSTED, message });
    }, maxBlockedMs);
    this.#writeTimeout.unref();
  }

  end(status: Status): void {
    if (this.#isOver) return;
    this.#finish();
    const stream = this.#stream;
    if (stream.isClosed) return;
    if (!stream.headersSent) {
      refuseCall(stream, status);
      return;
    }
    stream.end(formatTrailers(status));
    closeUnread(stream, this.#options);
  }

  reset({ code }: Status): void {
    if (this.#isOver) return;
    this.#finish();
    // Clients map these codes to RESOURCE_EXHAUSTED and CANCELLED.
    const isExhausted = code === statusCode.RESOURCE_EXHAUSTED;
    this.#stream.reset(isExhausted ? errorCode.enhanceYourCalm : errorCode.cancel);
  }

  #finish(): void {
    this.#isOver = true;
    this.#letGo();
    this.#stream.discard(); // what still comes is thrown away, so that the stream can close
  }

  /** Sets the callback for the stream's close, also of a call that is never accepted. */
  onGone(gone: () => void): void {
    if (this.#closedBy === undefined) this.#gone.push(gone);
    else gone();
  }

  /** Called by the connection when the stream has closed. */
  closed(reason: "cancelled" | "connection-lost"): void {
    this.#isOver = true;
    this.#closedBy = reason;
    this.#letGo();
    for (const gone of this.#gone.splice(0)) gone();
    this.#listener?.onClose(reason);
    this.#listener = undefined;
  }

  /** Releases the held bytes, except those of a message that waits for decompression, which still exists. */
  #letGo(): void {
    clearTimeout(this.#deadline);
    this.#messageTimeout?.cancel();
    clearTimeout(this.#writeTimeout);
    this.#slowed?.cancel();
    this.#parser.clear();
    this.#options.held.hold(this.#isInflating ? this.#workBytes : 0);
  }

  /** Processes input until it must wait. */
  #read(chunk?: Uint8Array): void {
    try {
      if (chunk !== undefined) this.#parser.push(chunk);
      for (let read = 1; !this.#isOver && !this.#isWaiting; read++) {
        const message = this.#parser.next();
        if (message === undefined) break;
        this.#messageTimeout?.cancel();
        this.#messageTimeout = undefined;
        const work = this.#take(message) ?? (read % MESSAGES_PER_TURN === 0 ? nextTurn() : undefined);
        if (work !== undefined) void this.#waitFor(work, message.bytes.byteLength);
      }
      if (this.#isOver) return;
      this.#parser.keep();
      this.#hold();
      if (this.#isWaiting) return;
      if (this.#isHalfClosed) this.#endReading();
      else this.#expectMessage();
    } catch (error) {
      this.#fail(error);
    }
  }

  #endReading(): void {
    this.#parser.end();
    this.#isHalfClosed = false;
    this.#listener?.onHalfClose();
  }

  /** Throws a `FramingError` above the limit of held bytes, or if a client that is slowed down goes on. */
  #hold(): void {
    if (this.#isSlowed && this.#parser.keptBytes > MAX_SLOWED_BYTES) {
      const message = "too many requests from this identity, and more of them (maxRequestsPerSecondPerIdentity)";
      throw new FramingError(statusCode.RESOURCE_EXHAUSTED, message, "maxRequestsPerSecondPerIdentity");
    }
    const passed = this.#options.held.hold(this.#parser.keptBytes + this.#workBytes);
    if (passed === undefined) return;
    throw new FramingError(passed.status.code, passed.status.message, passed.limit);
  }

  /** Starts the timer of an incomplete message. */
  #expectMessage(): void {
    if (this.#messageTimeout !== undefined || !this.#parser.isWithinMessage) return;
    const { maxMessageMs, pausedMs } = this.#options;
    const message = `a message did not arrive within ${maxMessageMs} ms (maxMessageMs)`;
    this.#messageTimeout = startArrivalTimer(maxMessageMs, pausedMs, () => {
      this.#fail(new FramingError(statusCode.RESOURCE_EXHAUSTED, message, "maxMessageMs"));
    });
  }

  #take(message: FramedMessage): Promise<void> | void {
    const delayMs = this.#options.delayRequest();
    return delayMs > 0 ? this.#takeLater(message, delayMs) : this.#takeNow(message);
  }

  async #takeLater(message: FramedMessage, delayMs: number): Promise<void> {
    this.#isSlowed = true;
    // If the call ends before, nothing waits any more, and the message is let go.
    await new Promise<void>((resolve) => {
      this.#slowed = startTimer(delayMs, resolve);
    });
    this.#isSlowed = false;
    if (!this.#isOver) await this.#takeNow(message);
  }

  #takeNow({ isCompressed, bytes }: FramedMessage): Promise<void> | void {
    if (!isCompressed) return this.#give(bytes);
    const { compression } = this.headers;
    if (compression === "identity") {
      throw new FramingError(statusCode.INTERNAL, "a compressed message without grpc-encoding");
    }
    return this.#decompress(bytes, compression);
  }

  async #decompress(bytes: Uint8Array, compression: "gzip" | "deflate"): Promise<void> {
    const { account, maxBytes, decompression } = this.#options;
    const isWanted = (): boolean => !this.#isOver;
    const message = { account: account.key, compression, bytes, maxBytes, isWanted };
    this.#isInflating = true;
    const plain = await decompression.inflate(message).finally(() => {
      this.#isInflating = false;
      if (this.#isOver) this.#letGo();
    });
    if (plain === undefined || this.#isOver) return;
    this.#workBytes = plain.byteLength;
    this.#hold();
    await this.#give(plain);
  }

  /** Gives a message to the method: at once, or a large one when its turn comes. */
  #give(bytes: Uint8Array): Promise<void> | void {
    const turn = this.#options.intake.turnFor(this.#options.account.key, bytes.byteLength);
    if (turn === undefined) return this.#listener?.onMessage(bytes);
    // A call may end while it waits.
    return turn.then(() => (this.#isOver ? undefined : this.#listener?.onMessage(bytes)));
  }

  async #waitFor(work: Promise<void>, byteLength: number): Promise<void> {
    this.#isWaiting = true;
    this.#workBytes = byteLength;
    try {
      await work;
    } catch (error) {
      this.#fail(error);
    }
    this.#isWaiting = false;
    this.#workBytes = 0;
    if (!this.#isOver) this.#read();
  }

  #fail(error: unknown): void {
    if (this.#isOver) return;
    try {
      if (error instanceof FramingError) this.#failAs(error);
      else {
        this.#options.onMistake(error);
        this.#listener?.onFailure(ourMistake, "failed");
      }
    } catch (cause) {
      this.#options.onMistake(cause);
      this.reset(ourMistake);
    }
  }

  #failAs({ status, limit }: FramingError): void {
    if (limit !== undefined) this.#options.onLimit(limit, status.message);
    this.#listener?.onFailure(status, limit === undefined ? "malformed" : "limit");
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
 * Validates a request's headers. Returns undefined after rejecting it: with a status in the headers (Trailers-Only), or
 * in plain HTTP if it is not gRPC.
 */
export function openCall(stream: Http2Stream, headers: RequestHeaders, options: CallOptions): GrpcCall | undefined {
  const parsed = parseHeaders(headers);
  if ("path" in parsed) return new GrpcCall(stream, parsed, options);
  if ("code" in parsed) refuseCall(stream, parsed);
  else {
    stream.respond({ "content-type": "text/plain", ...parsed.headers });
    stream.write([Buffer.from(parsed.body)]);
    stream.end();
    closeUnread(stream, options);
  }
  return undefined;
}

/** Resets a stream that has ended if its client does not read the rest. */
function closeUnread(stream: Http2Stream, { maxBlockedMs, onLimit }: CallOptions): void {
  closeWithin(stream, maxBlockedMs, () => onLimit("maxBlockedMs", blockedMessage(maxBlockedMs)));
}

/**
 * Ends a call without headers with a status only (Trailers-Only). One that is beyond a limit is told when to come again
 * (gRFC A6); for one that has its headers, clients take no such hint. A server that is shutting down gives none: there
 * is another one to go to at once.
 */
function refuseCall(stream: Http2Stream, status: Status): void {
  const isExhausted = status.code === statusCode.RESOURCE_EXHAUSTED;
  const hint: ResponseFields = isExhausted ? { "grpc-retry-pushback-ms": String(retryHintMs()) } : {};
  stream.respond({ ...responseHeaders, ...formatTrailers(status), ...hint }, true);
}

const ourMistake: Status = { code: statusCode.INTERNAL, message: "internal server error; see the log" };
