import type { ServerHttp2Session, ServerHttp2Stream } from "node:http2";

/**
 * Streams that a client may open in addition to the open ones. A stream costs Node about 0.1 ms, and Node opens all of
 * a read, up to 5,000, before anything else runs; those above the concurrency limit are refused before they cost that.
 * Envoy without an aggregated stream opens one for each cluster, and does not wait for SETTINGS.
 */
export const STREAMS_AT_ONCE = 500;

/** Keeps the concurrency limit of a session (SETTINGS_MAX_CONCURRENT_STREAMS) slightly above its open streams. */
export class StreamRoom {
  readonly #session: ServerHttp2Session;
  readonly #streams: ReadonlySet<ServerHttp2Stream>;
  readonly #max: number;
  #allowed: number;
  #isPending = false;

  /** `max` is the limit however many streams are open; the session starts with `firstLimit` of it. */
  constructor(session: ServerHttp2Session, streams: ReadonlySet<ServerHttp2Stream>, max: number) {
    this.#session = session;
    this.#streams = streams;
    this.#max = max;
    this.#allowed = firstLimit(max);
  }

  /** Called when a stream was opened or closed. */
  adjust(): void {
    const room = this.#allowed - this.#streams.size;
    const isEnough = room >= STREAMS_AT_ONCE / 2 || this.#allowed === this.#max;
    if ((isEnough && room <= 2 * STREAMS_AT_ONCE) || this.#isPending || this.#session.destroyed) return;
    this.#allowed = Math.min(this.#max, this.#streams.size + STREAMS_AT_ONCE);
    this.#isPending = true;
    this.#session.settings({ maxConcurrentStreams: this.#allowed }, () => {
      this.#isPending = false;
      this.adjust();
    });
  }
}

export function firstLimit(max: number): number {
  return Math.min(max, STREAMS_AT_ONCE);
}
