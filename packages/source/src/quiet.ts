/** Changes that belong together, in milliseconds of any one clock. */
export interface Burst {
  readonly firstAtMs: number;
  /** When a path last joined that had not changed before in this burst. */
  readonly lastNewAtMs: number;
  readonly lastAtMs: number;
}

/** How long to wait for more. */
export interface Patience {
  /**
   * Without a change for so long, a burst is over; or without one for a quarter of its length, where that is more:
   * whoever writes for a second stops for longer between two files.
   */
  readonly quietMs: number;
  /**
   * So long after the last path that is new to it, a burst is taken to be over: whoever writes the same file for ever
   * must not hold everything up. Ten times as long after its beginning, in any case.
   */
  readonly longestMs: number;
}

/** What a file needs that is written in place, and what an operator does not notice. */
export const usualPatience: Patience = { quietMs: 50, longestMs: 1000 };

const LIMIT_FACTOR = 10;
const QUIET_SHARE = 1 / 4;

/** The burst with one more change in it. */
export function extendBurst(burst: Burst | undefined, isNewPath: boolean, atMs: number): Burst {
  if (burst === undefined) return { firstAtMs: atMs, lastNewAtMs: atMs, lastAtMs: atMs };
  return { firstAtMs: burst.firstAtMs, lastNewAtMs: isNewPath ? atMs : burst.lastNewAtMs, lastAtMs: atMs };
}

/** When the burst is over if nothing more happens. */
export function burstEndsAtMs(burst: Burst, patience: Patience): number {
  const quietMs = Math.max(patience.quietMs, (burst.lastAtMs - burst.firstAtMs) * QUIET_SHARE);
  return Math.min(burst.lastAtMs + quietMs, burstLimitMs(burst, patience));
}

/** When the burst is over whatever happens, unless a new path joins it. */
export function burstLimitMs(burst: Burst, { longestMs }: Patience): number {
  return Math.min(burst.lastNewAtMs + longestMs, burst.firstAtMs + longestMs * LIMIT_FACTOR);
}
