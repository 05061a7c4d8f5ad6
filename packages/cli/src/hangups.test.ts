import { afterEach, expect, test } from "vitest";
import { Hangups } from "./hangups.ts";

afterEach(() => {
  process.removeAllListeners("SIGHUP");
});

test.each([
  [false, { told: [0, 1, 2], ended: 0 }],
  [true, { told: [0, 0, 0], ended: 3 }],
] as const)("SIGHUP is kept until there is a listener; terminal closed: %s", (isLost, expected) => {
  let ended = 0;
  let count = 0;
  const hangups = new Hangups({ hasLostTerminal: () => isLost, end: () => ended++ });
  hangups.hold();
  process.emit("SIGHUP");
  process.emit("SIGHUP");
  const told = [count];
  hangups.listen(() => count++);
  told.push(count);
  process.emit("SIGHUP");
  told.push(count);
  expect({ told, ended }).toEqual(expected);
});
