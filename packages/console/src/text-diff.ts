/** A line of two texts: in both, only in the first, or only in the second. */
export interface DiffLine {
  readonly kind: "same" | "removed" | "added";
  readonly text: string;
}

/** Lines around a difference that are shown with it. */
const CONTEXT = 3;
/** Texts that differ in more lines are shown one after the other. */
const MOST_EDITS = 1_000;

/** What differs between two texts, line by line. */
export function diffLines(before: string, after: string): readonly DiffLine[] {
  const [a, b] = [linesOf(before), linesOf(after)];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  const [from, to] = [a.slice(start, a.length - end), b.slice(start, b.length - end)];
  const between = shortestEdit(from, to) ?? [...from.map(removed), ...to.map(added)];
  return [...a.slice(0, start).map(same), ...between, ...a.slice(a.length - end).map(same)];
}

/** The differences with some lines around each; a number stands for so many equal lines. */
export function withContext(lines: readonly DiffLine[]): readonly (DiffLine | number)[] {
  const isShown = new Uint8Array(lines.length);
  for (const [index, { kind }] of lines.entries())
    if (kind !== "same") isShown.fill(1, Math.max(0, index - CONTEXT), index + CONTEXT + 1);
  const shown: (DiffLine | number)[] = [];
  for (const [index, line] of lines.entries()) {
    const last = shown.at(-1);
    if (isShown[index] === 1) shown.push(line);
    else if (typeof last === "number") shown[shown.length - 1] = last + 1;
    else shown.push(1);
  }
  return shown;
}

function linesOf(text: string): readonly string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}

const same = (text: string): DiffLine => ({ kind: "same", text });
const removed = (text: string): DiffLine => ({ kind: "removed", text });
const added = (text: string): DiffLine => ({ kind: "added", text });

/** The fewest changes that lead from one to the other (Myers); undefined: they are too many. */
function shortestEdit(a: readonly string[], b: readonly string[]): readonly DiffLine[] | undefined {
  /** For each number of edits: how far each diagonal reaches in `a`. */
  const reached: Map<number, number>[] = [];
  for (let edits = 0; edits <= Math.min(a.length + b.length, MOST_EDITS); edits++) {
    const now = new Map<number, number>();
    reached.push(now);
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      let x = edits === 0 ? 0 : beginOf(reached[edits - 1], diagonal).x;
      while (x < a.length && x - diagonal < b.length && a[x] === b[x - diagonal]) x++;
      now.set(diagonal, x);
      if (x >= a.length && x - diagonal >= b.length) return walkBack(a, b, reached);
    }
  }
  return undefined;
}

/** Where a diagonal begins after one more edit, and from which diagonal that edit comes. */
function beginOf(before: ReadonlyMap<number, number> | undefined, diagonal: number): { x: number; from: number } {
  const [below, above] = [before?.get(diagonal - 1) ?? -1, before?.get(diagonal + 1) ?? -1];
  return below < above ? { x: above, from: diagonal + 1 } : { x: below + 1, from: diagonal - 1 };
}

function walkBack(
  a: readonly string[],
  b: readonly string[],
  reached: readonly ReadonlyMap<number, number>[],
): readonly DiffLine[] {
  const lines: DiffLine[] = [];
  let [x, y] = [a.length, b.length];
  for (let edits = reached.length - 1; edits >= 0; edits--) {
    const { x: begin, from } = edits === 0 ? { x: 0, from: 0 } : beginOf(reached[edits - 1], x - y);
    while (x > begin) {
      lines.push(same(a[--x] ?? ""));
      y--;
    }
    if (edits === 0) break;
    if (from > x - y) lines.push(added(b[--y] ?? ""));
    else lines.push(removed(a[--x] ?? ""));
  }
  return lines.reverse();
}
