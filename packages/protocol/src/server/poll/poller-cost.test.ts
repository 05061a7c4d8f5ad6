import { expect, test } from "vitest";
import { bytesOfNames, bytesOfPoller } from "./poller-cost.ts";

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
