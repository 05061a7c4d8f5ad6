import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { script, tries } from "../support/script.ts";
import { WarmingWorld } from "../support/warming-world.ts";
import { type Trouble, type Witness, World } from "../support/world.ts";

const none: Trouble = { refusals: false, breaks: false, moves: false, trims: false };
const all: Trouble = { refusals: true, breaks: true, moves: true, trims: true };

const mixes: readonly (readonly [string, Trouble])[] = [
  ["nothing out of the ordinary", none],
  ["all that can go wrong", all],
  ["a stream for each type and all that can go wrong", { ...all, perType: true, mixed: true }],
  ["two clients of each node id with a stream for each type", { ...all, moves: false, perType: true, twins: true }],
  ["aliases, errors and resources on demand", { ...all, aliases: true, errors: true, onDemand: true }],
  ["comparisons that take many turns", { ...all, refusals: false, pauses: true, names: 8, lies: true }],
  ["answers in several responses and clients that do not read", { ...all, maxResponseBytes: 1, stalls: true }],
];

const delta = { variant: "delta", isAggregated: false } as const;
const sotw = { variant: "sotw", isAggregated: false } as const;

/** What clients are sent, in order. */
function sentTo(trouble: Trouble, steps: Parameters<World["step"]>[0][]): readonly string[] {
  const sent: string[] = [];
  const witness: Witness = {
    connected: () => {},
    heard: () => {},
    said: (_, { stream, nonce, body }) => {
      const segments = body.segments.map(({ puts, removed, missing }) => [
        puts.map(({ name, version }) => `${name}@${version}`),
        removed,
        missing,
      ]);
      sent.push(JSON.stringify([stream, nonce, body.type, body.version, segments]));
    },
    held: () => {},
  };
  const world = new World(trouble, witness);
  for (const step of steps) world.step(step);
  world.settle();
  return sent;
}

describe.each(mixes)("with %s", (_, trouble) => {
  test("a flush that is left out after an ACK would have had no effect, then or later", () => {
    fc.assert(
      fc.property(script, (steps) => {
        // A flush is a turn of the streams that something changed for, which the others must not notice.
        const paced = { ...trouble, flushesAskingFirst: true };
        const withThem = sentTo({ ...paced, flushesInVain: true }, [...steps]);
        expect(sentTo(paced, [...steps])).toEqual(withThem);
      }),
      tries,
    );
  });
});

test("nor for two clients of one node id that warm, with a stream for each type", () => {
  fc.assert(
    fc.property(script, (steps) => {
      const world = new WarmingWorld({ clients: [delta, sotw], breaks: true, flushesInVain: true });
      for (const step of steps) world.step(step);
      world.settle();
      expect(world.clients.map(({ view }) => view)).toEqual([world.expected, world.expected]);
    }),
    tries,
  );
});
