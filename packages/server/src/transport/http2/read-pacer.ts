/** Bytes that are read in one turn of the event loop before connections that bring much wait for a later turn. */
export const BYTES_PER_TURN = 1_048_576;
/** Reads below this, such as ACKs and small requests, never wait. */
export const SMALL_READ_BYTES = 16_384;
/** A connection brings little after so many small reads: the first ones are of settings, also with a herd of streams behind them. */
export const SMALL_READS = 8;
/** What Node reads from a connection before anything else runs. */
const MAX_READ_BYTES = 65_536;
/** Connections that go on in one turn. */
export const READERS_PER_TURN: number = BYTES_PER_TURN / MAX_READ_BYTES;

/** A connection that may bring much. */
interface Suspect {
  /** Whether it never has. */
  readonly isNew: boolean;
  smallReads: number;
  /** It has waited, and has its turn. */
  hasTurn: boolean;
}

/** A connection that can stop to read. */
export interface PacedReader {
  pauseReading(): void;
  resumeReading(): void;
}

/**
 * Bounds what one turn of the event loop reads. Node reads every socket that has something before anything else runs, so
 * thousands of clients that come back with what they hold would make turns of tens of megabytes, and a queue of requests
 * to match. When a turn has read enough, connections that bring much, or are too new to tell, wait with what they bring in
 * the system's buffers, and take turns.
 */
export class ReadPacer {
  readonly #isBusy: () => boolean;
  /** Those that wait: the ones that brought much, and the ones of which nothing is known. */
  readonly #waiting = new Set<PacedReader>();
  readonly #waitingNew = new Set<PacedReader>();
  /** Those that are read and may bring much. */
  readonly #suspects = new Map<PacedReader, Suspect>();
  /** Those of them that have their turn in this turn of the event loop. */
  readonly #turns: Suspect[] = [];
  /** What others may still read in it. */
  #left = BYTES_PER_TURN;
  #isScheduled = false;

  /** While `isBusy`, no connection that waits goes on: what was read is not processed yet. */
  constructor(isBusy: () => boolean) {
    this.#isBusy = isBusy;
  }

  /** A new connection; it may be paused. */
  join(reader: PacedReader): void {
    this.#suspects.set(reader, { isNew: true, smallReads: 0, hasTurn: false });
    if (this.#left < 0) this.#pause(reader);
  }

  /** A connection has read so many bytes; connections may be paused. */
  onRead(reader: PacedReader, byteLength: number): void {
    this.#schedule();
    const suspect = this.#suspects.get(reader);
    this.#left -= suspect?.hasTurn === true ? byteLength - MAX_READ_BYTES : byteLength;
    if (byteLength >= SMALL_READ_BYTES) {
      this.#suspects.set(reader, { isNew: false, smallReads: 0, hasTurn: false });
      if (this.#isBusy()) this.#pause(reader);
    } else if (suspect !== undefined) this.#noteSmall(reader, suspect);
    if (this.#left < 0) this.#pauseSuspects();
  }

  /** A connection has closed. */
  forget(reader: PacedReader): void {
    this.#suspects.delete(reader);
    this.#waiting.delete(reader);
    this.#waitingNew.delete(reader);
  }

  /** Node has more of them to read in this turn. */
  #pauseSuspects(): void {
    for (const [reader, { hasTurn }] of this.#suspects) if (!hasTurn) this.#pause(reader);
  }

  #noteSmall(reader: PacedReader, suspect: Suspect): void {
    suspect.hasTurn = false;
    suspect.smallReads++;
    if (suspect.smallReads === SMALL_READS) this.#suspects.delete(reader);
  }

  #pause(reader: PacedReader): void {
    const waiting = this.#suspects.get(reader)?.isNew === true ? this.#waitingNew : this.#waiting;
    this.#suspects.delete(reader);
    waiting.add(reader);
    reader.pauseReading();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#beginTurn());
  }

  #beginTurn(): void {
    this.#isScheduled = false;
    for (const suspect of this.#turns.splice(0)) suspect.hasTurn = false;
    // Whoever comes does not wait for all that others bring, nor the other way round.
    let left = READERS_PER_TURN - this.#resume(this.#waitingNew, true, READERS_PER_TURN / 2);
    left -= this.#resume(this.#waiting, false, left);
    left -= this.#resume(this.#waitingNew, true, left);
    this.#left = left * MAX_READ_BYTES;
    if (this.#waiting.size + this.#waitingNew.size > 0) this.#schedule();
  }

  #resume(waiting: Set<PacedReader>, isNew: boolean, most: number): number {
    let resumed = 0;
    for (const reader of waiting) {
      if (this.#isBusy() || resumed === most) break;
      resumed++;
      waiting.delete(reader);
      const suspect = { isNew, smallReads: 0, hasTurn: true };
      this.#turns.push(suspect);
      this.#suspects.set(reader, suspect);
      reader.resumeReading();
    }
    return resumed;
  }
}
