/** Above the limit, fragments must hold this many bytes on average. */
const SMALL_BYTES = 32;

/**
 * Counts the fragments of one request, such as DATA frames and chunks: each costs about as much as a small request,
 * however few bytes it holds.
 */
export class FragmentCount {
  readonly #maxSmall: number;
  #fragments = 0;
  #bytes = 0;

  /** `maxSmall`: the limit `maxSmallFragments`. */
  constructor(maxSmall: number) {
    this.#maxSmall = maxSmall;
  }

  /** Counts a fragment; returns whether there are too many that are too small. */
  add(byteLength: number): boolean {
    this.#fragments++;
    this.#bytes += byteLength;
    return this.#fragments > this.#maxSmall && this.#bytes < this.#fragments * SMALL_BYTES;
  }

  /** The next request begins. */
  reset(): void {
    this.#fragments = 0;
    this.#bytes = 0;
  }
}

/** What a client with too many fragments is told. */
export function tooFragmented(maxSmall: number): string {
  return `a request in more than ${maxSmall} fragments of fewer than ${SMALL_BYTES} bytes on average (maxSmallFragments)`;
}
