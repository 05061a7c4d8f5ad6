import { expect, test } from "vitest";
import { bytesOfValue } from "./value-cost.ts";

test("plain data costs what it is decoded to: a text, a number, empty and filled lists and objects", () => {
  const values = ["abc", "é", "a…", 1, true, null, undefined, [], {}, [1, [2]], { a: 1, bc: {} }];
  expect(values.map(bytesOfValue)).toEqual([
    ...[32 + 3, 32 + 1, 32 + 4],
    ...[16, 16, 16, 16, 72, 72],
    200 + 16 + (200 + 16),
    200 + (24 + 32 + 1 + 16) + (24 + 32 + 2 + 72),
  ]);
});
