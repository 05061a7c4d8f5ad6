import { expect, test } from "vitest";
import { type Problem, sameProblems } from "./problem.ts";

const problem: Required<Problem> = {
  code: "X",
  severity: "warning",
  file: "a.yaml",
  line: 1,
  column: 2,
  excerpt: "a: b",
  path: "a",
  message: "m",
  hint: "h",
  related: { file: "b.yaml", line: 3, column: 4 },
  omitted: { errors: 1, warnings: 2 },
};
const others: readonly Problem[] = [
  { ...problem, code: "Y" },
  { ...problem, severity: "error" },
  { ...problem, file: "c.yaml" },
  { ...problem, line: 9 },
  { ...problem, column: 9 },
  { ...problem, excerpt: "a: c" },
  { ...problem, path: "b" },
  { ...problem, message: "n" },
  { ...problem, hint: "i" },
  { ...problem, related: { ...problem.related, file: "d.yaml" } },
  { ...problem, related: { ...problem.related, line: 9 } },
  { ...problem, related: { ...problem.related, column: 9 } },
  { ...problem, omitted: { errors: 9, warnings: 2 } },
  { ...problem, omitted: { errors: 1, warnings: 9 } },
];

test("problems are the same if they say the same", () => {
  expect(sameProblems([problem], [{ ...problem, related: { ...problem.related } }])).toBe(true);
  expect(others.filter((other) => sameProblems([problem], [other]))).toEqual([]);
  expect([sameProblems([problem], []), sameProblems([], [problem])]).toEqual([false, false]);
});

test("those that are the same objects are not looked into", () => {
  const untouchable = new Proxy(problem, {
    get: () => {
      throw new Error("looked into");
    },
  });
  const one = [untouchable, untouchable];
  expect([sameProblems(one, one), sameProblems(one, [...one])]).toEqual([true, true]);
});
