import type { StreamId } from "@xdskit/protocol/internal";
import type { ShellReport } from "./port.ts";
import type { Written } from "./stream-registry.ts";

/** Maximum duration of a slice in milliseconds; then reads and other work run first. */
const SLICE_MS = 5;
/** After this many consecutive failures, waits for the next event instead of spinning. */
const MAX_FAILED_TURNS = 100;

/** What a `Turns` schedules, and what runs between slices. */
export interface TurnsOptions {
  /** Whether a stream waits for a flush, or a large response to be sent. */
  readonly isDue: () => boolean;
  /** Whether an answer to a stream takes several flushes and is not complete. */
  readonly isPaused: (stream: StreamId) => boolean;
  /** Sends a large response that waits; false: none does. */
  readonly sendLarge: () => boolean;
  /** Flushes one stream. Throws only on an internal error. */
  readonly give: () => void;
  readonly failed: (cause: unknown) => void;
  /** Writes the responses of a slice. */
  readonly write: () => Written;
  /** A finishing stream has sent all pending responses. */
  readonly finished: (stream: StreamId) => void;
  readonly report: (report: Extract<ShellReport, { readonly kind: "turns-taken" }>) => void;
}

/** Flushes streams in slices of the event loop, so that reads continue during a fan-out (S-ADS-05). */
export class Turns {
  readonly #options: TurnsOptions;
  /** Finishing streams, with the flush count at which each ends. */
  readonly #finishing = new Map<StreamId, number>();
  #isScheduled = false;
  #given = 0;
  #failed = 0;

  constructor(options: TurnsOptions) {
    this.#options = options;
  }

  /** Schedules a slice if a stream is due or finishing. */
  schedule(): void {
    if (this.#isScheduled) return;
    if (!this.#options.isDue() && this.#finishing.size === 0) return;
    this.#isScheduled = true;
    // Deferred, so that the requests of one read are answered together and the writes of a slice leave together.
    setImmediate(() => {
      this.#isScheduled = false;
      this.#giveSlice();
      if (this.#failed < MAX_FAILED_TURNS) this.schedule();
      this.#failed = this.#failed >= MAX_FAILED_TURNS ? 0 : this.#failed;
    });
  }

  /** Ends a stream once no flush is due, or after `turns` further flushes and the end of its paused answers. */
  finish(stream: StreamId, turns: number): void {
    this.#finishing.set(stream, this.#given + turns);
    this.schedule();
  }

  isFinishing(stream: StreamId): boolean {
    return this.#finishing.has(stream);
  }

  /** Removes an ended stream. */
  forget(stream: StreamId): void {
    this.#finishing.delete(stream);
  }

  #giveSlice(): void {
    const { isDue, isPaused, write, finished, report } = this.#options;
    const startedAt = performance.now();
    const endAt = startedAt + SLICE_MS;
    while (isDue() && this.#failed < MAX_FAILED_TURNS) {
      this.#give();
      if (performance.now() >= endAt) break;
    }
    const { responses, bytes } = write();
    for (const [stream, atTurn] of this.#finishing) {
      if (!isDue() || (this.#given >= atTurn && !isPaused(stream))) finished(stream);
    }
    if (responses === 0) return;
    const tookMs = performance.now() - startedAt;
    report({ kind: "turns-taken", responses, bytes, tookMs, isMore: isDue() });
  }

  /** Sends one large response or flushes one stream; an exception must not affect other streams. */
  #give(): void {
    if (this.#options.sendLarge()) return;
    this.#given++;
    try {
      this.#options.give();
      this.#failed = 0;
    } catch (cause) {
      this.#failed++;
      this.#options.failed(cause);
    }
  }
}
