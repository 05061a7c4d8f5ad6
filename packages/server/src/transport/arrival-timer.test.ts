import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { startArrivalTimer } from "./arrival-timer.ts";

const ALLOWED_MS = 1_000;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** When the timer of a connection is late that is not read in these times. */
function lateAt(pauses: readonly (readonly [from: number, to: number])[]): number | undefined {
  const startedAt = performance.now();
  const now = (): number => performance.now() - startedAt;
  const pausedMs = (): number =>
    pauses.reduce((sum, [from, to]) => sum + Math.max(0, Math.min(now(), to) - Math.min(now(), from)), 500);
  let late: number | undefined;
  const timer = startArrivalTimer(ALLOWED_MS, pausedMs, () => {
    late = now();
  });
  vi.advanceTimersByTime(10 * ALLOWED_MS);
  timer.cancel();
  return late;
}

test.each([
  ["is read all the time", [], 1_000],
  ["was not read for a while", [[200, 500]], 1_300],
  [
    "was not read several times",
    [
      [0, 100],
      [500, 600],
      [1_150, 1_250],
    ],
    1_300,
  ],
  // It is looked at every 100 ms.
  ["was not read at the end of its time", [[900, 3_950]], 4_100],
  ["is not read at all", [[0, 100_000]], undefined],
] as const)("a client whose connection %s has the time in which it is read", (_, pauses, late) => {
  expect(lateAt(pauses)).toBe(late);
});

test("a timer that was cancelled is never late, before its time and during a pause", () => {
  for (const cancelAt of [500, 1_500]) {
    let isLate = false;
    const timer = startArrivalTimer(
      ALLOWED_MS,
      () => performance.now(),
      () => {
        isLate = true;
      },
    );
    vi.advanceTimersByTime(cancelAt);
    timer.cancel();
    vi.advanceTimersByTime(10 * ALLOWED_MS);
    expect([isLate, vi.getTimerCount()]).toEqual([false, 0]);
  }
});
