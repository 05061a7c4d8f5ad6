/** A group of related changes; times in milliseconds of any one clock. */
export interface Burst {
  readonly firstAtMs: number;
  /** When the last new path joined the burst. */
  readonly lastNewAtMs: number;
  readonly lastAtMs: number;
}

/** How long to wait for further changes. */
export interface Patience {
  /**
   * A burst ends after this long without a change, or after a quarter of its length if that is more: a longer series of
   * writes has longer pauses.
   */
  readonly quietMs: number;
  /**
   * A burst ends this long after its last new path, so that a file that is written all the time does not block the
   * rest; at the latest, ten times as long after its start.
   */
  readonly longestMs: number;
}

/** Enough for a file that is written in place, too short for an operator to notice. */
export const usualPatience: Patience = { quietMs: 30, longestMs: 1000 };

const LIMIT_FACTOR = 10;
const QUIET_SHARE = 1 / 4;
/** The part of the wait after which what was written is read. */
const READABLE_SHARE = 1 / 2;

/** The burst with one more change. */
export function extendBurst(burst: Burst | undefined, isNewPath: boolean, atMs: number): Burst {
  if (burst === undefined) return { firstAtMs: atMs, lastNewAtMs: atMs, lastAtMs: atMs };
  return { firstAtMs: burst.firstAtMs, lastNewAtMs: isNewPath ? atMs : burst.lastNewAtMs, lastAtMs: atMs };
}

/** When the burst ends if there is no further change. */
export function burstEndsAtMs(burst: Burst, patience: Patience): number {
  return Math.min(burst.lastAtMs + quietMsOf(burst, patience), burstLimitMs(burst, patience));
}

/** When the files are worth reading if there is no further change; the burst goes on meanwhile. */
export function readableAtMs(burst: Burst, patience: Patience): number {
  return burst.lastAtMs + quietMsOf(burst, patience) * READABLE_SHARE;
}

function quietMsOf({ firstAtMs, lastAtMs }: Burst, { quietMs }: Patience): number {
  return Math.max(quietMs, (lastAtMs - firstAtMs) * QUIET_SHARE);
}

/** When the burst ends unless a new path joins it. */
export function burstLimitMs(burst: Burst, { longestMs }: Patience): number {
  return Math.min(burst.lastNewAtMs + longestMs, burst.firstAtMs + longestMs * LIMIT_FACTOR);
}
