import type { Peer } from "@xdskit/protocol";
import type { HeldBytes, LimitPassed } from "../../hub/byte-budget.ts";
import { ByteQueue } from "../byte-queue.ts";

/** The headers of a response. */
export type ResponseHeaders = Readonly<Record<string, string>>;

export interface BodyOptions {
  readonly maxBytes: number;
  /** Milliseconds in which it is to arrive. */
  readonly withinMs: number;
  readonly held: HeldBytes;
}

/** A body, or why there is none: it is longer than that, did not come in time, or passed a limit of what is held. */
export type BodyResult = Uint8Array | "too-long" | "too-slow" | LimitPassed;

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
  /** The body of the request, or why there is none. Never resolves when the client is gone. */
  readBody(options: BodyOptions): Promise<BodyResult>;
  /** Answers, once. A client that is gone hears nothing. */
  respond(status: number, headers: ResponseHeaders, body?: Uint8Array): void;
  /** Called once when the client goes before it is answered. */
  onAbort(listener: () => void): void;
  /** Called when the connection wants to close and this exchange is in its way. */
  onDismiss(listener: () => void): void;
}

/** Collects the chunks of a body. */
export class BodyReader {
  readonly #queue = new ByteQueue();
  readonly #maxBytes: number;
  readonly #held: HeldBytes;

  constructor(maxBytes: number, held: HeldBytes) {
    this.#maxBytes = maxBytes;
    this.#held = held;
  }

  /** Why there is no room for it; undefined: there is. */
  push(chunk: Uint8Array): "too-long" | LimitPassed | undefined {
    if (this.#queue.length + chunk.length > this.#maxBytes) return "too-long";
    this.#queue.push(chunk, this.#maxBytes);
    this.#queue.keep();
    return this.#held.hold(this.#queue.keptBytes);
  }

  /** All of it. */
  take(): Uint8Array {
    return this.#queue.take(this.#queue.length);
  }

  /** Nobody waits for it any more. */
  clear(): void {
    this.#queue.clear();
    this.#held.hold(0);
  }
}
