import { ConnectionError } from "./connection-error.ts";
import { FloodLimits } from "./flood-limits.ts";
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
import { type HeaderBlock, HeaderBlocks } from "./header-blocks.ts";
import { CompressionError, HeaderDecoder } from "./header-decoder.ts";
import type { Http2Stream, RequestHeaders } from "./http2.ts";
import { MAX_HEADER_LIST_BYTES, RECEIVE_WINDOW_BYTES } from "./limits.ts";
import { expectBytes, unpaddedEnd, unpaddedStart } from "./payload.ts";
import { ReceiveWindow } from "./receive-window.ts";
import { contentLength, FieldCollector } from "./request-headers.ts";
import { ResetStreams } from "./reset-streams.ts";
import { Sender } from "./sender.ts";
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

/**
 * The server's half of an HTTP/2 connection (RFC 9113) without a socket: bytes in; requests, and bytes out. Callers pass
 * in what they read, and write what `takeOutput` returns.
 */
export class Http2Machine implements StreamOwner {
  readonly #options: MachineOptions;
  readonly #reader: FrameReader;
  readonly #blocks = new HeaderBlocks();
  readonly #decoder = new HeaderDecoder();
  readonly #sender: Sender;
  readonly #window = new ReceiveWindow();
  readonly #floods: FloodLimits;
  readonly #streams = new Map<number, MachineStream>();
  #closed: MachineStream[] = [];
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
  readonly #reset = new ResetStreams();
  #pings = 0;
  #pong: (() => void) | undefined;

