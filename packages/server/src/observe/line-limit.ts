/** Milliseconds between lines of one key, so that a misbehaving client cannot fill a disk (A14). */
const EVERY_MS = 10_000;
/** Keys whose last line is remembered; above it the oldest are dropped and may log again. */
const MAX_KEYS = 10_000;

/** Decides which of many lines are logged. */
export interface LineLimit {
  /** Undefined to suppress the line; else the number of lines suppressed since the last one. */
  allow(key: string, now: number): { readonly suppressed: number } | undefined;
}

/** Allows the first line of each key, then one per ten seconds. */
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
