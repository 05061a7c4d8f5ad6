/** How long polls are held while nothing changes. */
export interface HoldOptions {
  /**
   * Milliseconds if the client does not send its timeout; less than the default client timeout of one second
   * (S-RST-11).
   */
  readonly holdMs: number;
  /** Maximum in milliseconds, whatever the client sends. */
  readonly maxHoldMs: number;
}

/** Share of the client's timeout that is used: the response must arrive within it. */
const SHARE = 0.8;

/** Milliseconds to hold a poll, given the client's timeout header. */
export function holdOf(timeoutHeader: string | undefined, { holdMs, maxHoldMs }: HoldOptions): number {
  const timeoutMs = /^\d{1,15}$/.test(timeoutHeader ?? "") ? Number(timeoutHeader) : 0;
  return Math.min(maxHoldMs, timeoutMs > 0 ? Math.floor(timeoutMs * SHARE) : holdMs);
}
