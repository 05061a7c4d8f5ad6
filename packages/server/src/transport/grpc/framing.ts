import { type Status, statusCode } from "@xdskit/protocol";

/** One message of a gRPC stream, as it was framed. */
export interface FramedMessage {
  readonly isCompressed: boolean;
  readonly bytes: Uint8Array;
}

/** Bytes that cannot be read as gRPC messages; the call ends with `status`. */
export class FramingError extends Error {
  override readonly name = "FramingError";
  readonly status: Status;

  constructor(code: number, message: string) {
    super(message);
    this.status = { code, message };
  }
}

const PREFIX_BYTES = 5;

/** What stands before a message: not compressed, and so many bytes. */
export function messagePrefix(byteLength: number): Uint8Array {
  const prefix = new Uint8Array(PREFIX_BYTES);
  new DataView(prefix.buffer).setUint32(1, byteLength);
  return prefix;
}

/** Cuts the chunks of a stream into messages. A message within one chunk is a view of it. */
export class MessageParser {
  readonly #maxBytes: number;
  #chunks: Uint8Array[] = [];
  #available = 0;
  #message: { readonly isCompressed: boolean; readonly byteLength: number } | undefined;

  /** Messages of more than `maxBytes` are refused as soon as their prefix is read. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  push(chunk: Uint8Array): void {
    if (chunk.byteLength === 0) return;
    this.#chunks.push(chunk);
    this.#available += chunk.byteLength;
  }

  /** The next whole message, or undefined until more comes. Throws a `FramingError`. */
  next(): FramedMessage | undefined {
    this.#message ??= this.#readPrefix();
    if (this.#message === undefined || this.#available < this.#message.byteLength) return undefined;
    const { isCompressed, byteLength } = this.#message;
    this.#message = undefined;
    return { isCompressed, bytes: this.#take(byteLength) };
  }

  /** The stream ended here. Throws a `FramingError` if that was within a message. */
  end(): void {
    if (this.#available === 0 && this.#message === undefined) return;
    throw new FramingError(statusCode.INTERNAL, "the stream ended within a message");
  }

  /** Forgets what has not been read. */
  clear(): void {
    this.#chunks = [];
    this.#available = 0;
  }

  #readPrefix(): { isCompressed: boolean; byteLength: number } | undefined {
    if (this.#available < PREFIX_BYTES) return undefined;
    const prefix = this.#take(PREFIX_BYTES);
    const flag = prefix[0];
    if (flag !== 0 && flag !== 1) {
      throw new FramingError(statusCode.INTERNAL, `expected a compressed flag of 0 or 1, got ${flag}`);
    }
    const byteLength = readUint32(prefix, 1);
    if (byteLength > this.#maxBytes) {
      const message = `a request of ${byteLength} bytes; at most ${this.#maxBytes} are taken (maxRequestBytes)`;
      throw new FramingError(statusCode.RESOURCE_EXHAUSTED, message);
    }
    return { isCompressed: flag === 1, byteLength };
  }

  #take(byteLength: number): Uint8Array {
    this.#available -= byteLength;
    const first = this.#chunks[0];
    if (first !== undefined && first.byteLength >= byteLength) {
      if (first.byteLength === byteLength) this.#chunks.shift();
      else this.#chunks[0] = first.subarray(byteLength);
      return first.subarray(0, byteLength);
    }
    return this.#gather(byteLength);
  }

  #gather(byteLength: number): Uint8Array {
    const whole = new Uint8Array(byteLength);
    let filled = 0;
    let used = 0;
    for (const chunk of this.#chunks) {
      const part = chunk.subarray(0, byteLength - filled);
      whole.set(part, filled);
      filled += part.byteLength;
      if (part.byteLength < chunk.byteLength) {
        this.#chunks[used] = chunk.subarray(part.byteLength);
        break;
      }
      used++;
      if (filled === byteLength) break;
    }
    this.#chunks.splice(0, used);
    return whole;
  }
}

function readUint32(bytes: Uint8Array, at: number): number {
  return (bytes[at] ?? 0) * 2 ** 24 + ((bytes[at + 1] ?? 0) << 16) + ((bytes[at + 2] ?? 0) << 8) + (bytes[at + 3] ?? 0);
}
