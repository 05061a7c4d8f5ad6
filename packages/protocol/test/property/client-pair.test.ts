import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ClientPair, type PairOptions } from "../support/client-pair.ts";
import { script, tries } from "../support/script.ts";

const all = { refusals: true, breaks: true };

const pairs: readonly (readonly [string, PairOptions])[] = [
  ["delta", { variant: "delta", isAggregated: true }],
  ["delta with all that can go wrong", { variant: "delta", isAggregated: true, ...all }],
  ["a delta stream for each type", { variant: "delta", isAggregated: false, ...all }],
  ["delta in small pieces", { variant: "delta", isAggregated: true, breaks: true, maxResponseBytes: 1 }],
  ["delta with aliases", { variant: "delta", isAggregated: false, aliases: true, breaks: true }],
  ["delta with a star", { variant: "delta", isAggregated: true, ...all, dialect: { explicitWildcard: true } }],
  ["State of the World", { variant: "sotw", isAggregated: true }],
  ["State of the World with all that can go wrong", { variant: "sotw", isAggregated: true, ...all }],
  ["a stream of State of the World for each type", { variant: "sotw", isAggregated: false, ...all }],
  [
    "State of the World with a star",
    { variant: "sotw", isAggregated: true, ...all, dialect: { explicitWildcard: true } },
  ],
  [
    "State of the World that tells no version",
    { variant: "sotw", isAggregated: true, ...all, dialect: { resumeVersion: false } },
  ],
];

describe.each(pairs)("our client and our server over %s", (_, options) => {
  test("come to agree, whatever happens: every watch is told what there is, and nothing is used by half", () => {
    fc.assert(
      fc.property(script, (steps) => {
        const pair = new ClientPair(options);
        for (const step of steps) pair.step(step);
        if (options.refusals === true) pair.refresh();
        pair.settle();
        pair.wait();
        for (const follower of pair.followers.values()) {
          const wanted = pair.wanted(follower);
          const held = Object.fromEntries(
            [...follower.holds].filter(([name]) => name in wanted || !pair.cannotBeTakenBack(follower)),
          );
          expect(held).toEqual(wanted);
          expect(follower.isSynced || follower.term !== "*").toBe(true);
        }
        expect(pair.complaints).toEqual([]);
      }),
      tries,
    );
  });

  test("nothing is asked for, held or waited for once every watch ended", () => {
    fc.assert(
      fc.property(script, (steps) => {
        const pair = new ClientPair(options);
        for (const step of steps) pair.step(step);
        pair.stopAll();
        expect(pair.remains).toEqual({ states: 0, streams: 0, wires: 0, timers: 0 });
        expect(pair.complaints).toEqual([]);
      }),
      tries,
    );
  });
});
