import { expect, test } from "vitest";
import { type Burst, burstEndsAtMs, extendBurst, type Patience, readableAtMs } from "./quiet.ts";

const patience: Patience = { quietMs: 50, longestMs: 1000 };

function burstOf(changes: readonly (readonly [number, "new" | "known"])[]): Burst | undefined {
  return changes.reduce<Burst | undefined>(
    (burst, [atMs, kind]) => extendBurst(burst, kind === "new", atMs),
    undefined,
  );
}

test.each<[string, readonly (readonly [number, "new" | "known"])[], number]>([
  ["one change is over after a quiet time", [[0, "new"]], 50],
  [
    "a later change makes it wait again",
    [
      [0, "new"],
      [40, "known"],
    ],
    90,
  ],
  [
    "a long burst may have long gaps",
    [
      [0, "new"],
      [800, "new"],
    ],
    1000,
  ],
  [
    "the same path again and again is heard in the end",
    [
      [0, "new"],
      [500, "known"],
      [990, "known"],
    ],
    1000,
  ],
  [
    "new paths are waited for",
    [
      [0, "new"],
      [900, "new"],
      [1800, "new"],
    ],
    2250,
  ],
  [
    "but not for ever",
    [
      [0, "new"],
      [5000, "new"],
      [9990, "new"],
    ],
    10_000,
  ],
])("%s", (_, changes, endsAtMs) => {
  const burst = burstOf(changes);
  expect(burst && burstEndsAtMs(burst, patience)).toBe(endsAtMs);
});

test.each([
  [[[0, "new"]], 25],
  [
    [
      [0, "new"],
      [40, "known"],
    ],
    65,
  ],
  [
    [
      [0, "new"],
      [800, "new"],
    ],
    900,
  ],
] as const)("files are read after half of the wait (%j)", (changes, readAtMs) => {
  const burst = burstOf(changes);
  expect(burst && readableAtMs(burst, patience)).toBe(readAtMs);
});
