import { describe, expect, test } from "vitest";
import { chooseColors } from "./color.ts";
import { formatTable } from "./table.ts";

const pipe = { write: () => undefined, isTerminal: false, columns: 80 };
const terminal = { ...pipe, isTerminal: true };
const plain = chooseColors(pipe, {}, "auto");
const columns = [
  { title: "NAME", text: (row: readonly [string, string]) => row[0] },
  { title: "WHY", text: (row: readonly [string, string]) => row[1] },
];

describe("a table", () => {
  test("is cut to the width of a terminal, and to nothing in a pipe", () => {
    const rows = [["edge", "a reason that is rather long"]] as const;
    expect(formatTable(rows, columns, { colors: plain, width: 30 })).toBe(
      "NAME  WHY\nedge  a reason that is rather…\n",
    );
    expect(formatTable(rows, columns, { colors: plain, width: undefined })).toBe(
      "NAME  WHY\nedge  a reason that is rather long\n",
    );
  });

  test("has any number of rows", () => {
    const rows = Array.from({ length: 150_000 }, () => ["edge", "ok"] as const);
    const lines = formatTable(rows, columns, { colors: plain, width: 30 }).split("\n");
    expect([lines.length, lines[0], lines[150_000]]).toEqual([150_002, "NAME  WHY", "edge  ok"]);
  });

  test("keeps what came from elsewhere in its cell", () => {
    const rows = [["a\nb", "\u001b[2J\u202e"]] as const;
    expect(formatTable(rows, columns, { colors: plain, width: undefined })).toBe("NAME  WHY\na b    [2J\n");
  });

  test("is aligned under colours", () => {
    const colors = chooseColors(terminal, {}, "auto");
    const colored = [{ title: "STATE", text: () => "ok", color: colors.green }, ...columns];
    expect(formatTable([["n", "w"] as const], colored, { colors, width: undefined })).toContain(
      "\u001b[32mok\u001b[39m     n     w\n",
    );
  });
});

test.each([
  ["a terminal", terminal, {}, "auto", true],
  ["a pipe", pipe, {}, "auto", false],
  ["a terminal without colours", terminal, { TERM: "dumb" }, "auto", false],
  ["NO_COLOR", terminal, { NO_COLOR: "1" }, "auto", false],
  ["an empty NO_COLOR", terminal, { NO_COLOR: "" }, "auto", true],
  ["FORCE_COLOR in a pipe", pipe, { FORCE_COLOR: "1" }, "auto", true],
  ["FORCE_COLOR=0", terminal, { FORCE_COLOR: "0" }, "auto", false],
  ["NO_COLOR before FORCE_COLOR", pipe, { NO_COLOR: "1", FORCE_COLOR: "1" }, "auto", false],
  ["--no-color", terminal, { FORCE_COLOR: "1" }, "never", false],
] as const)("colours: %s", (_, output, env, flag, expected) => {
  expect(chooseColors(output, env, flag).isColorSupported).toBe(expected);
});
