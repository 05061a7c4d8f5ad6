import type { PollId, StreamId } from "@xdskit/protocol";
import type { Twins } from "./twins.ts";

/** When more waits than this, the rest is made at once: what waits is held in memory. */
const MOST_WAITING_BYTES = 16 * 1024 * 1024;

/** Who waits, and what happens when all of v2 is there. */
export interface FirstConversionOptions {
  readonly twins: Twins;
  /** Brings all of v2 into force. May throw. */
  readonly provide: () => void;
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
  #preparing: Iterator<void> | undefined;

  constructor(options: FirstConversionOptions) {
    this.#options = options;
  }

  /** What a stream or poll said after something that waits, has to wait as well. */
  isWaiting(id: StreamId | PollId): boolean {
    return this.#waiting.has(id);
  }

  /** Whether v2 is still to be made. It is begun with, and may be over at once. */
  mustWait(id: StreamId | PollId): boolean {
    if (this.#options.twins.areWanted) return false;
    if (this.#preparing !== undefined) return true;
    this.#preparing = this.#options.twins.prepare();
    this.#waiting.set(id, { bytes: 0, thens: [] });
    this.#advance();
    return this.#preparing !== undefined;
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
    this.#preparing = undefined;
  }

  #advance(): void {
    if (this.#preparing === undefined) return;
    if (this.#isPrepared(this.#preparing)) this.#finish();
    else setImmediate(() => this.#advance());
  }

  /** What fails here fails again when it is brought into force, and is told then. */
  #isPrepared(preparing: Iterator<void>): boolean {
    try {
      return preparing.next().done === true;
    } catch {
      return true;
    }
  }

  #finish(): void {
    const waiting = [...this.#waiting];
    this.close();
    this.#waitingBytes = 0;
    try {
      this.#options.provide();
    } catch (cause) {
      for (const [id] of waiting) this.#options.failed(id, cause);
      return;
    }
    for (const [, { thens }] of waiting) for (const then of thens) then();
  }
}
