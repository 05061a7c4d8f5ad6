import { expect, test } from "vitest";
import { describeProblem } from "./describe-problem.ts";
import {
  aFlag,
  aListOfTexts,
  aName,
  every,
  fields,
  listOf,
  listOr,
  mistake,
  oneOf,
  oneOrMore,
  rule,
  wholeNumber,
} from "./rule.ts";

const anything = rule("an object, or a list of objects", () => false);
const port = fields({ port: wholeNumber(0, 9), name: aName }, { needed: ["name"], elsewhere: ["limits.streams"] });

test.each([
  ["nothing wrong", port, { port: 9, name: "a" }, []],
  ["another kind", port, 7, ["expected an object, got 7"]],
  ["a list for an object", port, [], ["expected an object, got a list"]],
  [
    "several mistakes",
    port,
    { port: 10 },
    ["port: expected a whole number from 0 to 9, got 10", "name: expected a name, got undefined"],
  ],
  ["a typo", port, { prot: 1, name: "a" }, ['prot: unknown option (did you mean "port"?)']],
  ["the wrong place", port, { streams: 1, name: "a" }, ['streams: unknown option (did you mean "limits.streams"?)']],
  ["no near name", port, { zzzzzz: 1, name: "a" }, ["zzzzzz: unknown option (it may be port, name)"]],
  ["inherited names", port, { toString: 1, name: "a" }, ["toString: unknown option (it may be port, name)"]],
  ["a place in a list", listOf(port), [{ name: "a" }, { name: "" }], ['[1].name: expected a name, got ""']],
  ["a list of lists", listOf(listOf(aFlag)), [[], [true, 1]], ["[1][1]: expected true or false, got 1"]],
  ["a single one", listOr(anything, port), 1, ["expected an object, or a list of objects, got 1"]],
  ["none of one or more", oneOrMore(aName), [], ["expected at least one, got none"]],
  [
    "all of several rules",
    every(aListOfTexts, () => [mistake("", "too few")]),
    1,
    ["expected a list of strings, got 1", "too few"],
  ],
  ["a word", oneOf("on", "off"), "of", ['expected one of on, off, got "of"']],
])("%s", (_, judge, value, expected) => {
  const problems = judge(value);
  expect(problems.map(describeProblem)).toEqual(expected);
  expect(problems.map(({ severity }) => severity)).toEqual(expected.map(() => "error"));
});

test("of an object with many fields the hint lists none", () => {
  const many = fields(Object.fromEntries([..."abcdefghi"].map((name) => [name, aFlag])));
  expect(many({ unheard: 1 })).toEqual([mistake("unheard", "unknown option")]);
});
