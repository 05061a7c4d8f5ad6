/**
 * Streams that a client may open in addition to the open ones. With `node:http2` a stream costs about 0.1 ms, and Node
 * opens all of a read, up to 5,000, before anything else runs; those above the concurrency limit are refused before they
 * cost that. Envoy without an aggregated stream opens one for each cluster, and does not wait for SETTINGS.
 */
export const STREAMS_AT_ONCE = 500;

export interface StreamRoomOptions {
  /** The limit however many streams are open. */
  readonly max: number;
  /** Announces a limit; calls `acknowledged` when the client knows it. */
  readonly announce: (limit: number, acknowledged: () => void) => void;
}

/**
 * Keeps the concurrency limit of a connection (SETTINGS_MAX_CONCURRENT_STREAMS) slightly above its open streams. It starts
 * with `firstLimit`.
 */
export class StreamRoom {
  readonly #options: StreamRoomOptions;
  #allowed: number;
  #open = 0;
  #isPending = false;

  constructor(options: StreamRoomOptions) {
    this.#options = options;
    this.#allowed = firstLimit(options.max);
  }

  /** A stream is handled: only then there is room for another. */
  open(): void {
    this.#open++;
    this.#adjust();
  }

  /** A stream that was handled has closed. */
  close(): void {
    this.#open--;
    this.#adjust();
  }

  #adjust(): void {
    const { max, announce } = this.#options;
    const room = this.#allowed - this.#open;
    const isEnough = room >= STREAMS_AT_ONCE / 2 || this.#allowed === max;
    if ((isEnough && room <= 2 * STREAMS_AT_ONCE) || this.#isPending) return;
    this.#allowed = Math.min(max, this.#open + STREAMS_AT_ONCE);
    this.#isPending = true;
    announce(this.#allowed, () => {
      this.#isPending = false;
      this.#adjust();
    });
  }
}

export function firstLimit(max: number): number {
  return Math.min(max, STREAMS_AT_ONCE);
}
