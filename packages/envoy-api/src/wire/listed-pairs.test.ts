import { expect, test } from "vitest";
import { ListedPairs } from "./listed-pairs.ts";

const bytesOf = (...fours: readonly number[]): Buffer => Buffer.from(Int32Array.from(fours).buffer);

/** The step of the hash: what is mixed in last can undo any difference before it. */
function mix(hash: number, value: number): number {
  const product = Math.imul(hash ^ value, 0x9e3779b1);
  return product ^ (product >>> 15);
}

/** Pairs of eight bytes that all have one hash. */
function colliding(count: number): readonly Buffer[] {
  return Array.from({ length: count }, (_, i) => bytesOf(i, mix(8, i) ^ 0x1234));
}

function numbersOf(pairs: ListedPairs, list: readonly Buffer[]): readonly number[] {
  return list.map((bytes) => pairs.numberOf(bytes, 0, bytes.length));
}

test("pairs with one hash are told apart by their bytes; of more than eight, the others have no number", () => {
  const pairs = new ListedPairs();
  const list = colliding(10);
  const first = [0, 1, 2, 3, 4, 5, 6, 7, -1, -1];
  expect(numbersOf(pairs, list)).toEqual(first);
  expect(numbersOf(pairs, list.toReversed())).toEqual(first.toReversed());
});

test("pairs of all lengths, of which one is the beginning of the other, and those in the middle of a message", () => {
  const pairs = new ListedPairs();
  const text = Buffer.from("abcdabcdabcdabcd");
  const list = Array.from({ length: 16 }, (_, i) => text.subarray(0, i + 1));
  const numbers = numbersOf(pairs, list);
  expect(new Set(numbers).size).toBe(16);
  // At 4 the same bytes come again.
  expect(list.slice(0, 12).map(({ length }) => pairs.numberOf(text, 4, 4 + length))).toEqual(numbers.slice(0, 12));
});

test("of 150,000 pairs no more than 131,072 have a number, and no two have the same", () => {
  const pairs = new ListedPairs();
  const list = Array.from({ length: 150_000 }, (_, i) => bytesOf(i, i >> 3));
  numbersOf(pairs, list);
  const numbered = numbersOf(pairs, list).filter((number) => number >= 0);
  expect(new Set(numbered).size).toBe(numbered.length);
  expect(numbered.length).toBeLessThanOrEqual(131_072);
  expect(numbered.length).toBeGreaterThan(120_000);
});
