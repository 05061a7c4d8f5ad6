import type { Peer } from "@xdskit/protocol";

/** The headers of a response. */
export type ResponseHeaders = Readonly<Record<string, string>>;

/** One request over HTTP and its response, whichever version of HTTP it came over. */
export interface RestExchange {
  readonly method: string;
  /** As the client wrote it. */
  readonly target: string;
  /** The number of the connection that it came over. */
  readonly connection: number;
  readonly peer: Peer;
  /** By its name in lower case; of several the first. */
  header(name: string): string | undefined;
  /** The body of the request, or why there is none: it is longer than that, or did not come in time. Rejects when the client is gone. */
  readBody(maxBytes: number): Promise<Uint8Array | "too-long" | "too-slow">;
  /** Answers, once. A client that is gone hears nothing. */
  respond(status: number, headers: ResponseHeaders, body?: Uint8Array): void;
  /** Called once when the client goes before it is answered. */
  onAbort(listener: () => void): void;
  /** Called when the connection wants to close and this exchange is in its way. */
  onDismiss(listener: () => void): void;
}

/** A body is to arrive within this time. */
export const BODY_WITHIN_MS = 30_000;

/** Collects the chunks of a body. */
export class BodyReader {
  readonly #maxBytes: number;
  #chunks: Uint8Array[] = [];
  #length = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Returns whether there is room for it. */
  push(chunk: Uint8Array): boolean {
    this.#length += chunk.length;
    if (this.#length > this.#maxBytes) {
      this.#chunks = [];
      return false;
    }
    this.#chunks.push(chunk);
    return true;
  }

  /** All of it; the reader keeps nothing. */
  take(): Uint8Array {
    const chunks = this.#chunks;
    this.#chunks = [];
    const [only] = chunks;
    return chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks);
  }
}
