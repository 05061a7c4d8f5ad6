import { startTimer, type Timer } from "@xdskit/disk";

/** Time that the server takes to read what came while it did not read, in milliseconds. */
const READ_WITHIN_MS = 100;

/**
 * Calls `late` after the time that a client has for what it sends. That stands still while the server does not read the
 * connection; `pausedMs` tells for how long it has not so far.
 */
export function startArrivalTimer(ms: number, pausedMs: () => number, late: () => void): Timer {
  const lateAt = performance.now() - pausedMs() + ms;
  let timer: Timer;
  const wait = (leftMs: number): void => {
    timer = startTimer(leftMs, () => {
      const stillMs = lateAt + pausedMs() - performance.now();
      // A timer may fire a moment early.
      if (stillMs < 1) late();
      else wait(Math.max(stillMs, READ_WITHIN_MS));
    });
  };
  wait(ms);
  return { cancel: () => timer.cancel() };
}
