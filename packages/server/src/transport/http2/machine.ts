import { Allowance } from "./allowance.ts";
import {
  DEFAULT_MAX_FRAME_BYTES,
  DEFAULT_WINDOW_BYTES,
  type ErrorCode,
  errorCode,
  flag,
  frameHead,
  frameType,
  goAwayFrame,
  LARGEST_MAX_FRAME_BYTES,
  LARGEST_WINDOW_BYTES,
  numberFrame,
  PING_BYTES,
  PREFACE,
  readUint31,
  readUint32,
  SETTING_BYTES,
  setting,
  settingsFrame,
  wholeFrame,
} from "./frame.ts";
import { type Frame, FrameReader } from "./frame-reader.ts";
import { CompressionError, HeaderDecoder } from "./header-decoder.ts";
import { encodeHeaders, type ResponseFields } from "./header-encoder.ts";
import type { Http2Stream, RequestHeaders } from "./http2.ts";
import {
  CUT_FRAMES,
  IDLE_FRAMES,
  MAX_CONTINUATIONS,
  MAX_HEADER_BLOCK_BYTES,
  MAX_HEADER_LIST_BYTES,
  MAX_UNREAD_REPLIES,
  RECEIVE_WINDOW_BYTES,
  REFUSALS,
  REMEMBERED_RESETS,
  RESETS,
  SMALL_DATA_BYTES,
} from "./limits.ts";
import { contentLength, FieldCollector } from "./request-headers.ts";
import { MachineStream, type StreamOwner } from "./stream.ts";
import { firstLimit, StreamRoom } from "./stream-room.ts";

export interface MachineOptions {
  /** Streams that may be open at the same time. */
  readonly maxStreams: number;
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
  readonly onStream: (stream: Http2Stream, headers: RequestHeaders) => void;
  /** `takeOutput` has something to take. Called from within the other calls. */
  readonly onOutput: () => void;
  /** The client broke the protocol or a limit. The output has a GOAWAY; what comes is ignored. */
  readonly onBroken: (reason: string) => void;
}

/** What to write to the socket. */
export interface Output {
  readonly chunks: readonly Uint8Array[];
  readonly byteLength: number;
  /** Callbacks of those whose bytes these are. */
  readonly written: readonly (() => void)[];
  /** How many answers it has that the client can ask for as often as it likes. */
  readonly replies: number;
}

/** An error of the client's that ends the connection (RFC 9113 section 5.4.1). */
class ConnectionError extends Error {
  override readonly name = "ConnectionError";
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** The frames of an unfinished header block. */
interface HeaderBlock {
  readonly stream: number;
  readonly isLast: boolean;
  readonly dependsOnItself: boolean;
  readonly fragments: Uint8Array[];
  byteLength: number;
}

/**
 * The server's half of an HTTP/2 connection (RFC 9113) without a socket: bytes in; requests, and bytes out. Callers pass
 * in what they read, and write what `takeOutput` returns.
 */
export class Http2Machine implements StreamOwner {
  readonly #options: MachineOptions;
  readonly #reader: FrameReader;
  readonly #decoder = new HeaderDecoder();
  readonly #streams = new Map<number, MachineStream>();
  /** Frames that no window holds back. */
  #control: Uint8Array[] = [];
  /** Streams with something to send, in their order. */
  #ready: MachineStream[] = [];
  #closed: MachineStream[] = [];
  #block: HeaderBlock | undefined;
  #hasSettings = false;
  readonly #room: StreamRoom;
  /** Streams that may be open: the highest limit that the client may still go by. */
  #maxStreams: number;
  /** What to do at the next acknowledgements of SETTINGS. */
  readonly #acknowledged: (() => void)[] = [() => undefined];
  /** Streams whose response was just sent while the client still sends. */
  #sent: MachineStream[] = [];
  /** As `#sent`, since the call of `takeOutput` before. */
  #unread: MachineStream[] = [];
  #lastStream = 0;
  /** The last stream that is served after GOAWAY. */
  #lastServed = Number.POSITIVE_INFINITY;
  #isBroken = false;
  #sendWindow = DEFAULT_WINDOW_BYTES;
  #initialSendWindow = DEFAULT_WINDOW_BYTES;
  #maxFrameBytes = DEFAULT_MAX_FRAME_BYTES;
  #receivedBytes = 0;
  #consumedBytes = 0;
  #unreadReplies = 0;
  /** Those of them that `takeOutput` has not taken. */
  #untakenReplies = 0;
  #resets: Allowance | undefined;
  #refusals: Allowance | undefined;
  #idleFrames: Allowance | undefined;
  #cutFrames: Allowance | undefined;
  /** Streams that this side has reset: what is under way of them is ignored. */
  readonly #reset = new Set<number>();
  /** Resets up to this one may be forgotten. */
  #forgottenResets = 0;
  #pings = 0;
  #pong: (() => void) | undefined;

