import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { columnInExcerpt, TextPosition } from "./text-position.ts";

test("of a line of any length a window is shown, and the column in it", () => {
  const line = fc.string({ unit: fc.constantFrom("a", "b", "c", "d", " "), maxLength: 400 });
  fc.assert(
    fc.property(
      fc.array(line, { minLength: 1, maxLength: 3 }),
      fc.constantFrom("\n", "\r\n"),
      fc.nat(),
      (lines, end, at) => {
        const text = lines.join(end);
        const offset = at % (text.length + 1);
        const position = new TextPosition(text);
        const place = position.placeOf(offset);
        const whole = (lines[place.line - 1] ?? "").trimEnd();
        const excerpt = position.excerptOf(place);
        expect(excerpt.length).toBeLessThanOrEqual(122);
        expect(whole).toContain(excerpt.replace(/^…/, "").replace(/…$/, ""));
        expect(excerpt.length <= 120 ? excerpt.startsWith("…") || whole.startsWith(excerpt) : true).toBe(true);
        // Past the end of the line there is nothing to point at.
        const shown = excerpt.charAt(columnInExcerpt(place.column) - 1);
        expect(place.column > whole.length ? "" : whole.charAt(place.column - 1)).toBe(
          place.column > whole.length ? "" : shown,
        );
      },
    ),
  );
});

test("what is asked of a line is asked once, however many places in it are shown", () => {
  const line = `{"clusters":[${"{},".repeat(50_000)}{}]}`;
  const position = new TextPosition(`first\n${line}\nlast`);
  let askedCharacters = 0;
  const ask = (text: string): boolean => {
    askedCharacters += text.length;
    return text.includes("clusters");
  };
  const answers = new Set(
    Array.from({ length: 50_000 }, (_, i) => position.isOfLine(position.placeOf(i + 10).line, ask)),
  );
  expect([answers, position.isOfLine(1, ask), position.isOfLine(3, ask)]).toEqual([new Set([true]), false, false]);
  expect(askedCharacters).toBe("first".length + line.length + "last".length);
});

test("a place is the same in whatever order places are asked for", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "b", "\n"), maxLength: 40 });
  fc.assert(
    fc.property(text, fc.array(fc.nat({ max: 45 })), (given, offsets) => {
      const position = new TextPosition(given);
      const expected = offsets.map((offset) => {
        const lines = given.slice(0, offset).split("\n");
        return { line: lines.length, column: (lines.at(-1) ?? "").length + 1 };
      });
      expect(offsets.map((offset) => position.placeOf(offset))).toEqual(expected);
    }),
  );
});

test("for a place in the first lines of a text the others are not looked for", () => {
  const searching = vi.spyOn(String.prototype, "indexOf");
  const counts = [1_000, 100_000].map((lines) => {
    const position = new TextPosition("line\n".repeat(lines));
    searching.mockClear();
    const place = position.placeOf(52);
    return [place, position.excerptOf(place), searching.mock.calls.length];
  });
  searching.mockRestore();
  expect(counts).toEqual([
    [{ line: 11, column: 3 }, "line", 11],
    [{ line: 11, column: 3 }, "line", 11],
  ]);
});
