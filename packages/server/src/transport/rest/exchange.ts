import type { Peer } from "@xdskit/protocol";
import type { HeldBytes, LimitPassed } from "../../hub/byte-budget.ts";
import { ByteQueue } from "../byte-queue.ts";
import { FragmentCount } from "../fragment-count.ts";

/** The headers of a response. */
export type ResponseHeaders = Readonly<Record<string, string>>;

export interface BodyOptions {
  readonly maxBytes: number;
  readonly maxSmallFragments: number;
  /** Milliseconds within which the body must arrive, without those for which its connection is not read. */
  readonly withinMs: number;
  readonly held: HeldBytes;
}

/** A body, or why there is none: it is too long, too slow, in too many fragments, or exceeds a limit of held bytes. */
export type BodyResult = Uint8Array | "too-long" | "too-slow" | "too-fragmented" | LimitPassed;

/** One HTTP request and its response, independent of the HTTP version. */
export interface RestExchange {
  readonly method: string;
  /** The request target as sent. */
  readonly target: string;
  /** The number of the connection that it came over. */
  readonly connection: number;
  readonly peer: Peer;
  /** The host and port of the request: `Host` or `:authority`. */
  readonly authority: string | undefined;
  /** A header by its lower-case name; of several the first. */
  header(name: string): string | undefined;
  /** Reads the body of the request, or returns why there is none. Never resolves if the client disconnects. */
  readBody(options: BodyOptions): Promise<BodyResult>;
  /** Sends the response, once; ignored if the client has disconnected. */
  respond(status: number, headers: ResponseHeaders, body?: Uint8Array): void;
  /** Sets the callback for a client that disconnects before the response. */
  onAbort(listener: () => void): void;
  /** Sets the callback for a connection that wants to close while this exchange is open. */
  onDismiss(listener: () => void): void;
}

/** Collects the chunks of a body. */
export class BodyReader {
  readonly #queue = new ByteQueue();
  readonly #fragments: FragmentCount;
  readonly #maxBytes: number;
  readonly #held: HeldBytes;

  constructor({ maxBytes, maxSmallFragments, held }: Omit<BodyOptions, "withinMs">) {
    this.#fragments = new FragmentCount(maxSmallFragments);
    this.#maxBytes = maxBytes;
    this.#held = held;
  }

  /** Adds a chunk; returns why it does not fit, or undefined. */
  push(chunk: Uint8Array): "too-long" | "too-fragmented" | LimitPassed | undefined {
    if (this.#fragments.add(chunk.length)) return "too-fragmented";
    if (this.#queue.length + chunk.length > this.#maxBytes) return "too-long";
    this.#queue.push(chunk, this.#maxBytes);
    this.#queue.keep();
    return this.#held.hold(this.#queue.keptBytes);
  }

  /** Takes the whole body. */
  take(): Uint8Array {
    return this.#queue.take(this.#queue.length);
  }

  /** Drops the chunks. */
  clear(): void {
    this.#queue.clear();
    this.#held.hold(0);
  }
}
