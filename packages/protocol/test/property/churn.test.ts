import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { churn } from "../support/churn.ts";
import { meshClients } from "../support/mesh-script.ts";
import { tries } from "../support/script.ts";

const options = fc
  .record({
    roundTripMs: fc.constantFrom(10, 60, 200, 500, 1_200),
    everyMs: fc.constantFrom(30, 100, 250),
    changes: fc.nat(80),
    isGrowing: fc.boolean(),
    user: fc.constantFrom("route" as const, "listener" as const, "both" as const),
  })
  .map(({ isGrowing, ...rest }) => ({
    ...rest,
    // What is removed was of use to the client for a while: nobody can follow what comes and goes within a round trip.
    window: isGrowing ? Number.POSITIVE_INFINITY : 2 + Math.ceil((8 * rest.roundTripMs) / rest.everyMs),
  }));

describe.each(meshClients)("while Clusters come and go all the time ($is)", (client) => {
  test("S-ORD-06 what uses them follows within a few round trips, and what is gone goes; nothing is lost", () => {
    fc.assert(
      fc.property(options, (how) => {
        const boundMs = 10 * how.roundTripMs + 10 * how.everyMs;
        const { stalestMs, longestHeldMs, overdue, lost } = churn(client, how);
        expect({ overdue, lost }).toEqual({ overdue: 0, lost: [] });
        expect({ how, stalestMs }).toEqual({ how, stalestMs: Math.min(stalestMs, boundMs) });
        expect({ how, longestHeldMs }).toEqual({ how, longestHeldMs: Math.min(longestHeldMs, 2 * boundMs) });
      }),
      { numRuns: Math.ceil(tries.numRuns / 24) },
    );
  });
});
