import { statusCode } from "@xdskit/protocol/internal";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { holdingsOf } from "../support/holdings.ts";
import { script, tries } from "../support/script.ts";
import { FEW_LINES, type Trouble, World } from "../support/world.ts";

const all: Trouble = { refusals: true, breaks: true, moves: true, trims: false };

describe.each([
  ["an aggregated stream", all],
  ["a stream for each type", { ...all, perType: true }],
] as const)("with %s", (_, trouble) => {
  test("a short journal changes nothing but cost: all hold the same in the end, and only who was far behind is ended", () => {
    fc.assert(
      fc.property(script, (steps) => {
        const [long, short] = [new World(trouble), new World({ ...trouble, trims: true })];
        for (const step of steps) for (const world of [long, short]) world.step(step);
        for (const world of [long, short]) world.settle();
        expect(long.ended).toEqual([]);
        for (const { status, linesBehind } of short.ended) {
          expect(status.code).toBe(statusCode.UNAVAILABLE);
          expect(linesBehind).toBeGreaterThan(FEW_LINES / 2);
        }
        for (const [i, client] of short.clients.entries()) {
          const { held, wanted } = holdingsOf(short, client);
          expect(held).toEqual(wanted);
          expect(short.viewOf(client)).toEqual(long.viewOf(long.clients[i] ?? client));
        }
      }),
      tries,
    );
  });
});
