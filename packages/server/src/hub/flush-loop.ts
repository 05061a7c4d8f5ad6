import type { StreamId } from "@xdskit/protocol/internal";
import { FanOutPacer } from "./fan-out-pacer.ts";
import type { ShellReport } from "./port.ts";
import type { Written } from "./stream-registry.ts";

/** Maximum duration of a slice in milliseconds; then reads and other work run first. */
const SLICE_MS = 5;
/** After this many consecutive failures, waits for the next event instead of spinning. */
const MAX_FAILED_TURNS = 100;
/**
 * Among so many flushes is one at least of the streams that asked for something, and one of those that something changed
 * for, if there are such: they take turns, and polls come between.
 */
const FLUSHES_PER_TURN = 20;

/** What waits for its turn. The methods that flush throw only on an internal error. */
export interface DueFlushes {
  /** Whether a stream or a poll waits for a flush, or a large response to be sent. */
  readonly isDue: boolean;
  /** Whether a poll waits, or a stream that asked for something. */
  readonly isAskingDue: boolean;
  readonly isLargeDue: boolean;
  /** Whether a client waits until it is given its layers. */
  readonly isPlacementDue: boolean;
  /** How many streams wait because something changed for them. */
  readonly changedStreams: number;
  /** How many such streams `flushNext` has flushed so far. */
  readonly flushedChanged: number;
  /** How many flushes so far left an answer that takes several of them. */
  readonly pausedFlushes: number;
  /**
   * Whether a stream was not sent all that it asked for: its answer waits for a flush, or for several, if need be until
   * its client reads.
   */
  isAnswerPending(stream: StreamId): boolean;
  /** Goes on with a large response that waits. */
  sendLarge(): void;
  /** Flushes a poll, a stream that asked for something, or one that something changed for, in turn. */
  flushNext(): void;
  /** Flushes a poll or a stream that asked for something, in turn. */
  flushAsking(): void;
  /** Gives one client its layers. */
  placeNext(): void;
}

/** A monotonic clock in milliseconds, and how to run something later. */
export interface FlushClock {
  now(): number;
  /** Runs in the next turn of the event loop. */
  soon(run: () => void): void;
  /** Returns a function that cancels. */
  later(ms: number, run: () => void): () => void;
}

