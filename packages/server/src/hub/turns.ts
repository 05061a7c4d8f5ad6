import type { StreamId } from "@xdskit/protocol/internal";
import type { ShellReport } from "./port.ts";
import type { Written } from "./stream-registry.ts";

/** Turns are given for so long at a time; then reads, and whatever else waits, go first. */
const SLICE_MS = 5;
/** After so many turns in a row that failed, waits for the next event instead of spinning. */
const MAX_FAILED_TURNS = 100;

/** Who takes turns, and what happens between slices of them. */
export interface TurnsOptions {
  /** Somebody waits for a turn. */
  readonly isDue: () => boolean;
  /** Gives one turn. May throw: a bug of ours. */
  readonly give: () => void;
  readonly failed: (cause: unknown) => void;
  /** Writes all that was said in a slice. */
  readonly write: () => Written;
  /** A stream has said all that was due. */
  readonly finished: (stream: StreamId) => void;
  readonly report: (report: Extract<ShellReport, { readonly kind: "turns-taken" }>) => void;
}

/** Gives streams their turns, a slice of the event loop at a time, so that reads go on during a fan-out (S-ADS-05). */
export class Turns {
  readonly #options: TurnsOptions;
  /** Streams that end once so many turns were given. */
  readonly #finishing = new Map<StreamId, number>();
  #isScheduled = false;
  #given = 0;
  #failed = 0;

  constructor(options: TurnsOptions) {
    this.#options = options;
  }

  /** Schedules a slice, if anybody waits for one. */
  schedule(): void {
    if (this.#isScheduled) return;
    if (!this.#options.isDue() && this.#finishing.size === 0) return;
    this.#isScheduled = true;
    // Not at once: what one read brings is answered together, and all writes of a slice leave together.
    setImmediate(() => {
      this.#isScheduled = false;
      this.#giveSlice();
      if (this.#failed < MAX_FAILED_TURNS) this.schedule();
      this.#failed = this.#failed >= MAX_FAILED_TURNS ? 0 : this.#failed;
    });
  }

  /** A stream is to end once what is due was said: when nobody waits for a turn, or so many were given. */
  finish(stream: StreamId, turns: number): void {
    this.#finishing.set(stream, this.#given + turns);
    this.schedule();
  }

  isFinishing(stream: StreamId): boolean {
    return this.#finishing.has(stream);
  }

  /** A stream is over. */
  forget(stream: StreamId): void {
    this.#finishing.delete(stream);
  }

  #giveSlice(): void {
    const { isDue, write, finished, report } = this.#options;
    const startedAt = performance.now();
    const endAt = startedAt + SLICE_MS;
    while (isDue() && this.#failed < MAX_FAILED_TURNS) {
      this.#give();
      if (performance.now() >= endAt) break;
    }
    const { responses, bytes } = write();
    for (const [stream, atTurn] of this.#finishing) {
      if (!isDue() || this.#given >= atTurn) finished(stream);
    }
    if (responses === 0) return;
    const tookMs = performance.now() - startedAt;
    report({ kind: "turns-taken", responses, bytes, tookMs, isMore: isDue() });
  }

  /** One at a time: should a turn throw, it takes nobody else's answer with it. */
  #give(): void {
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
