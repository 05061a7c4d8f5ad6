/** Bytes that are read in one turn of the event loop before connections that bring much wait for a later turn. */
export const BYTES_PER_TURN = 131_072;
/** Reads below this, such as ACKs and small requests, never wait. */
export const SMALL_READ_BYTES = 16_384;
/** Connections that go on in one turn: Node reads up to 64 KiB from each before anything else runs. */
export const READERS_PER_TURN: number = BYTES_PER_TURN / 65_536;

/** A connection that can stop to read. */
export interface PacedReader {
  pauseReading(): void;
  resumeReading(): void;
}

/**
 * Bounds what one turn of the event loop reads. Node reads every socket that has something before anything else runs, so
 * thousands of clients that come back with what they hold would make turns of tens of megabytes, and a queue of requests
 * to match. A connection that brings much when a turn has read enough waits in the system's buffers, and those that wait
 * take turns.
 */
export class ReadPacer {
  readonly #isBusy: () => boolean;
  readonly #waiting = new Set<PacedReader>();
  #left = BYTES_PER_TURN;
  #isScheduled = false;

  /** While `isBusy`, no connection that waits goes on: what was read is not processed yet. */
  constructor(isBusy: () => boolean) {
    this.#isBusy = isBusy;
  }

  /** A connection has read so many bytes; it may be paused. */
  onRead(reader: PacedReader, byteLength: number): void {
    this.#schedule();
    this.#left -= byteLength;
    if (byteLength < SMALL_READ_BYTES || (this.#left >= 0 && !this.#isBusy())) return;
    this.#waiting.add(reader);
    reader.pauseReading();
  }

  /** A connection has closed. */
  forget(reader: PacedReader): void {
    this.#waiting.delete(reader);
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#beginTurn());
  }

  #beginTurn(): void {
    this.#isScheduled = false;
    this.#left = BYTES_PER_TURN;
    let resumed = 0;
    for (const reader of this.#waiting) {
      if (this.#isBusy() || resumed === READERS_PER_TURN) break;
      resumed++;
      this.#waiting.delete(reader);
      reader.resumeReading();
    }
    if (this.#waiting.size > 0) this.#schedule();
  }
}
