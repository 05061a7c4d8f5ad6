import { unclearedBytes } from "../uncleared-bytes.ts";
import { FRAME_HEAD_BYTES, readUint31 } from "./frame.ts";

/** A frame as a part of the bytes that it came in; valid until the next one is read. */
export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly bytes: Uint8Array;
  /** Where its payload begins and ends. */
  readonly start: number;
  readonly end: number;
}

type MutableFrame = { -readonly [Key in keyof Frame]: Frame[Key] };

export interface FrameReaderOptions {
  readonly maxFrameBytes: number;
  /** Bytes before the first frame. */
  readonly preface: Uint8Array;
  /** Called for each frame; returns whether to go on. */
  readonly onFrame: (frame: Frame) => boolean;
  /** Called for bytes that are no frame; nothing more is read. */
  readonly onInvalid: (problem: "preface" | "too-large") => void;
}

const NOTHING: Uint8Array = new Uint8Array(0);

/** Splits what comes over a connection into frames. A frame that is complete in one chunk is not copied. */
export class FrameReader {
  readonly #options: FrameReaderOptions;
  readonly #frame: MutableFrame = { type: 0, flags: 0, stream: 0, bytes: NOTHING, start: 0, end: 0 };
  /** The beginning of an incomplete frame, in the reader's own memory. */
  #partial: Uint8Array | undefined;
  #partialBytes = 0;
  #isPrefaceRead = false;
  #isStopped = false;

  constructor(options: FrameReaderOptions) {
    this.#options = options;
  }

  push(chunk: Uint8Array): void {
    let at = this.#complete(chunk);
    while (!this.#isStopped) {
      const needed = this.#neededAt(chunk, at, chunk.byteLength);
      if (chunk.byteLength - at < needed) break;
      this.#take(chunk, at, at + needed);
      at += needed;
    }
    this.#frame.bytes = NOTHING;
    if (at < chunk.byteLength && !this.#isStopped) this.#keep(chunk, at);
  }

  /** Completes the partial frame with the beginning of a chunk; returns how much of it was taken. */
  #complete(chunk: Uint8Array): number {
    let at = 0;
    while (this.#partial !== undefined && !this.#isStopped) {
      const needed = this.#neededAt(this.#partial, 0, this.#partialBytes);
      const missing = needed - this.#partialBytes;
      if (missing === 0) {
        const whole = this.#partial;
        this.#partial = undefined;
        this.#take(whole, 0, needed);
        return at;
      }
      const taken = Math.min(missing, chunk.byteLength - at);
      if (taken === 0) return at;
      this.#append(chunk.subarray(at, at + taken), needed);
      at += taken;
    }
    return at;
  }

  /** Bytes of what begins at a position, as far as its length is known. */
  #neededAt(bytes: Uint8Array, at: number, end: number): number {
    if (!this.#isPrefaceRead) return this.#options.preface.byteLength;
    if (end - at < FRAME_HEAD_BYTES) return FRAME_HEAD_BYTES;
    const payloadBytes = ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
    if (payloadBytes <= this.#options.maxFrameBytes) return FRAME_HEAD_BYTES + payloadBytes;
    this.#fail("too-large");
    return Number.POSITIVE_INFINITY;
  }

  #take(bytes: Uint8Array, start: number, end: number): void {
    if (!this.#isPrefaceRead) {
      this.#isPrefaceRead = true;
      const { preface } = this.#options;
      if (preface.some((byte, index) => bytes[start + index] !== byte)) this.#fail("preface");
      return;
    }
    const frame = this.#frame;
    frame.type = bytes[start + 3] ?? 0;
    frame.flags = bytes[start + 4] ?? 0;
    frame.stream = readUint31(bytes, start + 5);
    frame.bytes = bytes;
    frame.start = start + FRAME_HEAD_BYTES;
    frame.end = end;
    if (!this.#options.onFrame(frame)) this.#isStopped = true;
  }

  #fail(problem: "preface" | "too-large"): void {
    this.#isStopped = true;
    this.#options.onInvalid(problem);
  }

  #keep(chunk: Uint8Array, at: number): void {
    this.#partialBytes = 0;
    this.#partial = NOTHING;
    this.#append(chunk.subarray(at), this.#neededAt(chunk, at, chunk.byteLength));
  }

  /** Appends to the partial frame. Its memory grows with what came, not with what was announced. */
  #append(bytes: Uint8Array, needed: number): void {
    const partial = this.#partial ?? NOTHING;
    const byteLength = this.#partialBytes + bytes.byteLength;
    if (byteLength > partial.byteLength) {
      this.#partial = unclearedBytes(Math.max(byteLength, Math.min(2 * byteLength, needed)));
      this.#partial.set(partial.subarray(0, this.#partialBytes));
    }
    this.#partial?.set(bytes, this.#partialBytes);
    this.#partialBytes = byteLength;
  }
}
