import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ModelClient } from "../support/model-client.ts";
import { CLUSTER, ENDPOINTS, LISTENER, ROUTE } from "../support/resources.ts";
import { type Trouble, World } from "../support/world.ts";

const RUNS = Number(process.env["XDS_PROPERTY_RUNS"] ?? 600);
const number = fc.nat(31);
const script = fc.array(fc.tuple(number, number, number, number), { minLength: 10, maxLength: 80, size: "max" });

const mixes: readonly Trouble[] = [
  { refusals: false, breaks: false, moves: false, trims: false },
  { refusals: true, breaks: false, moves: false, trims: false },
  { refusals: false, breaks: true, moves: true, trims: false },
  { refusals: true, breaks: true, moves: true, trims: true },
];

/** What a client holds and should hold, but for names whose newest word it refused and, in SotW, what cannot be taken back. */
function compare(world: World, client: ModelClient): { held: unknown; wanted: unknown } {
  const held: Record<string, string> = {};
  const wanted: Record<string, string> = {};
  for (const type of [CLUSTER, ENDPOINTS, LISTENER, ROUTE]) {
    const state = client.types.get(type);
    const expected = world.expected(client, type);
    for (const [name, one] of expected) if (!state?.refused.has(name)) wanted[`${type}/${name}`] = one.version;
    const cannotBeSaid = client.variant === "sotw" && (type === ENDPOINTS || type === ROUTE);
    for (const [name, one] of state?.resources ?? []) {
      if (state?.refused.has(name) || (cannotBeSaid && !expected.has(name))) continue;
      held[`${type}/${name}`] = one.version;
    }
  }
  return { held, wanted };
}

describe.each(mixes)("with %o", (trouble) => {
  test("a client that accepts everything in the end holds exactly its view, and then all is quiet", () => {
    fc.assert(
      fc.property(script, (steps) => {
        const world = new World(trouble);
        for (const step of steps) world.step(step);
        world.settle();
        for (const client of world.clients) {
          const { held, wanted } = compare(world, client);
          expect(held).toEqual(wanted);
          expect(client.complaints).toEqual([]);
        }
        const before = world.sends;
        world.settle();
        expect(world.sends).toBe(before);
      }),
      { numRuns: RUNS },
    );
  });
});
