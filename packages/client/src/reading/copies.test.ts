import { expect, test } from "vitest";
import { Copies } from "./copies.ts";

/** The sizes of the sheets that hold copies of so many bytes each, one after the other. */
function sheetsOf(lengths: readonly number[]): readonly number[] {
  const copies = new Copies();
  const sheets = new Set(lengths.map((length) => copies.of(new Uint8Array(length)).buffer));
  return [...sheets].map(({ byteLength }) => byteLength);
}

test("a copy holds what was copied, and nothing of where that was", () => {
  const copies = new Copies();
  const given = Uint8Array.of(9, 1, 2, 3, 9).subarray(1, 4);
  const [one, two] = [copies.of(given), copies.of(given)];
  given.fill(0);
  expect([one, two]).toEqual([Uint8Array.of(1, 2, 3), Uint8Array.of(1, 2, 3)]);
  expect(one.buffer).not.toBe(given.buffer);
});

test("small ones that come together share sheets, which grow with what came; one alone takes what it has", () => {
  expect(sheetsOf([300])).toEqual([300]);
  expect(sheetsOf([300, 300, 300, 300, 300])).toEqual([300, 300, 600, 1_200]);
  const many = sheetsOf(Array.from({ length: 1_000 }, () => 300));
  expect(Math.max(...many)).toBe(8 * 1024);
  expect(many.reduce((sum, size) => sum + size)).toBeLessThan(1.1 * 300_000);
});

test("a large one shares nothing", () => {
  expect(sheetsOf([300, 300, 5_000, 300])).toEqual([300, 300, 5_000, 600]);
});
