import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { holdingsOf } from "../support/holdings.ts";
import { script, tries } from "../support/script.ts";
import { type Trouble, World } from "../support/world.ts";

const none: Trouble = { refusals: false, breaks: false, moves: false, trims: false };
const all: Trouble = { refusals: true, breaks: true, moves: true, trims: true };
const short: Trouble = { ...all, refusals: false, pauses: true, names: 8, aliases: true };
const own: Trouble = { ...none, moves: true, trims: true, ownVersions: true };

const mixes: readonly (readonly [string, Trouble])[] = [
  ["nothing out of the ordinary", none],
  ["refusals", { ...none, refusals: true }],
  ["lost connections and nodes that move", { ...none, breaks: true, moves: true }],
  ["all of that and short journals", all],
  ["nodes that move as resources change, and short journals", { ...all, mixed: true }],
  ["a stream for each type", { ...none, perType: true }],
  ["a stream for each type and all that can go wrong", { ...all, perType: true }],
  ["resources that come on demand only, and all that can go wrong", { ...all, onDemand: true }],
  ["aliases", { ...none, aliases: true }],
  ["aliases and all that can go wrong", { ...all, aliases: true }],
  ["errors in place of resources", { ...none, errors: true }],
  ["errors in place of resources and all that can go wrong", { ...all, errors: true }],
  ["errors, a stream for each type and resources on demand", { ...all, perType: true, onDemand: true, errors: true }],
  [
    "comparisons that take many turns, short journals and resources on demand",
    { ...all, refusals: false, pauses: true, onDemand: true },
  ],
  ["many names, journals of one line and comparisons that take many turns", { ...short, forgetsAtOnce: true }],
  ["many names, versions that nobody has and comparisons that take many turns", { ...short, lies: true }],
  ["versions of the caller's", { ...none, moves: true, ownVersions: true, names: 6 }],
  ["versions of the caller's, aliases and resources on demand", { ...own, aliases: true, onDemand: true }],
  [
    "long journals, many names, and clients that are looked at by nobody",
    { ...all, refusals: false, trims: false, names: 6, aliases: true, errors: true, onDemand: true },
  ],
  [
    "a stream for each type, long journals and many names",
    { ...all, refusals: false, trims: false, perType: true, names: 6 },
  ],
  ["answers in several responses", { ...none, maxResponseBytes: 400 }],
  ["answers in several responses and all that can go wrong", { ...all, maxResponseBytes: 1 }],
];

describe.each(mixes)("with %s", (_, trouble) => {
  test("a client that accepts everything in the end holds exactly its view, and then all is quiet", () => {
    fc.assert(
      fc.property(script, (steps) => {
        const world = new World(trouble);
        for (const step of steps) world.step(step);
        world.settle();
        for (const client of world.clients) {
          const { held, wanted } = holdingsOf(world, client);
          expect(held).toEqual(wanted);
          expect(client.complaints).toEqual([]);
        }
        const before = world.sends;
        world.settle();
        expect(world.sends).toBe(before);
      }),
      tries,
    );
  });
});
