import type { Body, ServerEffect, StreamId } from "@xdskit/protocol/internal";

type Send = Extract<ServerEffect, { readonly kind: "send" }>;

/** A response with more resources and names than this is encoded some at a time: one of 4 MB takes up to 60 ms. */
const LARGE_RESPONSE = 1_000;

/**
 * Keeps large responses, and what follows them on their stream, until they are encoded, with turns of the event loop
 * between.
 */
export class SendQueue {
  readonly #send: (effect: Send) => void;
  readonly #encodeSome: (effect: Send) => boolean;
  readonly #waiting = new Map<StreamId, Send[]>();

  /** `encodeSome`: encodes some of a response; false if it only remains to be sent. */
  constructor(send: (effect: Send) => void, encodeSome: (effect: Send) => boolean) {
    this.#send = send;
    this.#encodeSome = encodeSome;
  }

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  /** Sends a response, or keeps it. */
  add(effect: Send): void {
    const before = this.#waiting.get(effect.stream);
    if (before !== undefined) before.push(effect);
    else if (isLarge(effect.body)) this.#waiting.set(effect.stream, [effect]);
    else this.#send(effect);
  }

  /** Goes on with the next response; streams take turns. */
  next(): void {
    const [entry] = this.#waiting;
    if (entry === undefined) return;
    const [stream, waiting] = entry;
    const [effect] = waiting;
    const isReady = effect !== undefined && !this.#encodeSome(effect);
    if (isReady) waiting.shift();
    this.#waiting.delete(stream);
    if (waiting.length > 0) this.#waiting.set(stream, waiting);
    if (isReady) this.#send(effect);
  }

  /** Sends at once what a stream waits for: it is about to end. */
  flush(stream: StreamId): void {
    const waiting = this.#waiting.get(stream) ?? [];
    this.#waiting.delete(stream);
    for (const effect of waiting) this.#send(effect);
  }

  /** Drops what a stream that is gone waits for. */
  forget(stream: StreamId): void {
    this.#waiting.delete(stream);
  }
}

function isLarge({ segments }: Body): boolean {
  let size = 0;
  for (const { puts, removed, missing } of segments) size += puts.length + removed.length + missing.length;
  return size > LARGE_RESPONSE;
}
