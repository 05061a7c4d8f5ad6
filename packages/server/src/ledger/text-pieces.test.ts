import { expect, test } from "vitest";
import { piecesOf } from "./text-pieces.ts";

test.each([
  ["nothing", "", []],
  ["a short text", "a", [1]],
  ["a long text", "a".repeat(600_000), [262_144, 262_144, 75_712]],
  ["one of pairs that begin at even places", "😀".repeat(300_000), [262_144, 262_144, 75_712]],
  ["one of pairs that begin at odd places", `a${"😀".repeat(300_000)}`, [262_143, 262_144, 75_714]],
])("%s is divided between characters", (_, text, lengths) => {
  const pieces = [...piecesOf(text)];
  expect([pieces.map(({ length }) => length), pieces.join("") === text]).toEqual([lengths, true]);
  expect(Buffer.concat(pieces.map((piece) => Buffer.from(piece))).equals(Buffer.from(text))).toBe(true);
});
