/** For how long polls are held while nothing changes. */
export interface HoldOptions {
  /** Where the client does not say how long it waits; less than the second that clients wait by default (S-RST-11). */
  readonly holdMs: number;
  /** At most, whatever the client says. */
  readonly maxHoldMs: number;
}

/** Of the time for which a client waits, this share is used: the answer has to arrive within it. */
const SHARE = 0.8;

/** How long a poll is held whose client waits for so many milliseconds, as Envoy says in a header. */
export function holdOf(timeoutHeader: string | undefined, { holdMs, maxHoldMs }: HoldOptions): number {
  const timeoutMs = /^\d{1,15}$/.test(timeoutHeader ?? "") ? Number(timeoutHeader) : 0;
  return Math.min(maxHoldMs, timeoutMs > 0 ? Math.floor(timeoutMs * SHARE) : holdMs);
}
