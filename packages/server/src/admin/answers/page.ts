/**
 * What the answers of the admin API have in common. Times are ISO 8601 in UTC; what is absent is left out; types are type URLs,
 * with their short name beside them where they have one.
 */

/** A long list, one page of it. */
export interface Page<T> {
  readonly items: readonly T[];
  /** How many there are over all pages. */
  readonly total: number;
  /** The `offset` of the next page, if there is one. */
  readonly next?: number;
}

/** Every answer that is not 2xx. */
export interface ErrorAnswer {
  readonly error: string;
  /** What to ask instead. */
  readonly hint?: string;
}

/** A gRPC status: the code, and the text made printable. */
export interface ErrorDetailAnswer {
  readonly code: number;
  readonly message: string;
}
