import type { Transaction } from "@xdskit/protocol";
import type { PollId, StreamId } from "@xdskit/protocol/internal";
import type { ApiVersionConverter } from "./api-version-converter.ts";

/** When more waits than this, the rest is made at once: what waits is held in memory. */
const MOST_WAITING_BYTES = 16 * 1024 * 1024;

/** Who waits, and what happens when all of v2 is there. */
export interface FirstConversionOptions {
  readonly converter: ApiVersionConverter;
  /** Brings some of v2 into force. May throw. */
  readonly commit: (transaction: Transaction) => void;
  /** It cannot be: a bug of ours, for everybody who waits. */
  readonly failed: (waiting: StreamId | PollId, cause: unknown) => void;
}

interface Waiting {
  bytes: number;
  readonly thens: (() => void)[];
}

/**
 * Makes all of v2 for the first who asks for it, some of it in each turn of the event loop, so that others are served meanwhile. Whoever
 * asks for v2 waits until all of it is there: with a part of it he would let go of the rest.
 */
export class FirstConversion {
  readonly #options: FirstConversionOptions;
  readonly #waiting = new Map<StreamId | PollId, Waiting>();
  #waitingBytes = 0;
  #making: Iterator<Transaction | undefined> | undefined;

  constructor(options: FirstConversionOptions) {
    this.#options = options;
  }

  /** What a stream or poll said after something that waits, has to wait as well. */
  isWaiting(id: StreamId | PollId): boolean {
    return this.#waiting.has(id);
  }

  /** Whether v2 is still to be made. It is begun with, and may be over at once. */
  mustWait(id: StreamId | PollId): boolean {
    if (this.#options.converter.areComplete) return false;
    if (this.#making !== undefined) return true;
    this.#making = this.#options.converter.begin();
    this.#waiting.set(id, { bytes: 0, thens: [] });
    this.#advance();
    return this.#making !== undefined;
  }

  /** Calls `then` when v2 is there, unless whoever waits has gone. */
  wait(id: StreamId | PollId, bytes: number, then: () => void): void {
    const waiting = this.#waiting.get(id) ?? { bytes: 0, thens: [] };
    this.#waiting.set(id, waiting);
    waiting.thens.push(then);
    waiting.bytes += bytes;
    this.#waitingBytes += bytes;
    if (this.#waitingBytes > MOST_WAITING_BYTES) this.#finish();
  }

  /** Who waited has gone. */
  forget(id: StreamId | PollId): void {
    this.#waitingBytes -= this.#waiting.get(id)?.bytes ?? 0;
    this.#waiting.delete(id);
  }

  close(): void {
    this.#waiting.clear();
    this.#waitingBytes = 0;
    this.#making = undefined;
  }

  #advance(): void {
    this.#make();
    if (this.#making !== undefined) setImmediate(() => this.#advance());
  }

  #finish(): void {
    while (this.#making !== undefined) this.#make();
  }

  /** Makes some more. At the end of it, whoever waits goes on. */
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
