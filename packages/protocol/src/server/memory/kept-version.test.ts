import { expect, test } from "vitest";
import { keptVersion } from "./kept-version.ts";

test("a version is remembered as it is, unless it is longer than any that was told", () => {
  const longest = "v".repeat(256);
  expect([undefined, "", "1", longest, `${longest}v`].map((version) => keptVersion(version))).toEqual([
    undefined,
    "",
    "1",
    longest,
    "",
  ]);
});
