import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { LONGEST_TIMER_MS, startTimer, Timers } from "./timers.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("a wait of 720 hours ends after 720 hours", () => {
  const fired: number[] = [];
  new Timers((timer) => fired.push(timer)).start(1, 30 * DAY_MS);
  vi.advanceTimersByTime(30 * DAY_MS - 1);
  expect(fired).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(fired).toEqual([1]);
  expect(vi.getTimerCount()).toBe(0);
});

test.each([1, LONGEST_TIMER_MS, LONGEST_TIMER_MS + 1, 3 * LONGEST_TIMER_MS, 3 * LONGEST_TIMER_MS + 1])(
  "a wait of %i ms is neither shorter nor longer",
  (ms) => {
    const then = vi.fn<() => void>();
    startTimer(ms, then);
    vi.advanceTimersByTime(ms - 1);
    expect(then).toHaveBeenCalledTimes(0);
    vi.advanceTimersByTime(1);
    expect(then).toHaveBeenCalledTimes(1);
  },
);

test("a wait without end does not end", () => {
  const then = vi.fn<() => void>();
  startTimer(Number.POSITIVE_INFINITY, then);
  vi.advanceTimersByTime(10 * LONGEST_TIMER_MS);
  expect(then).toHaveBeenCalledTimes(0);
});

test("what is cancelled does not fire, in any of its parts, and leaves nothing", () => {
  const fired: number[] = [];
  const timers = new Timers((timer) => fired.push(timer));
  timers.start(1, 30 * DAY_MS);
  timers.start(2, 30 * DAY_MS);
  timers.start(3, 1);
  vi.advanceTimersByTime(29 * DAY_MS);
  timers.cancel(1);
  expect([fired, vi.getTimerCount()]).toEqual([[3], 1]);
  timers.cancelAll();
  vi.advanceTimersByTime(30 * DAY_MS);
  expect([fired, vi.getTimerCount()]).toEqual([[3], 0]);
});

test("started anew, it counts from then", () => {
  const fired: number[] = [];
  const timers = new Timers((timer) => fired.push(timer));
  timers.start(1, 30 * DAY_MS);
  vi.advanceTimersByTime(29 * DAY_MS);
  timers.start(1, 2 * DAY_MS);
  vi.advanceTimersByTime(2 * DAY_MS - 1);
  expect(fired).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(fired).toEqual([1]);
});
