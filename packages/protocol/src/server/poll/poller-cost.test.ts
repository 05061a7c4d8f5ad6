import { expect, test } from "vitest";
import { bytesOfNames, bytesOfPoller, bytesOfValue } from "./poller-cost.ts";

test("plain data costs what it is decoded to: a text, a number, empty and filled lists and objects", () => {
  const values = ["abc", "é", "a…", 1, true, null, undefined, [], {}, [1, [2]], { a: 1, bc: {} }];
  expect(values.map(bytesOfValue)).toEqual([
    ...[32 + 3, 32 + 1, 32 + 4],
    ...[16, 16, 16, 16, 72, 72],
    200 + 16 + (200 + 16),
    200 + (24 + 32 + 1 + 16) + (24 + 32 + 2 + 72),
  ]);
});

test("names cost more where each that is missing is reported", () => {
  const names = new Set(["a", "bcd", "…"]);
  expect([false, true].map((reportsMissing) => bytesOfNames(names, reportsMissing))).toEqual([
    3 * 128 + 1 + 3 + 2,
    3 * 640 + 1 + 3 + 2,
  ]);
});

test("a poller costs its key and the reason of its NACK", () => {
  expect([bytesOfPoller("key", undefined), bytesOfPoller("key", "no")]).toEqual([
    3_072 + 32 + 3,
    3_072 + 32 + 3 + 32 + 2,
  ]);
});
