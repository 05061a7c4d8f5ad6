import fc from "fast-check";
import { expect, test } from "vitest";
import { type DiffLine, diffLines, withContext } from "../src/text-diff.ts";

const textOf = (lines: readonly DiffLine[]): readonly string[] =>
  lines.map(({ kind, text }) => `${{ same: " ", removed: "-", added: "+" }[kind]}${text}`);

test("the difference of two texts is their lines, with what is only in one of them", () => {
  expect(textOf(diffLines("a\nb\nc\nd\n", "a\nc\nx\nd\n"))).toEqual([" a", "-b", " c", "+x", " d"]);
  expect(textOf(diffLines("", "a\nb\n"))).toEqual(["+a", "+b"]);
  expect(textOf(diffLines("a\n", ""))).toEqual(["-a"]);
  expect(diffLines("", "")).toEqual([]);
});

test("equal lines far from a difference are counted", () => {
  const before = Array.from({ length: 20 }, (_, index) => `${index}`);
  const after = before.map((line) => (line === "9" ? "nine" : line));
  const shown = withContext(diffLines(before.join("\n"), after.join("\n")));
  expect(shown.map((line) => (typeof line === "number" ? line : textOf([line])[0]))).toEqual([
    ...[6, " 6", " 7", " 8", "-9", "+nine", " 10", " 11", " 12", 7],
  ]);
});

test("texts that differ everywhere are shown one after the other, in a moment", () => {
  const lines = (word: string): string => Array.from({ length: 5_000 }, (_, index) => `${word} ${index}`).join("\n");
  const shown = diffLines(lines("a"), lines("b"));
  expect([shown.length, shown[0]?.kind, shown.at(-1)?.kind]).toEqual([10_000, "removed", "added"]);
});

test("each side of a difference is its text, and no shorter difference is there", () => {
  const lines = fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 12 });
  fc.assert(
    fc.property(lines, lines, (before, after) => {
      const found = diffLines(before.join("\n"), after.join("\n"));
      const side = (other: DiffLine["kind"]): readonly string[] =>
        found.filter(({ kind }) => kind !== other).map(({ text }) => text);
      expect([side("added"), side("removed")]).toEqual([before, after]);
      const shared = found.filter(({ kind }) => kind === "same").length;
      expect(shared).toBe(longestCommon(before, after));
    }),
  );
});

/** The length of the longest common subsequence. */
function longestCommon(a: readonly string[], b: readonly string[]): number {
  let row: readonly number[] = Array.from({ length: b.length + 1 }, () => 0);
  for (const line of a) {
    const next: number[] = [0];
    for (const [index, other] of b.entries())
      next.push(line === other ? (row[index] ?? 0) + 1 : Math.max(next[index] ?? 0, row[index + 1] ?? 0));
    row = next;
  }
  return row.at(-1) ?? 0;
}
