import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { divide, lineThrough, type ServerModel, smallestFleet } from "../src/fleet/simulate.ts";

const random = fc.infiniteStream(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })).map((numbers) => () => {
  const { value } = numbers.next();
  return Number(value);
});

const model: ServerModel = {
  firstSyncMs: { at: 100, each: 1 },
  reconnectMs: { at: 0, each: 0.5 },
  changeMs: { at: 10, each: 0.04 },
  residentMb: { at: 100, each: 0.05 },
  firstSyncBytes: 280_000,
  reconnectBytes: 100,
  changeBytes: 350,
  lagMs: [5, 10, 20],
};
const limits = { changeMs: 1_000, residentMb: 2_048, connections: 50_000 };

describe("the model of a fleet", () => {
  it("gives each client one server", () => {
    fc.assert(
      fc.property(fc.nat(1_000_000), fc.integer({ min: 1, max: 100 }), random, (clients, replicas, next) => {
        const shares = divide(clients, replicas, next);
        expect(shares.length).toBe(replicas);
        expect(shares.every((share) => share >= 0)).toBe(true);
        expect(shares.reduce((sum, share) => sum + share, 0)).toBe(clients);
      }),
    );
  });

  it("goes through the points that were measured", () => {
    expect(lineThrough([2_000, 90], [6_000, 250])).toEqual({ each: 0.04, at: 10 });
  });

  // (1,000 - 10 - 20) / 0.04 clients leave no room for one that has more than its share, so it takes one server more.
  it.each([
    [24_000, 2],
    [100_000, 6],
  ])("is within its limits with a server less: %i clients", (clients, replicas) => {
    let state = 0.5;
    const next = (): number => {
      state = (state * 997 + 0.123) % 1;
      return state;
    };
    const fleet = smallestFleet(model, clients, limits, next);
    expect({ replicas: fleet.replicas, changeBytes: fleet.changeBytes }).toEqual({
      replicas,
      changeBytes: clients * 350,
    });
    expect(fleet.changeMs[1]).toBeLessThanOrEqual(limits.changeMs);
    expect(fleet.residentMb).toBeLessThanOrEqual(limits.residentMb);
  });
});
