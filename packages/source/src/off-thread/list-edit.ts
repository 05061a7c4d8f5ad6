import { changedRange } from "../changed-range.ts";

/** A run of a list: consecutive items of the previous list, or of the new items. */
export interface Run {
  readonly of: "before" | "new";
  readonly begin: number;
  readonly end: number;
}

/** New items of lists, some of which were sent before it was known where they belong. */
export class FreshItems<T> {
  readonly list: T[];
  readonly #sent: ReadonlyMap<T, number>;

  constructor(sent: readonly T[] = []) {
    this.list = [...sent];
    this.#sent = new Map(sent.map((item, index) => [item, index]));
  }

  get unsent(): readonly T[] {
    return this.list.slice(this.#sent.size);
  }

  /** Where an item is in the list, to which it is added unless it was sent. */
  add(item: T): number {
    return this.#sent.get(item) ?? this.list.push(item) - 1;
  }
}

/**
 * The edit from one list to the next, by identity; appends new items to `fresh`. No item is in a list twice. Only what
 * lies between the equal beginnings and the equal ends is looked up.
 */
export function runsBetween<T>(before: readonly T[], after: readonly T[], fresh: FreshItems<T>): readonly Run[] {
  const { begin, endBefore, end } = changedRange(before, after);
  const places = new Map(before.slice(begin, endBefore).map((item, index) => [item, begin + index]));
  const runs = new Runs();
  runs.add("before", 0, begin);
  for (const item of after.slice(begin, end)) {
    const place = places.get(item);
    const at = place ?? fresh.add(item);
    runs.add(place === undefined ? "new" : "before", at, at + 1);
  }
  runs.add("before", endBefore, before.length);
  return runs.list;
}

class Runs {
  readonly list: { of: Run["of"]; begin: number; end: number }[] = [];

  /** Continues the last run where it can. */
  add(of: Run["of"], begin: number, end: number): void {
    if (begin === end) return;
    const last = this.list.at(-1);
    if (last?.of === of && last.end === begin) last.end = end;
    else this.list.push({ of, begin, end });
  }
}

/** The items of the previous list that are in no run. */
export function leftOut<T>(runs: readonly Run[], before: readonly T[]): readonly T[] {
  const kept = runs.filter(({ of }) => of === "before").sort((a, b) => a.begin - b.begin);
  const left: T[] = [];
  let end = 0;
  for (const run of [...kept, { begin: before.length, end: before.length }]) {
    for (const item of before.slice(end, run.begin)) left.push(item);
    end = run.end;
  }
  return left;
}

/** Applies the edit. */
export function applyRuns<T>(runs: readonly Run[], before: readonly T[], fresh: readonly T[]): readonly T[] {
  const after: T[] = [];
  for (const { of, begin, end } of runs) {
    const list = of === "before" ? before : fresh;
    for (const item of list.slice(begin, end)) after.push(item);
  }
  return after;
}
