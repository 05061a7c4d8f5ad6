const PREFIX_BYTES = 5;

/** Frames a message for gRPC: one byte for "not compressed", four bytes of length, the message. */
export function frameMessage(message: Uint8Array): Uint8Array {
  const framed = new Uint8Array(PREFIX_BYTES + message.byteLength);
  new DataView(framed.buffer).setUint32(1, message.byteLength);
  framed.set(message, PREFIX_BYTES);
  return framed;
}

/** The bytes received are not valid gRPC messages. */
export class FrameError extends Error {
  override readonly name = "FrameError";
}

/** Splits the bytes of one stream into messages. */
export class FrameReader {
  readonly #maxMessageBytes: number;
  #chunks: Uint8Array[] = [];
  #buffered = 0;

  constructor(maxMessageBytes: number) {
    this.#maxMessageBytes = maxMessageBytes;
  }

  /** Returns the messages that are complete now. Throws a `FrameError` for a compressed or oversized message. */
  *push(chunk: Uint8Array): Generator<Uint8Array> {
    this.#chunks.push(chunk);
    this.#buffered += chunk.byteLength;
    for (;;) {
      const length = this.#nextLength();
      if (length === undefined || this.#buffered < PREFIX_BYTES + length) return;
      yield this.#take(PREFIX_BYTES + length).subarray(PREFIX_BYTES);
    }
  }

  #nextLength(): number | undefined {
    if (this.#buffered < PREFIX_BYTES) return undefined;
    const first = this.#chunks[0];
    const prefix = first !== undefined && first.byteLength >= PREFIX_BYTES ? first : this.#join();
    if (prefix[0] !== 0) throw new FrameError("a compressed message, though no compression was offered");
    const length = new DataView(prefix.buffer, prefix.byteOffset).getUint32(1);
    if (length > this.#maxMessageBytes) {
      throw new FrameError(`a message of ${length} bytes, at most ${this.#maxMessageBytes} are taken`);
    }
    return length;
  }

  #take(bytes: number): Uint8Array {
    const joined = this.#join();
    this.#chunks = bytes < joined.byteLength ? [joined.subarray(bytes)] : [];
    this.#buffered -= bytes;
    return joined.subarray(0, bytes);
  }

  #join(): Uint8Array {
    const only = this.#chunks[0];
    if (this.#chunks.length === 1 && only !== undefined) return only;
    const joined = Buffer.concat(this.#chunks, this.#buffered);
    this.#chunks = [joined];
    return joined;
  }
}