  constructor(options: MachineOptions) {
    this.#options = options;
    this.#floods = new FloodLimits(options);
    this.#sender = new Sender({
      mayCut: (byteLength, isCut) => {
        const isAllowed = this.#floods.countData(byteLength, isCut);
        if (!isAllowed) this.#break(errorCode.enhanceYourCalm, "a window that is too small for too long");
        return isAllowed;
      },
      onSent: (stream) => this.#endSending(stream),
      onOutput: options.onOutput,
    });
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
    this.#sender.send(
      settingsFrame([
        [setting.maxConcurrentStreams, this.#maxStreams],
        [setting.initialWindowSize, RECEIVE_WINDOW_BYTES],
        [setting.maxHeaderListSize, MAX_HEADER_LIST_BYTES],
      ]),
    );
    this.#sender.send(numberFrame(frameType.windowUpdate, 0, RECEIVE_WINDOW_BYTES - DEFAULT_WINDOW_BYTES));
  }

  /** Whether a stream waits for a window, or for its turn. */
  get hasUnsent(): boolean {
    return this.#sender.hasReady;
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
    this.#sender.send(goAwayFrame(this.#lastStream, errorCode.noError));
  }

  /** Sends a PING; only the answer to the last one is told. */
  ping(answered: () => void): void {
    this.#pong = answered;
    this.#pings = (this.#pings + 1) % 2 ** 32;
    const payload = Buffer.alloc(PING_BYTES);
    payload.writeUInt32BE(this.#pings);
    this.#sender.send(wholeFrame(frameType.ping, 0, 0, payload));
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
    const written: (() => void)[] = [];
    const chunks = this.#sender.take(maxResponseBytes, written);
    this.#unread = this.#sent;
    this.#sent = [];
    let byteLength = 0;
    for (const chunk of chunks) byteLength += chunk.byteLength;
    return { chunks, byteLength, written, replies: this.#floods.takeReplies() };
  }

  /** The socket has taken the output. */
  onWritten({ written, replies }: Output): void {
    this.#floods.repliesRead(replies);
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
    this.#sender.sendSoon(stream);
  }

  consume(stream: MachineStream, byteLength: number): void {
    this.#consumeOfConnection(byteLength);
    stream.consumedBytes += byteLength;
    if (stream.isRemoteEnded || stream.isClosed || stream.consumedBytes < RECEIVE_WINDOW_BYTES / 2) return;
    this.#sender.send(numberFrame(frameType.windowUpdate, stream.id, stream.consumedBytes));
    stream.consumedBytes = 0;
  }

  resetStream(stream: MachineStream, code: ErrorCode): void {
    if (stream.isClosed) return;
    this.#sendReset(stream.id, code);
    this.#close(stream);
    this.#options.onOutput();
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
    this.#sender.send(settingsFrame([[setting.maxConcurrentStreams, limit]]));
  }

  #sendReset(stream: number, code: ErrorCode): void {
    this.#reset.add(stream);
    this.#sender.send(numberFrame(frameType.resetStream, stream, code));
  }

  #close(stream: MachineStream): void {
    this.#streams.delete(stream.id);
    stream.close();
    if (stream.isStarted && !this.#isBroken) this.#room.close();
    this.#closed.push(stream);
    this.#options.onOutput();
  }

  /** Sends an answer that the client can make the server send as often as it likes. */
  #reply(frame: Uint8Array): void {
    this.#floods.countReply();
    this.#sender.send(frame);
  }

  #break(code: ErrorCode, reason: string): void {
    if (this.#isBroken) return;
    this.#sender.send(goAwayFrame(Math.min(this.#lastStream, this.#lastServed), code));
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
    this.#blocks.expectInOrder(frame.type);
    if (!this.#hasSettings && (frame.type !== frameType.settings || (frame.flags & flag.ack) !== 0)) {
      throw new ConnectionError(errorCode.protocolError, "the first frame is not SETTINGS");
    }
    switch (frame.type) {
      case frameType.data:
        this.#receiveData(frame);
        break;
      case frameType.headers:
        this.#receiveBlock(this.#blocks.addHeaders(frame));
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
        this.#receiveBlock(this.#blocks.addContinuation(frame));
        break;
      default:
        this.#floods.countIdleFrame();
    }
  }

  #receiveData(frame: Frame): void {
    const { stream: id } = frame;
    const stream = this.#streams.get(id);
    if (stream === undefined) this.#expectKnown(frame, "DATA");
    const frameBytes = frame.end - frame.start;
    const start = unpaddedStart(frame);
    const end = unpaddedEnd(frame);
    this.#window.receive(frameBytes);
    if (stream === undefined) {
      this.#consumeOfConnection(frameBytes);
      if (frameBytes === 0) this.#floods.countIdleFrame();
      return;
    }
    if (stream.isRemoteEnded) {
      this.#consumeOfConnection(frameBytes);
      this.#failStream(id, errorCode.streamClosed);
      return;
    }
    const isLast = (frame.flags & flag.endStream) !== 0;
    const byteLength = end - start;
    if (byteLength === 0 && !isLast) this.#floods.countIdleFrame();
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

  /** A complete header block: decoded in any case, because later ones refer to it. */
  #receiveBlock(block: HeaderBlock | undefined): void {
    if (block === undefined) return;
    const { stream: id, isLast, dependsOnItself, bytes } = block;
    const stream = this.#streams.get(id);
    const fields = new FieldCollector(stream !== undefined);
    const listBytes = this.#decoder.decode(bytes, MAX_HEADER_LIST_BYTES, (name, value) => fields.add(name, value));
    if (stream !== undefined) {
      this.#receiveTrailers(stream, isLast && fields.finish() !== undefined);
      return;
    }
    if (id <= this.#lastStream || id % 2 === 0) {
      this.#expectReset(id, "HEADERS");
      this.#floods.countReset();
      return;
    }
    this.#lastStream = id;
    if (id > this.#lastServed) {
      this.#floods.countRefusal();
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
      this.#floods.countRefusal();
      this.#sendReset(id, errorCode.refusedStream);
    } else {
      const opened = new MachineStream(id, this.#sender.initialWindowBytes, this);
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
      this.#floods.countIdleFrame();
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
    this.#floods.countReset();
  }

  #receiveSettings(frame: Frame): void {
    const { bytes, start, end } = frame;
    if (frame.stream !== 0) throw new ConnectionError(errorCode.protocolError, "SETTINGS of a stream");
    if ((frame.flags & flag.ack) !== 0) {
      expectBytes(frame, 0);
      const acknowledged = this.#acknowledged.shift();
      if (acknowledged === undefined) this.#floods.countIdleFrame();
      else acknowledged();
      return;
    }
    if ((end - start) % SETTING_BYTES !== 0) throw new ConnectionError(errorCode.frameSizeError, "SETTINGS cut off");
    const { initialWindowBytes } = this.#sender;
    for (let at = start; at < end; at += SETTING_BYTES) {
      this.#applySetting(((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0), readUint32(bytes, at + 2));
    }
    const growth = this.#sender.initialWindowBytes - initialWindowBytes;
    if (growth !== 0) for (const stream of this.#streams.values()) this.#sender.widenStream(stream, growth);
    if (this.#hasSettings) this.#floods.countIdleFrame();
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
      this.#sender.maxFrameBytes = value;
    }
    if (id === setting.initialWindowSize) {
      if (value > LARGEST_WINDOW_BYTES) {
        throw new ConnectionError(errorCode.flowControlError, "an invalid SETTINGS_INITIAL_WINDOW_SIZE");
      }
      this.#sender.initialWindowBytes = value;
    }
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
    } else this.#floods.countIdleFrame();
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
      this.#sender.widen(growth);
      return;
    }
    const stream = this.#streams.get(id);
    if (stream === undefined) this.#expectOpened(id, "WINDOW_UPDATE");
    else if (growth === 0) this.#failStream(id, errorCode.protocolError);
    else if (stream.sendWindow + growth > LARGEST_WINDOW_BYTES) this.#failStream(id, errorCode.flowControlError);
    else this.#sender.widenStream(stream, growth);
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
    const isIgnored = this.#reset.mayHave(id) || id > this.#lastServed;
    if (!isIgnored) throw new ConnectionError(errorCode.streamClosed, `${name} of a closed stream`);
  }

  /** An error of the client's that ends a stream, if it is open, and counts as its reset (RFC 9113 section 5.4.2). */
  #failStream(id: number, code: ErrorCode): void {
    this.#floods.countReset();
    this.#sendReset(id, code);
    const stream = this.#streams.get(id);
    if (stream !== undefined) this.#close(stream);
  }

  #consumeOfConnection(byteLength: number): void {
    if (this.#isBroken) return;
    const growth = this.#window.consume(byteLength);
    if (growth > 0) this.#sender.send(numberFrame(frameType.windowUpdate, 0, growth));
  }
}
