import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { script, tries } from "../support/script.ts";
import { type WarmingOptions, WarmingWorld } from "../support/warming-world.ts";

const delta = { variant: "delta", isAggregated: false } as const;
const sotw = { variant: "sotw", isAggregated: false } as const;
const adsDelta = { variant: "delta", isAggregated: true } as const;
const adsSotw = { variant: "sotw", isAggregated: true } as const;

const worlds: readonly (readonly [string, WarmingOptions])[] = [
  ["a delta stream for each type", { clients: [delta] }],
  ["a stream of State of the World for each type", { clients: [sotw] }],
  ["two clients of one node id, each with a delta stream for each type", { clients: [delta, delta] }],
  [
    "clients of all kinds under one node id, in small pieces",
    { clients: [delta, sotw, adsDelta, adsSotw], maxResponseBytes: 1 },
  ],
  ["one delta stream that breaks", { clients: [adsDelta], breaks: true }],
  ["one stream of State of the World that breaks", { clients: [adsSotw], breaks: true }],
  ["clients of all kinds whose streams break", { clients: [delta, sotw, adsDelta, adsSotw], breaks: true }],
];

describe.each(worlds)("with %s", (_, options) => {
  test("C-WRM-02 C-WRM-04 in whatever order streams deliver, every Cluster and Listener comes into use without a timeout", () => {
    fc.assert(
      fc.property(script, (steps) => {
        const world = new WarmingWorld(options);
        for (const step of steps) world.step(step);
        world.settle();
        for (const { view, isComplete } of world.clients)
          expect({ view, isComplete }).toEqual({ view: world.expected, isComplete: true });
      }),
      tries,
    );
  });
});
