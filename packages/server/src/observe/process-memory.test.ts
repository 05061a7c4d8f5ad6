import { afterEach, expect, test, vi } from "vitest";
import { externalBytes, heapBytes, residentBytes } from "./process-memory.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

test("is what Node says", () => {
  const { rss, heapUsed, external } = process.memoryUsage();
  expect(residentBytes() / rss).toBeCloseTo(1, 1);
  expect(heapBytes() / heapUsed).toBeCloseTo(1, 1);
  expect(externalBytes() / external).toBeCloseTo(1, 1);
});

test("is the highest resident memory so far if the current one cannot be read", () => {
  const rss = process.memoryUsage.rss();
  vi.spyOn(process.memoryUsage, "rss").mockImplementation(() => {
    throw new Error("EMFILE: too many open files, uv_resident_set_memory");
  });
  expect(residentBytes()).toBeGreaterThanOrEqual(rss * 0.9);
});
