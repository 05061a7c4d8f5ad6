import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { holdingsOf } from "../support/holdings.ts";
import { script, tries } from "../support/script.ts";
import { type Trouble, World } from "../support/world.ts";

const none: Trouble = { refusals: false, breaks: false, moves: false, trims: false };
const all: Trouble = { refusals: true, breaks: true, moves: true, trims: true, stalls: true, names: 6 };

const mixes: readonly (readonly [string, Trouble])[] = [
  ["nothing out of the ordinary", none],
  ["refusals", { ...none, refusals: true }],
  ["lost connections and nodes that move", { ...none, breaks: true, moves: true, stalls: true }],
  ["a stream for each type", { ...none, perType: true, moves: true, breaks: true }],
  ["all that can go wrong", all],
  ["requests that wait for content", { ...all, refusals: false, withholds: true }],
  ["a stream for each type, and requests that wait for content", { ...all, perType: true, withholds: true }],
  ["a stream for each type and all that can go wrong", { ...all, perType: true }],
  ["aliases and all that can go wrong", { ...all, aliases: true }],
  ["comparisons that take many turns", { ...all, refusals: false, pauses: true, onDemand: true }],
  ["nodes that are placed one by one and all that can go wrong", { ...all, placesLater: true, mixed: true }],
  ["answers in several responses and all that can go wrong", { ...all, maxResponseBytes: 1 }],
];

const everybody = (): boolean => true;

describe.each(mixes)("with %s", (_, trouble) => {
  test("a node that has the newest revision holds what its view has", () => {
    fc.assert(
      fc.property(script, (steps) => {
        const world = new World(trouble);
        for (const step of steps) {
          world.step(step);
          for (const [i, client] of world.clients.entries()) {
            if (client.outbox.length > 0) continue;
            const { deployed } = world.machine.progress.of(world.machine.revision, (id) => id === String(i));
            if (deployed === 0) continue;
            const { held, wanted } = holdingsOf(world, client);
            expect(held).toEqual(wanted);
          }
        }
      }),
      tries,
    );
  });

  test("who follows a revision knows after every step what a look at every stream says", () => {
    fc.assert(
      fc.property(script, (steps) => {
        const world = new World(trouble);
        const followers = steps.flatMap((step, i) => {
          const follower = i % 5 === 0 ? [world.machine.progress.follow(world.machine.revision, everybody)] : [];
          world.step(step);
          return follower;
        });
        for (const step of steps) {
          world.step(step);
          for (const follower of followers) {
            const again = world.machine.progress.follow(follower.revision, everybody);
            expect([follower.pending, follower.nacked]).toEqual([again.pending, again.nacked]);
            world.machine.progress.unfollow(again);
          }
        }
      }),
      // Each looks at up to sixteen followers after every step.
      { numRuns: Math.ceil(tries.numRuns / 3) },
    );
  });

  test("counts by state agree with the named nodes after each step", () => {
    fc.assert(
      fc.property(script, (steps) => {
        const world = new World(trouble);
        for (const step of steps) {
          world.step(step);
          const { revision, progress } = world.machine;
          const { deployed, pending, nacked, disconnected } = progress.of(revision, everybody);
          const waiting = pending.filter(({ types }) => types.some(({ wait }) => wait !== undefined)).length;
          expect(progress.states(revision)).toEqual({
            deployed,
            pending: pending.length - waiting,
            waiting,
            nacked: nacked.length,
            disconnected: disconnected.length,
          });
        }
      }),
      tries,
    );
  });

  test("in the end nothing is pending, and without refusals everybody has every revision", () => {
    fc.assert(
      fc.property(script, (steps) => {
        const world = new World(trouble);
        for (const step of steps) world.step(step);
        world.settle();
        const { revision } = world.machine;
        const progress = world.machine.progress.of(revision, everybody);
        expect(progress.pending).toEqual([]);
        if (trouble.refusals) return;
        expect(progress.deployed).toBe(progress.nodes);
        expect(progress.nacked).toEqual([]);
      }),
      tries,
    );
  });
});