const systemClock: FlushClock = {
  now: () => performance.now(),
  soon: (run) => {
    setImmediate(run);
  },
  later: (ms, run) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

/** What a `FlushLoop` schedules, and what runs between slices. */
export interface FlushLoopOptions {
  readonly due: DueFlushes;
  /** Longest pause in which changes are gathered, in milliseconds. */
  readonly maxDebounceMs: number;
  readonly clock?: FlushClock;
  readonly failed: (cause: unknown) => void;
  /** Writes the responses of a slice. */
  readonly write: () => Written;
  /** A finishing stream has sent all pending responses. */
  readonly finished: (stream: StreamId) => void;
  readonly report: (report: Extract<ShellReport, { readonly kind: "slice-flushed" }>) => void;
}

/**
 * Flushes streams in slices of the event loop, so that reads continue during a fan-out (S-ADS-05), with pauses between
 * costly fan-outs. New subscriptions and polls do not wait for the pause, and fan-outs do not wait for all of them.
 */
export class FlushLoop {
  readonly #options: FlushLoopOptions;
  readonly #clock: FlushClock;
  readonly #pacer: FanOutPacer;
  #cancelWait: (() => void) | undefined;
  /** Finishing streams, with the count of turns at which each ends. */
  readonly #finishing = new Map<StreamId, number>();
  readonly #flushNext = (): void => this.#options.due.flushNext();
  readonly #flushAsking = (): void => this.#options.due.flushAsking();
  #isScheduled = false;
  /** Whether a finishing stream waits for its end, and not for an answer. */
  #isEnding = false;
  #placedLast = false;
  #given = 0;
  /** How many of these were of the whole queue, and not only of those that asked for something. */
  #turns = 0;
  #failed = 0;

  constructor(options: FlushLoopOptions) {
    const { maxDebounceMs, clock = systemClock } = options;
    this.#options = options;
    this.#clock = clock;
    this.#pacer = new FanOutPacer(maxDebounceMs);
  }

  /** Schedules a slice if a stream is due, or may end. */
  schedule(): void {
    if (this.#isScheduled) return;
    const { isDue, isAskingDue, isLargeDue, isPlacementDue } = this.#options.due;
    if (!isDue && !this.#isEnding) return;
    // A client that is cut off does not wait until the next fan-out.
    const isUrgent = isAskingDue || isLargeDue || isPlacementDue;
    const waitMs = isUrgent ? 0 : this.#pacer.waitMs(this.#clock.now());
    if (waitMs > 0) {
      this.#cancelWait ??= this.#clock.later(waitMs, () => {
        this.#cancelWait = undefined;
        this.schedule();
      });
      return;
    }
    this.#isScheduled = true;
    // Deferred, so that the requests of one read are answered together and the writes of a slice leave together.
    this.#clock.soon(() => {
      this.#isScheduled = false;
      this.#giveSlice();
      if (this.#failed < MAX_FAILED_TURNS) this.schedule();
      this.#failed = this.#failed >= MAX_FAILED_TURNS ? 0 : this.#failed;
    });
  }

  /** A change may have made streams due. */
  changed(): void {
    const { flushedChanged, changedStreams } = this.#options.due;
    this.#pacer.changed(this.#clock.now(), flushedChanged, changedStreams);
  }

  /** Ends the wait for the next fan-out. */
  close(): void {
    this.#cancelWait?.();
  }

  /** Ends a stream of `streams` after what it asked for, once no flush is due or its turn has come. */
  finish(stream: StreamId, streams: number): void {
    this.#finishing.set(stream, this.#turns + FLUSHES_PER_TURN * streams);
    this.#isEnding = true;
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
    const { due, write, finished, report } = this.#options;
    const startedAt = this.#clock.now();
    const endAt = startedAt + SLICE_MS;
    const { pausedFlushes } = due;
    let now = startedAt;
    let answersMs = 0;
    // A part of a long answer is the last flush of its slice: with further ones, many turns in a row would be long.
    while (due.isDue && this.#failed < MAX_FAILED_TURNS && now < endAt && due.pausedFlushes === pausedFlushes) {
      const [given, changed] = [this.#given, due.flushedChanged];
      if (!this.#flushOne(now)) break;
      const then = this.#clock.now();
      if (this.#given > given && due.flushedChanged === changed) answersMs += then - now;
      now = then;
    }
    const { responses, bytes } = write();
    this.#isEnding = false;
    for (const [stream, atTurn] of this.#finishing) {
      if (due.isDue && this.#turns < atTurn) this.#isEnding = true;
      // One whose answer is pending becomes due once that can be sent.
      else if (!due.isAnswerPending(stream)) finished(stream);
    }
    now = this.#clock.now();
    // What answers to those that asked cost is no reason to gather changes.
    this.#pacer.sliceEnded(now, now - startedAt - answersMs, due.flushedChanged, due.changedStreams);
    if (responses === 0) return;
    report({ kind: "slice-flushed", responses, bytes, tookMs: now - startedAt, isMore: due.isDue });
  }

  /**
   * Goes on with a large response, places a client, or flushes a stream or poll; false if all that is due waits for the next
   * fan-out.
   */
  #flushOne(now: number): boolean {
    const { due } = this.#options;
    if (due.isLargeDue) {
      due.sendLarge();
      return true;
    }
    // Placing and flushing take turns, so that neither waits for all of the other.
    this.#placedLast = due.isPlacementDue && !this.#placedLast;
    if (this.#placedLast) {
      this.#try(() => due.placeNext());
      return true;
    }
    if (this.#pacer.mayFlush(now, due.flushedChanged, due.changedStreams)) {
      this.#turns++;
      this.#give(this.#flushNext);
    } else if (due.isAskingDue) this.#give(this.#flushAsking);
    else return due.isPlacementDue;
    return true;
  }

  #give(flush: () => void): void {
    this.#given++;
    this.#try(flush);
  }

  /** Runs something for one stream; an exception must not affect others. */
  #try(run: () => void): void {
    try {
      run();
      this.#failed = 0;
    } catch (cause) {
      this.#failed++;
      this.#options.failed(cause);
    }
  }
}