  constructor(options: MachineOptions) {
    this.#options = options;
    this.#reader = new FrameReader({
      maxFrameBytes: DEFAULT_MAX_FRAME_BYTES,
      preface: PREFACE,
      onFrame: (frame) => this.#receiveFrame(frame),
      onInvalid: (problem) => {
        if (problem === "preface") this.#break(errorCode.protocolError, "an invalid connection preface");
        else this.#break(errorCode.frameSizeError, `a frame of more than ${DEFAULT_MAX_FRAME_BYTES} bytes`);
      },
    });
    this.#room = new StreamRoom({
      max: options.maxStreams,
      announce: (limit, acknowledged) => this.#limitStreams(limit, acknowledged),
    });
    this.#maxStreams = firstLimit(options.maxStreams);
    this.#send(
      settingsFrame([
        [setting.maxConcurrentStreams, this.#maxStreams],
        [setting.initialWindowSize, RECEIVE_WINDOW_BYTES],
        [setting.maxHeaderListSize, MAX_HEADER_LIST_BYTES],
      ]),
    );
    this.#send(numberFrame(frameType.windowUpdate, 0, RECEIVE_WINDOW_BYTES - DEFAULT_WINDOW_BYTES));
  }

  /** Whether a stream waits for a window, or for its turn. */
  get hasUnsent(): boolean {
    return this.#ready.length > 0;
  }

  /** Whether a stream waits for its client to finish the request, for a turn. */
  get hasUnread(): boolean {
    return this.#unread.length > 0;
  }

  get isLeaving(): boolean {
    return this.#isBroken || this.#lastServed !== Number.POSITIVE_INFINITY;
  }

  /** Whether nothing is left to do: the connection was left or is broken, and no stream is open. */
  get isDone(): boolean {
    return this.isLeaving && this.#streams.size === 0;
  }

  receive(bytes: Uint8Array): void {
    if (!this.#isBroken) this.#reader.push(bytes);
  }

  /** Sends GOAWAY: open streams continue, new ones are ignored. */
  leave(): void {
    if (this.#lastServed !== Number.POSITIVE_INFINITY) return;
    this.#lastServed = this.#lastStream;
    this.#send(goAwayFrame(this.#lastStream, errorCode.noError));
  }

  /** Sends a PING; only the answer to the last one is told. */
  ping(answered: () => void): void {
    this.#pong = answered;
    this.#pings = (this.#pings + 1) % 2 ** 32;
    const payload = Buffer.alloc(PING_BYTES);
    payload.writeUInt32BE(this.#pings);
    this.#send(wholeFrame(frameType.ping, 0, 0, payload));
  }

  /** The connection is gone: all streams close. */
  lose(): void {
    this.#isBroken = true;
    for (const stream of [...this.#streams.values()]) this.#close(stream);
  }

  /**
   * Takes what is to be written: all control frames, and up to so many bytes of responses, in turns. Requests whose
   * response was taken by the call before are given up.
   */
  takeOutput(maxResponseBytes: number): Output {
    for (const stream of this.#unread) this.resetStream(stream, errorCode.noError);
    const chunks = this.#control;
    const replies = this.#untakenReplies;
    this.#control = [];
    this.#untakenReplies = 0;
    const written: (() => void)[] = [];
    let left = maxResponseBytes;
    for (let isStuck = false; left > 0 && this.#ready.length > 0 && !isStuck; ) {
      isStuck = true;
      const round = this.#ready;
      this.#ready = [];
      const served: MachineStream[] = [];
      for (const stream of round) {
        const before = chunks.length;
        left -= this.#sendResponse(stream, left, chunks, written);
        const isServed = chunks.length > before;
        if (isServed) isStuck = false;
        if (stream.isReady) (isServed ? served : this.#ready).push(stream);
      }
      // Who had no turn comes first.
      this.#ready.push(...served);
    }
    this.#unread = this.#sent;
    this.#sent = [];
    let byteLength = 0;
    for (const chunk of chunks) byteLength += chunk.byteLength;
    return { chunks, byteLength, written, replies };
  }

  /** The socket has taken the output. */
  onWritten({ written, replies }: Output): void {
    this.#unreadReplies -= replies;
    for (const callback of written) callback();
  }

  /** Tells the streams that have closed since the last call. */
  tellClosed(): void {
    while (this.#closed.length > 0) {
      const closed = this.#closed;
      this.#closed = [];
      for (const stream of closed) stream.tellClosed();
    }
  }

  started(): void {
    this.#room.open();
  }

  sendSoon(stream: MachineStream): void {
    if (!stream.isReady) {
      stream.isReady = true;
      this.#ready.push(stream);
    }
    this.#options.onOutput();
  }

  consume(stream: MachineStream, byteLength: number): void {
    this.#consumeOfConnection(byteLength);
    stream.consumedBytes += byteLength;
    if (stream.isRemoteEnded || stream.isClosed || stream.consumedBytes < RECEIVE_WINDOW_BYTES / 2) return;
    this.#send(numberFrame(frameType.windowUpdate, stream.id, stream.consumedBytes));
    stream.consumedBytes = 0;
  }

  resetStream(stream: MachineStream, code: ErrorCode): void {
    if (stream.isClosed) return;
    this.#sendReset(stream.id, code);
    this.#close(stream);
    this.#options.onOutput();
  }

  /**
   * Sends the headers of a response, a frame of its body as the windows allow, and its end. Returns the bytes of these;
   * all of them wait while the socket has enough, or a client that reads nothing could have any number of responses.
   */
  #sendResponse(stream: MachineStream, maxBytes: number, chunks: Uint8Array[], written: (() => void)[]): number {
    stream.isReady = !stream.isClosed && maxBytes <= 0;
    if (stream.isClosed || stream.isReady) return 0;
    const headerBytes = this.#sendHeaders(stream, chunks);
    const window = Math.min(maxBytes - headerBytes, this.#sendWindow, this.#maxFrameBytes);
    const byteLength = Math.max(0, Math.min(window, stream.sendWindow, stream.unsentBytes));
    const isAll = byteLength === stream.unsentBytes;
    if (byteLength === 0 && !isAll) {
      // What waits for the connection keeps its turn; what waits for its own window gets one with it.
      stream.isReady = stream.sendWindow > 0;
      return headerBytes;
    }
    const isEnd = isAll && stream.isEnded;
    const isLast = isEnd && stream.trailers === undefined;
    if (byteLength > 0 || (isLast && !stream.isEndSent)) {
      const isCut = !isAll && byteLength === Math.min(stream.sendWindow, this.#sendWindow);
      if (byteLength >= SMALL_DATA_BYTES) this.#cutFrames?.give();
      else if (isCut && !this.#mayCut()) return headerBytes;
      chunks.push(frameHead(frameType.data, isLast ? flag.endStream : 0, stream.id, byteLength));
      stream.sendWindow -= byteLength;
      this.#sendWindow -= byteLength;
    }
    stream.takeUnsent(byteLength, chunks, written);
    const trailers = isEnd ? stream.trailers : undefined;
    const trailerBytes = trailers === undefined ? 0 : this.#sendBlock(stream.id, trailers, true, chunks);
    if (isEnd) this.#endSending(stream);
    else stream.isReady = !isAll && stream.sendWindow > 0;
    return headerBytes + byteLength + trailerBytes;
  }

  /** Sends the headers of a response unless they were sent, and with them its end if there is nothing else. */
  #sendHeaders(stream: MachineStream, chunks: Uint8Array[]): number {
    const { headers } = stream;
    if (headers === undefined) return 0;
    stream.headers = undefined;
    stream.isEndSent = stream.isEnded && stream.unsentBytes === 0 && stream.trailers === undefined;
    return this.#sendBlock(stream.id, headers, stream.isEndSent, chunks);
  }

  /** The response has left. What is still missing of the request has a turn to come, then the stream is reset. */
  #endSending(stream: MachineStream): void {
    stream.isSent = true;
    if (stream.isRemoteEnded) this.#close(stream);
    else this.#sent.push(stream);
  }

  #endReceiving(stream: MachineStream): void {
    stream.endBody();
    if (stream.isSent && !stream.isClosed) this.#close(stream);
  }

  #limitStreams(limit: number, acknowledged: () => void): void {
    this.#maxStreams = Math.max(this.#maxStreams, limit);
    this.#acknowledged.push(() => {
      this.#maxStreams = limit;
      acknowledged();
    });
    this.#send(settingsFrame([[setting.maxConcurrentStreams, limit]]));
  }

  /** Sends a header block and returns its size. */
  #sendBlock(stream: number, fields: ResponseFields, isLast: boolean, chunks: Uint8Array[]): number {
    const block = encodeHeaders(fields);
    const endStream = isLast ? flag.endStream : 0;
    for (let at = 0, type: number = frameType.headers; at < block.byteLength; type = frameType.continuation) {
      const end = Math.min(block.byteLength, at + this.#maxFrameBytes);
      const flags = (end === block.byteLength ? flag.endHeaders : 0) | (at === 0 ? endStream : 0);
      chunks.push(wholeFrame(type, flags, stream, block.subarray(at, end)));
      at = end;
    }
    return block.byteLength;
  }

  #sendReset(stream: number, code: ErrorCode): void {
    this.#reset.add(stream);
    if (this.#reset.size > REMEMBERED_RESETS) {
      const [oldest = 0] = this.#reset;
      this.#reset.delete(oldest);
      this.#forgottenResets = Math.max(this.#forgottenResets, oldest);
    }
    this.#send(numberFrame(frameType.resetStream, stream, code));
  }

  #close(stream: MachineStream): void {
    this.#streams.delete(stream.id);
    stream.close();
    if (stream.isStarted && !this.#isBroken) this.#room.close();
    this.#closed.push(stream);
    this.#options.onOutput();
  }

  #send(frame: Uint8Array): void {
    this.#control.push(frame);
    this.#options.onOutput();
  }

  /** Sends an answer that the client can make the server send as often as it likes. */
  #reply(frame: Uint8Array): void {
    this.#unreadReplies++;
    if (this.#unreadReplies > MAX_UNREAD_REPLIES) {
      throw new ConnectionError(errorCode.enhanceYourCalm, `more than ${MAX_UNREAD_REPLIES} answers are not read`);
    }
    this.#untakenReplies++;
    this.#send(frame);
  }

  #break(code: ErrorCode, reason: string): void {
    if (this.#isBroken) return;
    this.#send(goAwayFrame(Math.min(this.#lastStream, this.#lastServed), code));
    this.lose();
    this.#options.onBroken(reason);
  }

  #receiveFrame(frame: Frame): boolean {
    try {
      this.#dispatch(frame);
    } catch (error) {
      if (error instanceof ConnectionError) this.#break(error.code, error.message);
      else if (error instanceof CompressionError) this.#break(errorCode.compressionError, error.message);
      else throw error;
    }
    return !this.#isBroken;
  }

  #dispatch(frame: Frame): void {
    if (this.#block !== undefined && frame.type !== frameType.continuation) {
      throw new ConnectionError(errorCode.protocolError, "a frame within a header block");
    }
    if (!this.#hasSettings && (frame.type !== frameType.settings || (frame.flags & flag.ack) !== 0)) {
      throw new ConnectionError(errorCode.protocolError, "the first frame is not SETTINGS");
    }
    switch (frame.type) {
      case frameType.data:
        this.#receiveData(frame);
        break;
      case frameType.headers:
        this.#receiveHeaders(frame);
        break;
      case frameType.priority:
        this.#receivePriority(frame);
        break;
      case frameType.resetStream:
        this.#receiveReset(frame);
        break;
      case frameType.settings:
        this.#receiveSettings(frame);
        break;
      case frameType.pushPromise:
        throw new ConnectionError(errorCode.protocolError, "PUSH_PROMISE from a client");
      case frameType.ping:
        this.#receivePing(frame);
        break;
      case frameType.goAway:
        this.#receiveGoAway(frame);
        break;
      case frameType.windowUpdate:
        this.#receiveWindowUpdate(frame);
        break;
      case frameType.continuation:
        this.#receiveContinuation(frame);
        break;
      default:
        this.#countIdleFrame();
    }
  }

  #receiveData(frame: Frame): void {
    const { stream: id } = frame;
    const stream = this.#streams.get(id);
    if (stream === undefined) this.#expectKnown(frame, "DATA");
    const frameBytes = frame.end - frame.start;
    const end = unpadded(frame);
    const start = frame.start + ((frame.flags & flag.padded) === 0 ? 0 : 1);
    // What waits in a stream fits into its window, because that is the window of the connection.
    this.#receivedBytes += frameBytes;
    if (this.#receivedBytes > RECEIVE_WINDOW_BYTES) {
      throw new ConnectionError(errorCode.flowControlError, "DATA beyond the window of the connection");
    }
    if (stream === undefined) {
      this.#consumeOfConnection(frameBytes);
      if (frameBytes === 0) this.#countIdleFrame();
      return;
    }
    if (stream.isRemoteEnded) {
      this.#consumeOfConnection(frameBytes);
      this.#failStream(id, errorCode.streamClosed);
      return;
    }
    const isLast = (frame.flags & flag.endStream) !== 0;
    const byteLength = end - start;
    if (byteLength === 0 && !isLast) this.#countIdleFrame();
    if (stream.missingBytes !== undefined) {
      stream.missingBytes -= byteLength;
      if (stream.missingBytes < 0 || (isLast && stream.missingBytes > 0)) {
        this.#consumeOfConnection(frameBytes);
        this.#failStream(id, errorCode.protocolError);
        return;
      }
    }
    stream.isRemoteEnded = isLast;
    if (frameBytes > byteLength) this.consume(stream, frameBytes - byteLength);
    if (byteLength > 0) stream.receive(frame.bytes.subarray(start, end));
    if (isLast && !stream.isClosed) this.#endReceiving(stream);
  }

  #receiveHeaders(frame: Frame): void {
    const { stream, flags } = frame;
    if (stream === 0) throw new ConnectionError(errorCode.protocolError, "HEADERS without a stream");
    const end = unpadded(frame);
    let start = frame.start + ((flags & flag.padded) === 0 ? 0 : 1);
    let dependsOnItself = false;
    if ((flags & flag.priority) !== 0) {
      dependsOnItself = end - start >= 5 && readUint31(frame.bytes, start) === stream;
      start += 5;
    }
    if (start > end) throw new ConnectionError(errorCode.frameSizeError, "HEADERS that are too short");
    const isLast = (flags & flag.endStream) !== 0;
    const block: HeaderBlock = { stream, isLast, dependsOnItself, fragments: [], byteLength: 0 };
    const fragment = frame.bytes.subarray(start, end);
    if ((flags & flag.endHeaders) !== 0) this.#receiveBlock(block, fragment);
    else {
      this.#block = block;
      this.#addFragment(block, fragment);
    }
  }

  #receiveContinuation(frame: Frame): void {
    const block = this.#block;
    if (block === undefined || block.stream !== frame.stream) {
      throw new ConnectionError(errorCode.protocolError, "CONTINUATION without HEADERS");
    }
    this.#addFragment(block, frame.bytes.subarray(frame.start, frame.end));
    if ((frame.flags & flag.endHeaders) === 0) return;
    this.#block = undefined;
    this.#receiveBlock(block, Buffer.concat(block.fragments));
  }

  #addFragment(block: HeaderBlock, fragment: Uint8Array): void {
    block.byteLength += fragment.byteLength;
    block.fragments.push(Uint8Array.prototype.slice.call(fragment));
    if (block.byteLength > MAX_HEADER_BLOCK_BYTES || block.fragments.length > MAX_CONTINUATIONS) {
      throw new ConnectionError(errorCode.enhanceYourCalm, "headers in too many frames");
    }
  }

  /** A complete header block: decoded in any case, because later ones refer to it. */
  #receiveBlock({ stream: id, isLast, dependsOnItself }: HeaderBlock, block: Uint8Array): void {
    const stream = this.#streams.get(id);
    const fields = new FieldCollector(stream !== undefined);
    const listBytes = this.#decoder.decode(block, MAX_HEADER_LIST_BYTES, (name, value) => fields.add(name, value));
    if (stream !== undefined) {
      this.#receiveTrailers(stream, isLast && fields.finish() !== undefined);
      return;
    }
    if (id <= this.#lastStream || id % 2 === 0) {
      this.#expectReset(id, "HEADERS");
      this.#countReset();
      return;
    }
    this.#lastStream = id;
    if (id > this.#lastServed) {
      this.#countRefusal();
      return;
    }
    const headers = fields.finish();
    const missingBytes = headers === undefined ? undefined : contentLength(headers);
    const isTooShort = missingBytes !== undefined && !(isLast ? missingBytes === 0 : missingBytes >= 0);
    if (dependsOnItself || headers === undefined || isTooShort) {
      this.#failStream(id, errorCode.protocolError);
    } else if (listBytes > MAX_HEADER_LIST_BYTES) {
      this.#failStream(id, errorCode.enhanceYourCalm);
    } else if (this.#streams.size >= this.#maxStreams) {
      this.#countRefusal();
      this.#sendReset(id, errorCode.refusedStream);
    } else {
      const opened = new MachineStream(id, this.#initialSendWindow, this);
      opened.isRemoteEnded = isLast;
      opened.isHead = headers[":method"] === "HEAD";
      opened.missingBytes = missingBytes;
      this.#streams.set(id, opened);
      this.#options.onStream(opened, headers);
    }
  }

  #receiveTrailers(stream: MachineStream, isValid: boolean): void {
    if (stream.isRemoteEnded) this.#failStream(stream.id, errorCode.streamClosed);
    else if (!isValid || (stream.missingBytes ?? 0) > 0) this.#failStream(stream.id, errorCode.protocolError);
    else {
      stream.isRemoteEnded = true;
      this.#endReceiving(stream);
    }
  }

  #receivePriority({ stream, bytes, start, end }: Frame): void {
    if (stream === 0) throw new ConnectionError(errorCode.protocolError, "PRIORITY without a stream");
    const isWhole = end - start === 5;
    if (isWhole && readUint31(bytes, start) !== stream) {
      this.#countIdleFrame();
      return;
    }
    const code = isWhole ? errorCode.protocolError : errorCode.frameSizeError;
    // A stream that was never opened cannot be reset.
    if (!this.#wasOpened(stream)) throw new ConnectionError(code, "invalid PRIORITY of a stream that was never opened");
    this.#failStream(stream, code);
  }

  #receiveReset(frame: Frame): void {
    expectBytes(frame, 4);
    const { stream: id } = frame;
    const stream = this.#streams.get(id);
    if (stream === undefined) {
      this.#expectOpened(id, "RST_STREAM");
      this.#reset.delete(id);
    } else this.#close(stream);
    this.#countReset();
  }

  #receiveSettings(frame: Frame): void {
    const { bytes, start, end } = frame;
    if (frame.stream !== 0) throw new ConnectionError(errorCode.protocolError, "SETTINGS of a stream");
    if ((frame.flags & flag.ack) !== 0) {
      expectBytes(frame, 0);
      const acknowledged = this.#acknowledged.shift();
      if (acknowledged === undefined) this.#countIdleFrame();
      else acknowledged();
      return;
    }
    if ((end - start) % SETTING_BYTES !== 0) throw new ConnectionError(errorCode.frameSizeError, "SETTINGS cut off");
    const initialSendWindow = this.#initialSendWindow;
    for (let at = start; at < end; at += SETTING_BYTES) {
      this.#applySetting(((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0), readUint32(bytes, at + 2));
    }
    const growth = this.#initialSendWindow - initialSendWindow;
    if (growth !== 0) for (const stream of this.#streams.values()) this.#widen(stream, growth);
    if (this.#hasSettings) this.#countIdleFrame();
    this.#hasSettings = true;
    this.#reply(frameHead(frameType.settings, flag.ack, 0, 0));
  }

  #applySetting(id: number, value: number): void {
    if (id === setting.enablePush && value > 1) {
      throw new ConnectionError(errorCode.protocolError, "an invalid SETTINGS_ENABLE_PUSH");
    }
    if (id === setting.maxFrameSize) {
      if (value < DEFAULT_MAX_FRAME_BYTES || value > LARGEST_MAX_FRAME_BYTES) {
        throw new ConnectionError(errorCode.protocolError, "an invalid SETTINGS_MAX_FRAME_SIZE");
      }
      this.#maxFrameBytes = value;
    }
    if (id === setting.initialWindowSize) {
      if (value > LARGEST_WINDOW_BYTES) {
        throw new ConnectionError(errorCode.flowControlError, "an invalid SETTINGS_INITIAL_WINDOW_SIZE");
      }
      this.#initialSendWindow = value;
    }
  }

  #widen(stream: MachineStream, growth: number): void {
    stream.sendWindow += growth;
    if (stream.sendWindow > LARGEST_WINDOW_BYTES) {
      throw new ConnectionError(errorCode.flowControlError, "a window that is too large");
    }
    if (stream.unsentBytes > 0 && stream.sendWindow > 0) this.sendSoon(stream);
  }

  #receivePing(frame: Frame): void {
    if (frame.stream !== 0) throw new ConnectionError(errorCode.protocolError, "PING of a stream");
    expectBytes(frame, PING_BYTES);
    if ((frame.flags & flag.ack) === 0) {
      this.#reply(wholeFrame(frameType.ping, flag.ack, 0, frame.bytes.subarray(frame.start, frame.end)));
    } else if (this.#pong !== undefined && readUint32(frame.bytes, frame.start) === this.#pings) {
      const answered = this.#pong;
      this.#pong = undefined;
      answered();
    } else this.#countIdleFrame();
  }

  /** The client opens no more streams; those that are open continue. */
  #receiveGoAway(frame: Frame): void {
    if (frame.stream !== 0) throw new ConnectionError(errorCode.protocolError, "GOAWAY of a stream");
    if (frame.end - frame.start < 8) throw new ConnectionError(errorCode.frameSizeError, "GOAWAY cut off");
    this.leave();
  }

  #receiveWindowUpdate(frame: Frame): void {
    expectBytes(frame, 4);
    const { stream: id } = frame;
    const growth = readUint31(frame.bytes, frame.start);
    if (id === 0) {
      if (growth === 0) throw new ConnectionError(errorCode.protocolError, "an empty WINDOW_UPDATE");
      this.#sendWindow += growth;
      if (this.#sendWindow > LARGEST_WINDOW_BYTES) {
        throw new ConnectionError(errorCode.flowControlError, "a window that is too large");
      }
      if (this.#ready.length > 0) this.#options.onOutput();
      return;
    }
    const stream = this.#streams.get(id);
    if (stream === undefined) this.#expectOpened(id, "WINDOW_UPDATE");
    else if (growth === 0) this.#failStream(id, errorCode.protocolError);
    else if (stream.sendWindow + growth > LARGEST_WINDOW_BYTES) this.#failStream(id, errorCode.flowControlError);
    else this.#widen(stream, growth);
  }

  #expectKnown({ stream: id }: Frame, name: string): void {
    this.#expectOpened(id, name);
    this.#expectReset(id, name);
  }

  #expectOpened(id: number, name: string): void {
    if (this.#wasOpened(id)) return;
    throw new ConnectionError(errorCode.protocolError, `${name} of a stream that was never opened`);
  }

  #wasOpened(id: number): boolean {
    return id <= this.#lastStream && id % 2 === 1;
  }

  /** A closed stream sends nothing more, unless this side reset or ignored it. */
  #expectReset(id: number, name: string): void {
    if (id % 2 === 0) throw new ConnectionError(errorCode.protocolError, `${name} of a stream of the server's`);
    const isIgnored = this.#reset.has(id) || id <= this.#forgottenResets || id > this.#lastServed;
    if (!isIgnored) throw new ConnectionError(errorCode.streamClosed, `${name} of a closed stream`);
  }

  /** An error of the client's that ends a stream, if it is open, and counts as its reset (RFC 9113 section 5.4.2). */
  #failStream(id: number, code: ErrorCode): void {
    this.#countReset();
    this.#sendReset(id, code);
    const stream = this.#streams.get(id);
    if (stream !== undefined) this.#close(stream);
  }

  #countReset(): void {
    this.#resets ??= new Allowance(RESETS);
    if (this.#resets.take(this.#options.now())) return;
    throw new ConnectionError(errorCode.enhanceYourCalm, "too many streams were reset");
  }

  #countRefusal(): void {
    const { burst, perSecond } = REFUSALS;
    this.#refusals ??= new Allowance({ burst: burst + this.#options.maxStreams, perSecond });
    if (this.#refusals.take(this.#options.now())) return;
    throw new ConnectionError(errorCode.enhanceYourCalm, "too many streams were refused");
  }

  #countIdleFrame(): void {
    this.#idleFrames ??= new Allowance(IDLE_FRAMES);
    if (this.#idleFrames.take(this.#options.now())) return;
    throw new ConnectionError(errorCode.enhanceYourCalm, "too many frames that carry nothing");
  }

  /** Whether a small window may cut DATA into pieces once more. */
  #mayCut(): boolean {
    this.#cutFrames ??= new Allowance(CUT_FRAMES);
    const isAllowed = this.#cutFrames.take(this.#options.now());
    if (!isAllowed) this.#break(errorCode.enhanceYourCalm, "a window that is too small for too long");
    return isAllowed;
  }

  #consumeOfConnection(byteLength: number): void {
    if (this.#isBroken) return;
    this.#consumedBytes += byteLength;
    if (this.#consumedBytes < RECEIVE_WINDOW_BYTES / 2) return;
    this.#send(numberFrame(frameType.windowUpdate, 0, this.#consumedBytes));
    this.#receivedBytes -= this.#consumedBytes;
    this.#consumedBytes = 0;
  }
}

/** Where the payload ends without its padding. */
function unpadded({ flags, bytes, start, end, type, stream }: Frame): number {
  if ((flags & flag.padded) === 0) return end;
  const padding = bytes[start];
  if (start === end || padding === undefined || start + 1 + padding > end) {
    throw new ConnectionError(errorCode.protocolError, `a frame of type ${type} on ${stream} that is all padding`);
  }
  return end - padding;
}

function expectBytes({ start, end, type }: Frame, byteLength: number): void {
  if (end - start !== byteLength) {
    throw new ConnectionError(errorCode.frameSizeError, `a frame of type ${type} with ${end - start} bytes`);
  }
}
