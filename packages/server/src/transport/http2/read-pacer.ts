/** What Node reads of a connection at most before anything else runs. */
export const READ_BYTES = 65_536;
/** Bytes that are read in one turn of the event loop before connections that bring much wait for a later turn. */
export const BYTES_PER_TURN: number = 8 * READ_BYTES;
/** The same while a stream waits to be sent a change. */
export const BYTES_BESIDE_CHANGES: number = 2 * READ_BYTES;
/** Reads below this, such as ACKs and small requests, never wait. */
export const SMALL_READ_BYTES = 16_384;
/**
 * What is read of a connection before one that has waited longer goes on: the sooner a request is complete, the
 * less memory is taken by parts of requests.
 */
export const BYTES_IN_A_ROW = 1_048_576;

/** A connection that can stop to read. */
export interface PacedReader {
  pauseReading(): void;
  resumeReading(): void;
}

/** What the pacer goes by. */
export interface ReadPacerOptions {
  /** While it is true no connection that waits goes on: what was read is not processed yet. */
  readonly isBusy: () => boolean;
  /** Whether a stream waits to be sent a change. */
  readonly isChangeDue: () => boolean;
}

/**
 * Bounds what one turn of the event loop reads. Node reads every socket that has something before anything else runs, so
 * thousands of clients that come back with what they hold would make turns of tens of megabytes, and a queue of requests
 * to match. A connection that brings much when a turn has read enough waits in the system's buffers, and those that wait
 * take turns.
 */
export class ReadPacer {
  readonly #options: ReadPacerOptions;
  /** Connections that wait until others had their turn. */
  readonly #waiting = new Set<PacedReader>();
  /** Connections whose turn it is, and that wait for the next turn of the event loop. */
  readonly #inTurn = new Set<PacedReader>();
  /** What is left of their turn of those that have one, in bytes. */
  readonly #leftOf = new Map<PacedReader, number>();
  #left = BYTES_PER_TURN;
  #isScheduled = false;

  constructor(options: ReadPacerOptions) {
    this.#options = options;
  }

  /** A connection has read so many bytes; it may be paused. */
  onRead(reader: PacedReader, byteLength: number): void {
    this.#schedule();
    this.#left -= byteLength;
    if (byteLength < SMALL_READ_BYTES || (this.#left >= 0 && !this.#options.isBusy())) return;
    const left = (this.#leftOf.get(reader) ?? 0) - byteLength;
    if (left > 0) {
      this.#leftOf.set(reader, left);
      this.#inTurn.add(reader);
    } else {
      this.#leftOf.delete(reader);
      this.#waiting.add(reader);
    }
    reader.pauseReading();
  }

  /** A connection has closed. */
  forget(reader: PacedReader): void {
    this.#waiting.delete(reader);
    this.#inTurn.delete(reader);
    this.#leftOf.delete(reader);
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#beginTurn());
  }

  #beginTurn(): void {
    this.#isScheduled = false;
    this.#left = this.#options.isChangeDue() ? BYTES_BESIDE_CHANGES : BYTES_PER_TURN;
    let readers = this.#left / READ_BYTES;
    for (const reader of this.#inTurn) {
      if (readers === 0 || this.#options.isBusy()) break;
      readers--;
      this.#inTurn.delete(reader);
      reader.resumeReading();
    }
    for (const reader of this.#waiting) {
      if (readers === 0 || this.#options.isBusy()) break;
      readers--;
      this.#waiting.delete(reader);
      this.#leftOf.set(reader, BYTES_IN_A_ROW);
      reader.resumeReading();
    }
    if (this.#waiting.size > 0 || this.#inTurn.size > 0) this.#schedule();
  }
}
