import { expect, test } from "vitest";
import { regexProblem } from "./regex-check.ts";

test.each([
  "",
  "/api/.*",
  "^/v[0-9]+/(?P<id>[^/]+)$",
  "(?i)abc",
  "a(?i)*",
  "(?i:abc)|(?:d|e)?",
  "[]a]*[^]b]+[a\\]b]",
  "[[:alpha:]_]{1,3}",
  "a*?b+?c??",
  "\\Qa(b\\E+",
  "\\d\\.\\w\\(",
  "a{,2}",
  "^*",
  "(?<name>x)",
])("RE2 takes %j", (regex) => {
  expect(regexProblem(regex)).toBe(undefined);
});

test.each([
  ["(a", "a group is not closed"],
  ["a)", "a group is closed that is not open"],
  ["[a-z", "a character class is not closed"],
  ["[]", "a character class is not closed"],
  ["*a", "a repetition has nothing to repeat"],
  ["a|+", "a repetition has nothing to repeat"],
  ["(?:*)", "a repetition has nothing to repeat"],
  ["a**", "a repetition is repeated"],
  ["a\\", "it ends with a backslash"],
  ["(a)\\1", "it refers back to group 1, which RE2 does not support"],
  ["a(?=b)", 'it looks around with "(?=", which RE2 does not support'],
  ["(?<!a)b", 'it looks around with "(?<!", which RE2 does not support'],
])("RE2 does not take %j", (regex, problem) => {
  expect(regexProblem(regex)).toBe(problem);
});
