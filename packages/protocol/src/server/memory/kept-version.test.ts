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

test("a version that the caller set may be longer", () => {
  const told = `${"v".repeat(300)}.1`;
  expect([keptVersion(told), keptVersion(told, [undefined, "v".repeat(300)])]).toEqual(["", told]);
});
