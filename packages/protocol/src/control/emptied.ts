import { placeKey } from "./place.ts";
import type { EntryChange } from "./record.ts";

/** Live changes of which those are held that empty an assignment. */
export interface EmptiedVerdict {
  readonly passed: readonly EntryChange[];
  readonly held: readonly EntryChange[];
  /** When the next of the held ones passes, if it stays empty; undefined: none is held. */
  readonly until: number | undefined;
}

/**
 * Holds assignments that become empty, each by itself and for a limited time. The caller judges the wanted state again
 * when anything changes, and at `until`.
 */
export class EmptiedHold {
  /** Since when each place is to be empty. */
  #since = new Map<string, number>();

  /**
   * `changes` are what is wanted and not in force; `empties` says whether a change leaves an assignment that has
   * endpoints without any. A place that is not among them any more is forgotten.
   */
  judge(
    changes: readonly EntryChange[],
    {
      empties,
      time,
      holdMs,
    }: {
      readonly empties: (change: EntryChange) => boolean;
      readonly time: number;
      readonly holdMs: number | "off";
    },
  ): EmptiedVerdict {
    const passed: EntryChange[] = [];
    const held: EntryChange[] = [];
    const since = new Map<string, number>();
    let until: number | undefined;
    for (const change of changes) {
      if (holdMs === "off" || change.after === undefined || !empties(change)) {
        passed.push(change);
        continue;
      }
      const key = placeKey(change);
      // A clock that was set back must not make the hold longer.
      const from = Math.min(this.#since.get(key) ?? time, time);
      if (time >= from + holdMs) {
        passed.push(change);
        continue;
      }
      since.set(key, from);
      held.push(change);
      until = Math.min(until ?? Number.POSITIVE_INFINITY, from + holdMs);
    }
    this.#since = since;
    return { passed, held, until };
  }
}
