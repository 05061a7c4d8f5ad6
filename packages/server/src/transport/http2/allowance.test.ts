import { expect, test } from "vitest";
import { Allowance } from "./allowance.ts";

test("a burst at once, then as many as the time that has passed", () => {
  const allowance = new Allowance({ burst: 3, perSecond: 10 });
  const take = (nowMs: number, times: number): readonly boolean[] =>
    Array.from({ length: times }, () => allowance.take(nowMs));
  expect(take(5_000, 3)).toEqual([true, true, true]);
  expect(take(5_300, 3)).toEqual([true, true, true]);
  expect(take(5_350, 1)).toEqual([false]);
  expect(take(60_000, 4)).toEqual([true, true, true, false]);
});

test("what is given back may be taken again, up to the burst", () => {
  const allowance = new Allowance({ burst: 2, perSecond: 0 });
  allowance.give();
  expect([allowance.take(0), allowance.take(0)]).toEqual([true, true]);
  allowance.give();
  expect([allowance.take(0), allowance.take(0)]).toEqual([true, false]);
});
