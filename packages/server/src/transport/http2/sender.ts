import { ConnectionError } from "./connection-error.ts";
import {
  DEFAULT_MAX_FRAME_BYTES,
  DEFAULT_WINDOW_BYTES,
  errorCode,
  flag,
  frameHead,
  frameType,
  LARGEST_WINDOW_BYTES,
  wholeFrame,
} from "./frame.ts";
import { encodeHeaders, type ResponseFields } from "./header-encoder.ts";
import type { MachineStream } from "./stream.ts";

export interface SenderOptions {
  /** Whether DATA of that size may be sent. `isCut`: a window cuts it off a message. */
  readonly mayCut: (byteLength: number, isCut: boolean) => boolean;
  /** The end of a response was sent. */
  readonly onSent: (stream: MachineStream) => void;
  /** `take` has something to take. */
  readonly onOutput: () => void;
}

/** The sending half of a connection: control frames, and responses as the windows allow, in turns. */
export class Sender {
  /** The largest payload that the client takes (SETTINGS_MAX_FRAME_SIZE). */
  maxFrameBytes: number = DEFAULT_MAX_FRAME_BYTES;
  /** The window of a new stream (SETTINGS_INITIAL_WINDOW_SIZE). */
  initialWindowBytes: number = DEFAULT_WINDOW_BYTES;
  readonly #options: SenderOptions;
  /** Frames that no window holds back. */
  #control: Uint8Array[] = [];
  /** Streams with something to send, in their order. */
  #ready: MachineStream[] = [];
  /** The window of the connection. */
  #window = DEFAULT_WINDOW_BYTES;

  constructor(options: SenderOptions) {
    this.#options = options;
  }

  /** Whether a stream waits for the window of the connection, or for its turn. */
  get hasReady(): boolean {
    return this.#ready.length > 0;
  }

  /** Sends a frame that no window holds back. */
  send(frame: Uint8Array): void {
    this.#control.push(frame);
    this.#options.onOutput();
  }

  /** A stream has something to send. */
  sendSoon(stream: MachineStream): void {
    if (!stream.isReady) {
      stream.isReady = true;
      this.#ready.push(stream);
    }
    this.#options.onOutput();
  }

  /** Widens the window of the connection. Throws a `ConnectionError` if it is too large. */
  widen(growth: number): void {
    this.#window += growth;
    if (this.#window > LARGEST_WINDOW_BYTES) {
      throw new ConnectionError(errorCode.flowControlError, "a window that is too large");
    }
    if (this.#ready.length > 0) this.#options.onOutput();
  }

  /** Widens, or with a negative number narrows, the window of a stream. Throws a `ConnectionError` if it is too large. */
  widenStream(stream: MachineStream, growth: number): void {
    stream.sendWindow += growth;
    if (stream.sendWindow > LARGEST_WINDOW_BYTES) {
      throw new ConnectionError(errorCode.flowControlError, "a window that is too large");
    }
    if (stream.unsentBytes > 0 && stream.sendWindow > 0) this.sendSoon(stream);
  }

  /** Takes all control frames, and up to so many bytes of responses; adds the callbacks of what is taken to `written`. */
  take(maxResponseBytes: number, written: (() => void)[]): Uint8Array[] {
    const chunks = this.#control;
    this.#control = [];
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
    return chunks;
  }

  /**
   * Sends the headers of a response, a frame of its body as the windows allow, and its end. Returns the bytes of these;
   * all of them wait while the socket has enough, or a client that reads nothing could have any number of responses.
   */
  #sendResponse(stream: MachineStream, maxBytes: number, chunks: Uint8Array[], written: (() => void)[]): number {
    stream.isReady = !stream.isClosed && maxBytes <= 0;
    if (stream.isClosed || stream.isReady) return 0;
    const headerBytes = this.#sendHeaders(stream, chunks);
    const room = Math.min(maxBytes - headerBytes, this.#window, this.maxFrameBytes);
    const byteLength = Math.max(0, Math.min(room, stream.sendWindow, stream.unsentBytes));
    const isAll = byteLength === stream.unsentBytes;
    if (byteLength === 0 && !isAll) {
      // What waits for the connection keeps its turn; what waits for its own window gets one with it.
      stream.isReady = stream.sendWindow > 0;
      return headerBytes;
    }
    const isEnd = isAll && stream.isEnded;
    const isLast = isEnd && stream.trailers === undefined;
    if (byteLength > 0 || (isLast && !stream.isEndSent)) {
      const isCut = !isAll && byteLength === Math.min(stream.sendWindow, this.#window);
      if (!this.#options.mayCut(byteLength, isCut)) return headerBytes;
      chunks.push(frameHead(frameType.data, isLast ? flag.endStream : 0, stream.id, byteLength));
      stream.sendWindow -= byteLength;
      this.#window -= byteLength;
    }
    stream.takeUnsent(byteLength, chunks, written);
    const trailers = isEnd ? stream.trailers : undefined;
    const trailerBytes = trailers === undefined ? 0 : this.#sendBlock(stream.id, trailers, true, chunks);
    if (isEnd) this.#options.onSent(stream);
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

  /** Sends a header block and returns its size. */
  #sendBlock(stream: number, fields: ResponseFields, isLast: boolean, chunks: Uint8Array[]): number {
    const block = encodeHeaders(fields);
    const endStream = isLast ? flag.endStream : 0;
    for (let at = 0, type: number = frameType.headers; at < block.byteLength; type = frameType.continuation) {
      const end = Math.min(block.byteLength, at + this.maxFrameBytes);
      const flags = (end === block.byteLength ? flag.endHeaders : 0) | (at === 0 ? endStream : 0);
      chunks.push(wholeFrame(type, flags, stream, block.subarray(at, end)));
      at = end;
    }
    return block.byteLength;
  }
}
