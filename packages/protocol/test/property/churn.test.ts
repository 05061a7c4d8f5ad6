import fc from "fast-check";
import { afterEach, describe, expect, test, vi } from "vitest";
import { PinnedTargets } from "../../src/server/order/pinned-targets.ts";
import { type ChurnOptions, churn } from "../support/churn.ts";
import { type MeshClient, meshClients } from "../support/mesh-script.ts";
import { tries } from "../support/script.ts";

afterEach(() => vi.restoreAllMocks());

type User = ChurnOptions["user"];

/** On streams of their own it is not known whether a Listener that goes on changing was used before its next version came. */
const usersOf = ({ isAggregated }: MeshClient): readonly User[] =>
  isAggregated ? ["route", "listener", "both"] : ["route", "listener"];

const optionsFor = (client: MeshClient): fc.Arbitrary<ChurnOptions> =>
  fc
    .record({
      roundTripMs: fc.constantFrom(10, 60, 200, 500, 1_200),
      everyMs: fc.constantFrom(30, 100, 250),
      changes: fc.nat(80),
      isGrowing: fc.boolean(),
      user: fc.constantFrom(...usersOf(client)),
    })
    .map(({ isGrowing, ...rest }) => ({
      ...rest,
      // What is removed was of use to the client for a while: nobody can follow what comes and goes within a round trip.
      window: isGrowing ? Number.POSITIVE_INFINITY : 2 + Math.ceil((8 * rest.roundTripMs) / rest.everyMs),
    }));

describe.each(meshClients)("while Clusters come and go all the time ($is)", (client) => {
  test("S-ORD-06 what uses them follows within a few round trips, and what is gone goes; nothing is lost", () => {
    fc.assert(
      fc.property(optionsFor(client), (how) => {
        const boundMs = 10 * how.roundTripMs + 10 * how.everyMs;
        const { stalestMs, longestHeldMs, overdue, lost } = churn(client, how);
        expect({ overdue, lost }).toEqual({ overdue: 0, lost: [] });
        expect({ how, stalestMs }).toEqual({ how, stalestMs: Math.min(stalestMs, boundMs) });
        expect({ how, longestHeldMs }).toEqual({ how, longestHeldMs: Math.min(longestHeldMs, 2 * boundMs) });
      }),
      { numRuns: Math.ceil(tries.numRuns / 24) },
    );
  });

  test("without targets it does not follow at all", () => {
    const untold = (waiting: ReadonlyMap<string, unknown>): ReadonlyMap<string, undefined> =>
      new Map([...waiting.keys()].map((name) => [name, undefined]));
    vi.spyOn(PinnedTargets.prototype, "ofEach").mockImplementation((_user, waiting) => untold(waiting));
    const how = {
      roundTripMs: 300,
      everyMs: 100,
      changes: 100,
      window: Number.POSITIVE_INFINITY,
      user: "route",
    } as const;
    expect(churn(client, how).stalestMs).toBeGreaterThanOrEqual(9_900);
  });
});
