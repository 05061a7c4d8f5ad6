import type { Problem } from "@xdskit/source";
import { expect, test } from "vitest";
import { chooseColors } from "./color.ts";
import { formatGithubProblems, formatProblems } from "./problems.ts";

const colors = chooseColors({ write: () => undefined, isTerminal: false, columns: 80 }, {}, "auto");

test("a duplicate is told with its other place", () => {
  const problem: Problem = {
    code: "RESOURCE_DUPLICATE",
    severity: "error",
    file: "b.yaml",
    line: 12,
    column: 3,
    excerpt: "  name: one",
    path: "[0].name",
    message: 'expected another name, got "one"',
    related: { file: "a.yaml", line: 4, column: 3 },
  };
  expect(formatProblems([problem], "config", colors)).toBe(
    [
      'config/b.yaml:12:3: error: expected another name, got "one" [RESOURCE_DUPLICATE]',
      "    12 |   name: one",
      "       |   ^",
      "    at [0].name",
      "    see config/a.yaml:4:3",
      "",
    ].join("\n"),
  );
});

test("a place far to the right in a line is marked in what is shown of it", () => {
  const excerpt = `…${"x".repeat(59)}HERE${"x".repeat(57)}…`;
  const problem: Problem = {
    code: "X",
    severity: "error",
    file: "a.json",
    line: 1,
    column: 400_000,
    excerpt,
    message: "m",
  };
  const [, shown = "", mark = "", ...rest] = formatProblems([problem], ".", colors).split("\n");
  expect([shown.indexOf("HERE"), mark.length - 1, rest]).toEqual([mark.indexOf("^"), mark.indexOf("^"), [""]]);
});

test("a place is below its character, also after wide and combining ones", () => {
  const excerpt = "名前e\u0301: x";
  const problem = { code: "X", severity: "error", file: "a.yaml", line: 1, column: 7, excerpt, message: "m" } as const;
  expect(formatProblems([problem], ".", colors).split("\n")[2]).toBe(`       | ${" ".repeat(7)}^`);
});

test("a line break in the name of a file is escaped", () => {
  const problem = { code: "X", severity: "error", file: "a\nb.yaml", line: 1, message: "m" } as const;
  expect(formatProblems([problem], ".", colors)).toBe("a\\u{a}b.yaml:1: error: m [X]\n");
});

test("a workflow command holds whatever the message holds", () => {
  const problem = { code: "X", severity: "warning", file: "a,b:c.yaml", line: 1, message: "50 %\nof it" } as const;
  expect(formatGithubProblems([problem], ".")).toBe("::warning file=a%2Cb%3Ac.yaml,line=1,title=X::50 %25%0Aof it\n");
});
