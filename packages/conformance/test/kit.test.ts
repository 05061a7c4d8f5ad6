import {
  type Body,
  type ServerEffect,
  type ServerEvent,
  ServerMachine,
  type ServerMachineOptions,
} from "@xdskit/protocol/internal";
import { describe, expect, test } from "vitest";
import type { Case, Expectation } from "../src/case.ts";
import { serverCases } from "../src/cases/server/cases.ts";
import { type Machine, playInMemory } from "../src/play/in-memory.ts";
import { playsOf } from "../src/play/plays.ts";

/** A server machine whose effects are spoiled on their way out. */
class SpoiledPlane implements Machine {
  readonly #machine: ServerMachine;
  readonly #spoil: (effect: ServerEffect) => readonly ServerEffect[];

  constructor(options: ServerMachineOptions, spoil: (effect: ServerEffect) => readonly ServerEffect[]) {
    this.#machine = new ServerMachine(options);
    this.#spoil = spoil;
  }

  get isDue(): boolean {
    return this.#machine.isDue;
  }

  on(event: ServerEvent): readonly ServerEffect[] {
    return this.#machine.on(event).flatMap(this.#spoil);
  }

  next(budget: number): readonly ServerEffect[] {
    return this.#machine.next(budget).flatMap(this.#spoil);
  }
}

const everyBody = (change: (body: Body) => Partial<Body>) => (effect: ServerEffect) =>
  effect.kind === "send" || effect.kind === "answer-poll"
    ? [{ ...effect, body: { ...effect.body, ...change(effect.body) } }]
    : [effect];

interface Fault {
  readonly says: string;
  readonly spoil: (effect: ServerEffect) => readonly ServerEffect[];
  /** Every case of which this holds must fail. */
  readonly isSeenBy: (script: Case) => boolean;
  /** Polls have nothing that could be spoiled like that. */
  readonly isOfStreams?: true;
}

const some = (script: Case, holds: (step: Expectation) => boolean): boolean => script.steps.some(holds);
const responses = (script: Case) => script.steps.flatMap((step) => step.sends ?? []);

const faults: readonly Fault[] = [
  { says: "says nothing at all", spoil: () => [], isSeenBy: () => true },
  {
    says: "says everything twice",
    spoil: (effect) => {
      if (effect.kind === "answer-poll") return [effect, effect];
      return effect.kind === "send" ? [effect, { ...effect, nonce: `${effect.nonce}-again` }] : [effect];
    },
    isSeenBy: (script) => responses(script).length > 0,
  },
  {
    says: "gives every response the same nonce",
    spoil: (effect) => (effect.kind === "send" ? [{ ...effect, nonce: "n" }] : [effect]),
    isSeenBy: ({ id }) => id === "S-NON-01" || id === "S-RES-02",
  },
  {
    says: "gives every response an empty nonce",
    spoil: (effect) => (effect.kind === "send" ? [{ ...effect, nonce: "" }] : [effect]),
    isSeenBy: (script) => responses(script).length > 0,
    isOfStreams: true,
  },
  {
    says: "keeps removals to itself",
    spoil: everyBody(({ segments }) => ({ segments: segments.map((segment) => ({ ...segment, removed: [] })) })),
    isSeenBy: (script) => responses(script).some(({ removed = [] }) => removed.length > 0),
  },
  {
    says: "sends other bytes than were published",
    spoil: everyBody(({ segments }) => ({
      segments: segments.map((segment) => ({
        ...segment,
        puts: segment.puts.map((put) => ({ ...put, bytes: Uint8Array.of(...put.bytes.subarray(0, 100), 0) })),
      })),
    })),
    isSeenBy: (script) => responses(script).some(({ resources = [] }) => resources.length > 0),
  },
  {
    says: "leaves the last resource of each response out",
    spoil: everyBody(({ segments }) => ({
      segments: segments.map((segment) => ({ ...segment, puts: segment.puts.slice(0, -1) })),
    })),
    isSeenBy: (script) => responses(script).some(({ resources = [] }) => resources.length > 0),
  },
  {
    says: "prints one version for everything",
    spoil: everyBody(() => ({ version: "1" })),
    isSeenBy: (script) => responses(script).some(({ version = "" }) => /^(not|is) /.test(version)),
  },
  {
    says: "never ends a stream",
    spoil: (effect) => (effect.kind === "close-stream" || effect.kind === "refuse-poll" ? [] : [effect]),
    isSeenBy: (script) => some(script, ({ ends }) => ends !== undefined),
  },
  {
    says: "books nothing",
    spoil: (effect) => (effect.kind === "report" ? [] : [effect]),
    isSeenBy: (script) => some(script, ({ reports = [] }) => reports.length > 0),
  },
];

describe("the kit sees a server that", () => {
  for (const { says, spoil, isSeenBy, isOfStreams } of faults) {
    test(says, async () => {
      const unseen: string[] = [];
      const plays = playsOf(serverCases.filter(isSeenBy)).filter(({ kind }) => isOfStreams !== true || kind !== "rest");
      for (const play of plays) {
        const { passed } = await playInMemory(play, (options) => new SpoiledPlane(options, spoil));
        if (passed) unseen.push(play.key);
      }
      expect(unseen).toEqual([]);
      expect(plays.length).toBeGreaterThan(0);
    });
  }
});

test("no two plays have one key", () => {
  const keys = playsOf(serverCases).map(({ key }) => key);
  expect(keys.filter((key, at) => keys.indexOf(key) !== at)).toEqual([]);
});
