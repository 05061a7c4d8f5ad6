import { expect, test } from "vitest";
import { nearest } from "./nearest.ts";

const words = ["listen", "admin", "limits.max-streams", "resources", "static_resources"];

test.each([
  ["lisen", "listen"],
  ["lsiten", "listen"],
  ["Listen", "listen"],
  ["limits.maxStream", "limits.max-streams"],
  ["resource", "resources"],
  ["staticResources", "static_resources"],
  ["something", undefined],
  ["", undefined],
])("%s is near to %s", (word, expected) => {
  expect(nearest(word, words)).toBe(expected);
});
