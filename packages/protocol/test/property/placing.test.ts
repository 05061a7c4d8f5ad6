import type { RevisionProgress } from "@xdskit/protocol/internal";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { script, tries } from "../support/script.ts";
import { type Step, type Trouble, type Witness, World } from "../support/world.ts";

const none: Trouble = { refusals: false, breaks: false, moves: true, trims: false };
const all: Trouble = { ...none, refusals: true, breaks: true, stalls: true, mixed: true, names: 6 };

const mixes: readonly (readonly [string, Trouble])[] = [
  ["nothing else out of the ordinary", { ...none, mixed: true }],
  ["all that can go wrong", all],
  ["a stream for each type and all that can go wrong", { ...all, perType: true }],
  ["aliases, errors and resources on demand", { ...all, aliases: true, errors: true, onDemand: true }],
  ["comparisons that take many turns", { ...all, refusals: false, pauses: true, lies: true }],
];

const everybody = (): boolean => true;

/** A world, with what its clients are sent. */
class Watched {
  readonly sent: string[] = [];
  readonly world: World;

  constructor(trouble: Trouble) {
    const witness: Witness = {
      connected: () => {},
      heard: () => {},
      said: (_, { stream, nonce, body }) => {
        const segments = body.segments.map(({ puts, removed, missing }) => [
          puts.map(({ name, version }) => `${name}@${version}`),
          removed,
          missing,
        ]);
        this.sent.push(JSON.stringify([stream, nonce, body.type, body.version, segments]));
      },
      held: () => {},
    };
    this.world = new World({ ...trouble, flushesByName: true }, witness);
  }

  /** Who has the newest revision, and who has not. */
  get progress(): RevisionProgress {
    const { machine } = this.world;
    return machine.progress.of(machine.revision, everybody);
  }

  /** The nodes that have the newest revision. */
  get deployed(): readonly string[] {
    const { progress, revision } = this.world.machine;
    const ids = this.world.clients.map((_, i) => String(i));
    return ids.filter((id) => progress.of(revision, (other) => other === id).deployed === 1);
  }

  get isUnplaced(): boolean {
    return this.world.machine.isPlacementDue;
  }
}

/** Whether a step of the world changes the node mapping. */
function mapsNodes([what]: Step, { mixed = false }: Trouble): boolean {
  return what % 12 === 10 || (mixed && what % 12 === 2);
}

describe.each(mixes)("with moved nodes and %s", (_, trouble) => {
  test("nodes that are placed one by one are sent after every step what they are sent when all are placed at once", () => {
    fc.assert(
      fc.property(script, (steps) => {
        const [atOnce, later] = [new Watched(trouble), new Watched({ ...trouble, placesLater: true })];
        for (const step of steps) {
          // A mapping that is replaced before it was applied everywhere is one that some nodes never had.
          if (mapsNodes(step, trouble)) {
            later.world.placeAll();
            expect(later.progress).toEqual(atOnce.progress);
          }
          for (const { world } of [atOnce, later]) world.step(step);
          expect(later.sent).toEqual(atOnce.sent);
          if (later.isUnplaced) expect(atOnce.deployed).toEqual(expect.arrayContaining([...later.deployed]));
          else expect(later.progress).toEqual(atOnce.progress);
        }
      }),
      tries,
    );
  });
});
