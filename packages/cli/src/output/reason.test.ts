import { expect, test } from "vitest";
import { trimReason } from "./reason.ts";

test.each([
  ["no good\\n", "no good"],
  ["no good \n\\r\\n", "no good"],
  ["one\\ntwo", "one\\ntwo"],
  ["", ""],
])("%j is shown as %j", (reason, shown) => expect(trimReason(reason)).toBe(shown));
