/** One line for each key in so many milliseconds: a client that does one thing over and over must not fill a disk (A14). */
const EVERY_MS = 10_000;
/** Keys whose last line is remembered; of more, the oldest are forgotten (and may speak again). */
const MAX_KEYS = 10_000;

/** Decides which of many lines are logged. */
export interface LineLimit {
  /** Undefined if this one stays silent; else how many stayed silent since the last line. */
  allow(key: string, now: number): { readonly suppressed: number } | undefined;
}

/** Lets the first of each key through, then one in ten seconds. */
export function createLineLimit(): LineLimit {
  const last = new Map<string, { at: number; suppressed: number }>();
  return {
    allow(key, now) {
      const line = last.get(key);
      if (line !== undefined && now - line.at < EVERY_MS) {
        line.suppressed++;
        return undefined;
      }
      last.delete(key);
      last.set(key, { at: now, suppressed: 0 });
      if (last.size > MAX_KEYS) {
        const oldest = last.keys().next();
        if (oldest.done !== true) last.delete(oldest.value);
      }
      return { suppressed: line?.suppressed ?? 0 };
    },
  };
}
