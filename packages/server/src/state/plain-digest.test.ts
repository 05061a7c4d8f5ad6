import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { plainDigest } from "./plain-digest.ts";

const RUNS = 500;
const anyJson = fc.jsonValue({ maxDepth: 4 });

describe("the digest of plain data", () => {
  test("is equal for copies, and differs for all else", () => {
    const textOf = (value: unknown): string => JSON.stringify(value, (_, one) => (Object.is(one, -0) ? "-0!" : one));
    fc.assert(
      fc.property(anyJson, anyJson, (a, b) => {
        expect(plainDigest(structuredClone(a))).toBe(plainDigest(a));
        expect(plainDigest(a) === plainDigest(b)).toBe(textOf(a) === textOf(b));
      }),
      { numRuns: RUNS },
    );
  });

  test.each([
    ["zero and minus zero", { a: 0 }, { a: -0 }],
    ["null and NaN", { a: null }, { a: Number.NaN }],
    ["a number and a bigint", { a: 1 }, { a: 1n }],
    ["a number and a string", { a: 1 }, { a: "1" }],
    ["a string and the text of two", { a: "b1:c" }, { a: "b", c: "" }],
    ["lists of other depth", [[1], 2], [[1, 2]]],
    ["a record and a list", {}, []],
  ])("tells %s apart", (_, one, other) => {
    expect(plainDigest(one)).not.toBe(plainDigest(other));
  });

  const cycle: { inner?: object } = {};
  cycle.inner = cycle;
  test.each([
    ["a function", { a: () => 1 }],
    ["a symbol", [Symbol("a")]],
    ["an instance of a class", { a: new Date(0) }],
    ["bytes", { a: new Uint8Array(1) }],
    ["a cycle", cycle],
    ["a lone surrogate, in a value", { a: "\uD800" }],
    ["a lone surrogate, in a key", { "\uDC00": 1 }],
  ])("does not exist for %s", (_, value) => {
    expect(plainDigest(value)).toBeUndefined();
  });
});
