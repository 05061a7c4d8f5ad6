/** Changes that belong together: when the first and the last of them were seen, in milliseconds of any one clock. */
export interface Burst {
  readonly firstAtMs: number;
  readonly lastAtMs: number;
}

/** How long to wait for more. */
export interface Patience {
  /** Without a change for so long, a burst is over. */
  readonly quietMs: number;
  /** It is taken to be over at the latest so long after its first change: somebody who never stops must not hold everything up. */
  readonly longestMs: number;
}

/** What a file needs that is written in place, and what an operator does not notice. */
export const usualPatience: Patience = { quietMs: 50, longestMs: 1000 };

/** The burst with one more change in it. */
export function extendBurst(burst: Burst | undefined, atMs: number): Burst {
  return { firstAtMs: burst?.firstAtMs ?? atMs, lastAtMs: atMs };
}

/** When the burst is over if nothing more happens. */
export function burstEndsAtMs(burst: Burst, patience: Patience): number {
  return Math.min(burst.lastAtMs + patience.quietMs, burst.firstAtMs + patience.longestMs);
}
