/** A run of a list: consecutive items of the previous list, or of the new items. */
export interface Run {
  readonly of: "before" | "new";
  readonly begin: number;
  readonly end: number;
}

/** The edit from one list to the next, by identity; appends new items to `fresh`. */
export function runsBetween<T>(before: readonly T[], after: readonly T[], fresh: T[]): readonly Run[] {
  const places = new Map(before.map((item, index) => [item, index]));
  const runs: { of: Run["of"]; begin: number; end: number }[] = [];
  for (const item of after) {
    const place = places.get(item);
    const of = place === undefined ? "new" : "before";
    const index = place ?? fresh.push(item) - 1;
    const last = runs.at(-1);
    if (last?.of === of && last.end === index) last.end++;
    else runs.push({ of, begin: index, end: index + 1 });
  }
  return runs;
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
