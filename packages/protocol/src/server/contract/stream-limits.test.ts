import { describe, expect, test } from "vitest";
import { delta, sotw } from "../../../test/support/conversation.ts";
import { CLUSTER } from "../../../test/support/resources.ts";
import { excessOf, namesIn } from "./stream-limits.ts";

describe("S-SUB-20: the names that a request subscribes to at least", () => {
  test("are counted above the limit only, each once and without the wildcard", () => {
    const names = ["a", "b", "a", "*"];
    expect([3, 4].map((most) => namesIn(sotw(CLUSTER, { names }), most))).toEqual([2, 0]);
    expect([3, 4].map((most) => namesIn(delta(CLUSTER, { subscribe: names }), most))).toEqual([2, 0]);
    const distinct = new Set(names);
    expect([3, 4].map((most) => namesIn(delta(CLUSTER, { subscribe: names, distinct }), most))).toEqual([2, 0]);
  });

  test("are unknown where delta also unsubscribes", () => {
    expect(namesIn(delta(CLUSTER, { subscribe: ["a", "b"], unsubscribe: ["a"] }), 1)).toBe(0);
  });
});

describe("a stream exceeds", () => {
  const usage = { subscriptions: 2, kept: 2, types: 3, unanswered: 4 };

  test("no limit that is not set, or that it only reaches", () => {
    const reached = { maxSubscriptionsPerStream: 2, maxTypesPerStream: 3, maxUnacknowledgedPerType: 4 };
    expect([excessOf(usage, {}), excessOf(usage, reached)]).toEqual([undefined, undefined]);
  });

  test.each([
    [
      { maxSubscriptionsPerStream: 1 },
      { limit: "maxSubscriptionsPerStream", message: "subscribed to 2 names; at most 1 per stream are served" },
    ],
    [
      { maxTypesPerStream: 2 },
      { limit: "maxTypesPerStream", message: "asks for 3 types; at most 2 per stream are served" },
    ],
    [
      { maxUnacknowledgedPerType: 3 },
      {
        limit: "maxUnacknowledgedPerType",
        message: "4 responses of a type were neither accepted nor refused; at most 3 may be",
      },
    ],
  ])("%o", (limits, expected) => {
    expect(excessOf(usage, limits)).toEqual(expected);
  });

  test("the limit of names by those that it keeps, too", () => {
    expect(excessOf({ ...usage, subscriptions: 1 }, { maxSubscriptionsPerStream: 1 })).toEqual({
      limit: "maxSubscriptionsPerStream",
      message: "2 names are kept for responses that were not accepted; at most 1 per stream are",
    });
  });
});
