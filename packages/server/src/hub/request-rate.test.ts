import type { Account } from "@xdskit/protocol/internal";
import { expect, test } from "vitest";
import { RequestRate } from "./request-rate.ts";

const identity = (key: string): Account => ({ key, by: "identity" });

test("a second's worth comes at once, then one after another; other identities do not wait", () => {
  let now = 0;
  const rate = new RequestRate(10, () => now);
  const [flood, other] = [identity("flood"), identity("other")];
  expect(Array.from({ length: 13 }, () => rate.delayOf(flood))).toEqual([...Array<number>(10).fill(0), 100, 200, 300]);
  expect(rate.delayOf(other)).toBe(0);
  now = 250;
  expect(rate.delayOf(flood)).toBe(150);
  now = 10_000;
  expect(Array.from({ length: 11 }, () => rate.delayOf(flood))).toEqual([...Array<number>(10).fill(0), 100]);
});

test("what a flood left behind delays nobody for more than half a minute", () => {
  let now = 0;
  const rate = new RequestRate(10, () => now);
  const delays = Array.from({ length: 10_000 }, () => rate.delayOf(identity("flood")));
  expect(Math.max(...delays)).toBe(30_000);
  now = 31_000;
  expect(rate.delayOf(identity("flood"))).toBe(0);
});

test("addresses are not slowed, and 0 is no limit", () => {
  const address: Account = { key: "a", by: "address" };
  const rate = new RequestRate(1, () => 0);
  expect([1, 2, 3].map(() => rate.delayOf(address))).toEqual([0, 0, 0]);
  const open = new RequestRate(0, () => 0);
  expect([1, 2, 3].map(() => open.delayOf(identity("a")))).toEqual([0, 0, 0]);
});

test("identities that no longer wait are forgotten", () => {
  let now = 0;
  const rate = new RequestRate(1_000, () => now);
  for (let at = 0; at < 100_000; at++) {
    now += 1;
    rate.delayOf(identity(`one of many ${at}`));
  }
  expect(rate.size).toBeLessThanOrEqual(1_025);
});
