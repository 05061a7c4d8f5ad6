/**
 * Shared parts of the admin API's responses. Times are ISO 8601 in UTC; absent values are omitted; types are type URLs,
 * with the short name beside them where they have one.
 */

/** One page of a list. */
export interface Page<T> {
  readonly items: readonly T[];
  /** Number of items over all pages. */
  readonly total: number;
  /** The `offset` of the next page, if there is one. */
  readonly next?: number;
  /** The numbers of the workers that do not answer; what their clients have is not in the page. Absent: all answer. */
  readonly unresponsiveWorkers?: readonly number[];
}

/** The body of every response that is not 2xx. */
export interface ErrorAnswer {
  readonly error: string;
  /** What to request instead. */
  readonly hint?: string;
}

/** A gRPC status: the code, and the text made printable. */
export interface ErrorDetailAnswer {
  readonly code: number;
  readonly message: string;
}
