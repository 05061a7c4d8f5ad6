import type { Status } from "@xdskit/protocol";
import { statusCode } from "@xdskit/protocol/internal";
import type { LimitName } from "../../limits.ts";
import { ByteQueue } from "../byte-queue.ts";
import { FragmentCount, tooFragmented } from "../fragment-count.ts";

/** One framed message of a gRPC stream. */
export interface FramedMessage {
  readonly isCompressed: boolean;
  readonly bytes: Uint8Array;
}

/** Bytes that are not a valid gRPC message; the call ends with `status`. */
export class FramingError extends Error {
  override readonly name = "FramingError";
  readonly status: Status;
  /** The exceeded limit, if any. */
  readonly limit: LimitName | undefined;

  constructor(code: number, message: string, limit?: LimitName) {
    super(message);
    this.status = { code, message };
    this.limit = limit;
  }
}

const PREFIX_BYTES = 5;

/** The prefix of an uncompressed message of that length. */
export function messagePrefix(byteLength: number): Uint8Array {
  const prefix = new Uint8Array(PREFIX_BYTES);
  new DataView(prefix.buffer).setUint32(1, byteLength);
  return prefix;
}

/** What a `MessageParser` rejects. */
export interface MessageLimits {
  /** Messages above this size, as soon as their prefix is read. */
  readonly maxBytes: number;
  /** Messages in more fragments than this, if those hold few bytes. */
  readonly maxSmallFragments: number;
}

/** Splits the chunks of a stream into messages. A message within one chunk is a view of it. */
export class MessageParser {
  readonly #limits: MessageLimits;
  readonly #queue = new ByteQueue();
  #message: { readonly isCompressed: boolean; readonly byteLength: number } | undefined;
  readonly #fragments: FragmentCount;

  constructor(limits: MessageLimits) {
    this.#limits = limits;
    this.#fragments = new FragmentCount(limits.maxSmallFragments);
  }

  /** Bytes of memory that unread input retains. */
  get keptBytes(): number {
    return this.#queue.keptBytes;
  }

  /** Whether unread input remains: part of a message, once `next` returns undefined. */
  get isWithinMessage(): boolean {
    return this.#queue.length > 0 || this.#message !== undefined;
  }

  /** Throws a `FramingError` if a message comes in too many fragments that are too small. */
  push(chunk: Uint8Array): void {
    if (this.#fragments.add(chunk.byteLength)) {
      const message = tooFragmented(this.#limits.maxSmallFragments);
      throw new FramingError(statusCode.RESOURCE_EXHAUSTED, message, "maxSmallFragments");
    }
    if (chunk.byteLength > 0) this.#queue.push(chunk, this.#message?.byteLength);
  }

  /** Releases the last chunk by copying its unread bytes. */
  keep(): void {
    this.#queue.keep(this.#message?.byteLength);
  }

  /** The next complete message; undefined until more input comes. Throws a `FramingError`. */
  next(): FramedMessage | undefined {
    this.#message ??= this.#readPrefix();
    if (this.#message === undefined || this.#queue.length < this.#message.byteLength) return undefined;
    const { isCompressed, byteLength } = this.#message;
    this.#message = undefined;
    this.#fragments.reset();
    return { isCompressed, bytes: this.#queue.take(byteLength) };
  }

  /** The stream ended. Throws a `FramingError` if a message is incomplete. */
  end(): void {
    if (!this.isWithinMessage) return;
    throw new FramingError(statusCode.INTERNAL, "the stream ended within a message");
  }

  /** Drops unread input. */
  clear(): void {
    this.#queue.clear();
    this.#message = undefined;
  }

  #readPrefix(): { isCompressed: boolean; byteLength: number } | undefined {
    if (this.#queue.length < PREFIX_BYTES) return undefined;
    const queue = this.#queue;
    const flag = queue.at(0);
    if (flag !== 0 && flag !== 1) {
      throw new FramingError(statusCode.INTERNAL, `expected a compressed flag of 0 or 1, got ${flag}`);
    }
    const byteLength = queue.at(1) * 2 ** 24 + ((queue.at(2) << 16) | (queue.at(3) << 8) | queue.at(4));
    queue.skip(PREFIX_BYTES);
    const { maxBytes } = this.#limits;
    if (byteLength > maxBytes) {
      const message = `a request of ${byteLength} bytes; at most ${maxBytes} are taken (maxRequestBytes)`;
      throw new FramingError(statusCode.RESOURCE_EXHAUSTED, message, "maxRequestBytes");
    }
    return { isCompressed: flag === 1, byteLength };
  }
}
