import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { announceAfterMs } from "./certificate-watch.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

describe("a connection is asked to leave before its certificate expires", () => {
  const day = { validFromMs: 0, validToMs: DAY_MS };

  test.each([
    ["in the last hour at most, spread over half of it", day, 0, [23 * HOUR_MS, 23.5 * HOUR_MS]],
    ["in the last tenth of a short life", { validFromMs: 0, validToMs: HOUR_MS }, 0, [0.9 * HOUR_MS, 0.95 * HOUR_MS]],
    ["after half of what is left, when that is less", day, DAY_MS - 60_000, [30_000, 45_000]],
    ["not in its last two seconds", day, DAY_MS - 1_999, [undefined, undefined]],
    ["not when it has expired", day, DAY_MS + 1, [undefined, undefined]],
  ])("%s", (_, lifetime, now, expected) => {
    expect([announceAfterMs(lifetime, now, 0), announceAfterMs(lifetime, now, 1)]).toEqual(expected);
  });

  test("a client that returns with the same certificate is asked a few times, never in a loop", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1_000, max: 365 * DAY_MS }),
        fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })),
        (validToMs, randoms) => {
          let now = 0;
          let asked = 0;
          for (const random of randoms) {
            const after = announceAfterMs({ validFromMs: 0, validToMs }, now, random);
            if (after === undefined) break;
            expect(after).toBeGreaterThanOrEqual((validToMs - now) / 2);
            now += after;
            asked++;
          }
          expect(asked).toBeLessThanOrEqual(25);
        },
      ),
    );
  });
});
