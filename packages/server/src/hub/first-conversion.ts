import type { Transaction } from "@xdskit/protocol";
import type { PollId, StreamId } from "@xdskit/protocol/internal";
import type { ApiVersionConverter } from "./api-version-converter.ts";

/** Above this many bytes of memory for waiting requests the conversion finishes at once. */
const MOST_WAITING_BYTES = 16 * 1024 * 1024;

/** The converter, and what happens as it progresses. */
export interface FirstConversionOptions {
  readonly converter: ApiVersionConverter;
  /** Commits converted resources. May throw. */
  readonly commit: (transaction: Transaction) => void;
  /** Reports an internal error to each waiting stream or poll. */
  readonly failed: (waiting: StreamId | PollId, cause: unknown) => void;
}

interface Waiting {
  bytes: number;
  readonly thens: (() => void)[];
}

/**
 * Converts all v3 resources to v2 on the first v2 request, in steps of the event loop, so that other clients are served
 * meanwhile. v2 requests wait until it is complete: after a partial response a client would drop the rest.
 */
export class FirstConversion {
  readonly #options: FirstConversionOptions;
  readonly #waiting = new Map<StreamId | PollId, Waiting>();
  #waitingBytes = 0;
  #making: Iterator<Transaction | undefined> | undefined;

  constructor(options: FirstConversionOptions) {
    this.#options = options;
  }

  /** Whether a stream or poll has waiting requests; its later ones must then wait too. */
  isWaiting(id: StreamId | PollId): boolean {
    return this.#waiting.has(id);
  }

  /** Starts the conversion if needed; false if it is complete. */
  mustWait(): boolean {
    if (this.#options.converter.areComplete) return false;
    if (this.#making === undefined) {
      this.#making = this.#options.converter.begin();
      this.#schedule();
    }
    return true;
  }

  /** Calls `then` once the conversion is complete, unless the stream or poll has ended. */
  wait(id: StreamId | PollId, bytes: number, then: () => void): void {
    const waiting = this.#waiting.get(id) ?? { bytes: 0, thens: [] };
    this.#waiting.set(id, waiting);
    waiting.thens.push(then);
    waiting.bytes += bytes;
    this.#waitingBytes += bytes;
    if (this.#waitingBytes > MOST_WAITING_BYTES) this.#finish();
  }

  /** Drops the waiting requests of a stream or poll. */
  forget(id: StreamId | PollId): void {
    this.#waitingBytes -= this.#waiting.get(id)?.bytes ?? 0;
    this.#waiting.delete(id);
  }

  close(): void {
    this.#waiting.clear();
    this.#waitingBytes = 0;
    this.#making = undefined;
  }

  #schedule(): void {
    setImmediate(() => {
      this.#make();
      if (this.#making !== undefined) this.#schedule();
    });
  }

  #finish(): void {
    while (this.#making !== undefined) this.#make();
  }

  /** Runs one step; at the end the waiting requests continue. */
  #make(): void {
    if (this.#making === undefined) return;
    const { commit, failed } = this.#options;
    const waiting = [...this.#waiting];
    try {
      const { done, value } = this.#making.next();
      if (value !== undefined) commit(value);
      if (done !== true) return;
    } catch (cause) {
      this.close();
      for (const [id] of waiting) failed(id, cause);
      return;
    }
    this.close();
    for (const [, { thens }] of waiting) for (const then of thens) then();
  }
}
