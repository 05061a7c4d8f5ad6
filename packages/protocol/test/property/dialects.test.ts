import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anySpeaking, unnamedClients } from "../support/dialects.ts";
import { collectGarbage } from "../support/garbage.ts";
import { holdingsOf } from "../support/holdings.ts";
import { script, tries } from "../support/script.ts";
import { type Trouble, World } from "../support/world.ts";

const usual: Trouble = { refusals: false, breaks: true, moves: true, trims: false, stalls: true, wavers: true };
const all: Trouble = { ...usual, refusals: true, trims: true };

const mixes: readonly (readonly [string, Trouble])[] = [
  ["lost connections, nodes that move, clients that stall and waver", usual],
  ["all that can go wrong and short journals", all],
  ["all that and a stream for each type", { ...all, perType: true }],
  ["errors, aliases and resources on demand", { ...all, errors: true, aliases: true, onDemand: true }],
  [
    "many names, journals of one line, comparisons that take many turns and versions that nobody has",
    { ...all, refusals: false, forgetsAtOnce: true, pauses: true, names: 8, aliases: true, lies: true },
  ],
  ["versions of the caller's", { ...usual, breaks: false, ownVersions: true, names: 6 }],
];

function expectAgreement(world: World): void {
  for (const client of world.clients) {
    const { held, wanted } = holdingsOf(world, client);
    expect(held).toEqual(wanted);
    expect(client.complaints).toEqual([]);
  }
}

test("every known client is among those that are spoken to", () => {
  expect(unnamedClients()).toEqual([]);
});

describe.each(mixes)("with %s", (_, trouble) => {
  test("a client holds exactly its view in the end, in every edition, by every row and with every switch", () => {
    fc.assert(
      fc.property(anySpeaking, script, (speaking, steps) => {
        const world = new World({ ...trouble, speaking });
        for (const step of steps) world.step(step);
        world.settle();
        expectAgreement(world);
        const before = world.sends;
        world.settle();
        expect(world.sends).toBe(before);
      }),
      { numRuns: Math.ceil(tries.numRuns / 2) },
    );
  });
});

test("so it does when whatever nobody holds is collected halfway", async () => {
  await fc.assert(
    fc.asyncProperty(anySpeaking, script, async (speaking, steps) => {
      const world = new World({ ...all, names: 6, aliases: true, speaking });
      for (const [i, step] of steps.entries()) {
        world.step(step);
        if (i === steps.length >> 1) await collectGarbage();
      }
      world.settle();
      expectAgreement(world);
    }),
    { numRuns: Math.ceil(tries.numRuns / 40) },
  );
});
