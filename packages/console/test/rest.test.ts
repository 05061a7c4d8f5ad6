import { expect, test } from "vitest";
import { Rest } from "../src/rest.ts";

/** The rests of answers that each take 100 ms, with a change so many milliseconds after each. */
function rests(shortMs: number, changes: readonly number[]): readonly number[] {
  const rest = new Rest(shortMs);
  let now = 0;
  return changes.map((after) => {
    rest.answered(now);
    const restMs = rest.next(now + after);
    now += after + restMs + 100;
    return restMs;
  });
}

test("while changes come all the time, an answer is asked for less and less often, up to every five seconds", () => {
  expect(rests(1_000, [10, 10, 10, 10, 10])).toEqual([1_000, 2_000, 4_000, 5_000, 5_000]);
  expect(rests(2_000, [10, 10, 10])).toEqual([2_000, 4_000, 5_000]);
  expect(rests(10_000, [10, 10])).toEqual([10_000, 10_000]);
});

test("after a quiet time, a change is asked for as soon as at first", () => {
  expect(rests(1_000, [10, 10, 10, 3_000, 10])).toEqual([1_000, 2_000, 4_000, 1_000, 2_000]);
});

test("what a clock asks for is asked again as soon as the answer is there, however slow answers are", () => {
  expect(rests(0, [10, 10, 10, 3_000, 10])).toEqual([0, 0, 0, 0, 0]);
});
