/** Pieces that a message may come in, however small; if there are more, they must hold this many bytes on average. */
const FREE_PIECES = 10_000;
const LEAST_PIECE_BYTES = 32;

/** Counts the pieces of one message: each costs about as much as a small request, however few bytes it holds. */
export class PieceCount {
  #pieces = 0;
  #bytes = 0;

  /** Counts a piece; returns whether there are too many that are too small. */
  add(byteLength: number): boolean {
    this.#pieces++;
    this.#bytes += byteLength;
    return this.#pieces > FREE_PIECES && this.#bytes < this.#pieces * LEAST_PIECE_BYTES;
  }

  /** The next message begins. */
  reset(): void {
    this.#pieces = 0;
    this.#bytes = 0;
  }
}

/** What is told to a client with too many pieces. */
export const tooManyPieces: string = `a message in more than ${FREE_PIECES} pieces of fewer than ${LEAST_PIECE_BYTES} bytes`;
