import { ByteQueue } from "../byte-queue.ts";
import type { ErrorCode } from "./frame.ts";
import type { ResponseFields } from "./header-encoder.ts";
import type { BodyListener, Http2Stream } from "./http2.ts";

/** What a stream asks of its connection. */
export interface StreamOwner {
  /** Its handling begins. */
  started(stream: MachineStream): void;
  /** It has something to send. */
  sendSoon(stream: MachineStream): void;
  /** Bytes of its body were read or thrown away. */
  consume(stream: MachineStream, byteLength: number): void;
  resetStream(stream: MachineStream, code: ErrorCode): void;
}

/** Consecutive pieces that were written together. */
interface PendingWrite {
  readonly pieces: readonly Uint8Array[];
  readonly written: (() => void) | undefined;
}

/** One stream of a machine. What its connection keeps about it is public: callers see a `Http2Stream`. */
export class MachineStream implements Http2Stream {
  readonly id: number;
  readonly #owner: StreamOwner;
  isClosed = false;
  headersSent = false;
  unsentBytes = 0;
  /** The client sent END_STREAM. */
  isRemoteEnded = false;
  /** The response is complete, sent or not. */
  isEnded = false;
  /** The response has left. */
  isSent = false;
  isStarted = false;
  /** The method is HEAD: the response has no body. */
  isHead = false;
  /** The headers of the response until they are sent. */
  headers: ResponseFields | undefined;
  trailers: ResponseFields | undefined;
  /** END_STREAM left with the headers. */
  isEndSent = false;
  /** Whether it waits for its turn to send. */
  isReady = false;
  sendWindow: number;
  /** Bytes that were read, and not given back for the window yet. */
  consumedBytes = 0;
  /** What is missing of the announced length of the body; undefined if none was announced. */
  missingBytes: number | undefined;
  #body: BodyListener | undefined;
  #isDiscarding = false;
  /** What came of the body before `read`. */
  #waiting: ByteQueue | undefined;
  #writes: PendingWrite[] = [];
  /** How far the first write has been sent. */
  #piece = 0;
  #pieceBytes = 0;
  #closeListeners: (() => void)[] | undefined;

  constructor(id: number, sendWindow: number, owner: StreamOwner) {
    this.id = id;
    this.sendWindow = sendWindow;
    this.#owner = owner;
  }

  read(body: BodyListener): void {
    if (this.isClosed || this.#isDiscarding) return;
    this.#start();
    this.#body = body;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting !== undefined) this.#pass(waiting.take(waiting.length));
    if (this.isRemoteEnded) this.endBody();
  }

  discard(): void {
    this.#isDiscarding = true;
    this.#body = undefined;
    if (this.#waiting !== undefined) this.#owner.consume(this, this.#waiting.length);
    this.#waiting = undefined;
  }

  respond(fields: ResponseFields, isLast = false): void {
    if (this.isClosed || this.headersSent) return;
    this.#start();
    this.headersSent = true;
    this.isEnded = isLast || this.isHead;
    if (this.isEnded) this.discard();
    this.headers = fields;
    this.#owner.sendSoon(this);
  }

  write(pieces: readonly Uint8Array[], written?: () => void): void {
    if (this.isClosed || this.isEnded) return;
    for (const piece of pieces) this.unsentBytes += piece.byteLength;
    this.#writes.push({ pieces, written });
    this.#owner.sendSoon(this);
  }

  end(trailers?: ResponseFields): void {
    if (this.isClosed || this.isEnded) return;
    this.isEnded = true;
    this.trailers = trailers;
    this.discard();
    this.#owner.sendSoon(this);
  }

  reset(code: ErrorCode): void {
    this.#owner.resetStream(this, code);
  }

  onClose(listener: () => void): void {
    this.#closeListeners ??= [];
    this.#closeListeners.push(listener);
  }

  /** A chunk of the body came. */
  receive(chunk: Uint8Array): void {
    if (this.#body !== undefined || this.#isDiscarding) {
      this.#pass(chunk);
      return;
    }
    this.#waiting ??= new ByteQueue();
    this.#waiting.push(chunk);
    this.#waiting.keep();
  }

  /** The body is complete; told once it is read. */
  endBody(): void {
    this.#body?.onEnd();
  }

  /** Takes up to so many bytes of what is to be sent. */
  takeUnsent(byteLength: number, chunks: Uint8Array[], written: (() => void)[]): void {
    this.unsentBytes -= byteLength;
    let left = byteLength;
    for (;;) {
      const write = this.#writes[0];
      if (write === undefined) return;
      const piece = write.pieces[this.#piece];
      if (piece === undefined) {
        this.#writes.shift();
        this.#piece = 0;
        if (write.written !== undefined) written.push(write.written);
        continue;
      }
      if (left === 0 && piece.byteLength > 0) return;
      const end = Math.min(piece.byteLength, this.#pieceBytes + left);
      const isWhole = this.#pieceBytes === 0 && end === piece.byteLength;
      if (end > this.#pieceBytes) chunks.push(isWhole ? piece : piece.subarray(this.#pieceBytes, end));
      left -= end - this.#pieceBytes;
      this.#pieceBytes = end;
      if (end === piece.byteLength) {
        this.#piece++;
        this.#pieceBytes = 0;
      }
    }
  }

  /** It has closed: nothing is read or sent any more. */
  close(): void {
    this.isClosed = true;
    this.discard();
    this.#writes = [];
    this.unsentBytes = 0;
  }

  tellClosed(): void {
    const listeners = this.#closeListeners ?? [];
    this.#closeListeners = undefined;
    for (const listener of listeners) listener();
  }

  #start(): void {
    if (this.isStarted) return;
    this.isStarted = true;
    this.#owner.started(this);
  }

  #pass(chunk: Uint8Array): void {
    this.#owner.consume(this, chunk.byteLength);
    this.#body?.onData(chunk);
  }
}
