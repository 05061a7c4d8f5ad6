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
  readonly #sent: readonly T[];
  /** Where those are that were sent; made for the first item that is not the next of them. */
  #places: ReadonlyMap<T, number> | undefined;
  /** Where the next item is expected. */
  #next = 0;

  constructor(sent: readonly T[] = []) {
    this.list = [...sent];
    this.#sent = sent;
  }

  get unsent(): readonly T[] {
    return this.list.slice(this.#sent.length);
  }

  /** Where an item is in the list, to which it is added unless it was sent. */
  add(item: T): number {
    const at = this.#sent[this.#next] === item ? this.#next : (this.#placeOf(item) ?? this.list.push(item) - 1);
    this.#next = at + 1;
    return at;
  }

  #placeOf(item: T): number | undefined {
    if (this.#sent.length === 0) return undefined;
    this.#places ??= new Map(this.#sent.map((one, index) => [one, index]));
    return this.#places.get(item);
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
    const place = places.size === 0 ? undefined : places.get(item);
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
