import { expect, test } from "vitest";
import { peerCommand } from "../e2e/support/peers.ts";
import { cutHistory, emptyHistory, type History, type Ledger, type Sighting } from "./support/history.ts";
import { checkerLines, interleaved, judge } from "./support/judge.ts";
import { linearizable } from "./support/linearizable.ts";

const ledger: Ledger = new Map([
  ["a-1", 1],
  ["b-1", 3],
  ["a-2", 5],
]);

function sighting(content: string, at: number, more: Partial<Sighting> = {}): Sighting {
  return { client: "one", life: 0, server: 0, openedAt: at - 1, at, content, ...more };
}

function history(given: Partial<History>): History {
  return { ...emptyHistory(), ...given };
}

const nothing = { lost: [], invented: [], setBack: [] };

test("a history in which everything is as it should be has nothing against it", () => {
  const appends = [
    { publisher: "a", content: "a-1", calledAt: 0, outcome: { at: 2, number: 1 } },
    { publisher: "b", content: "b-1", calledAt: 3 },
    { publisher: "b", content: "b-2", calledAt: 4 },
  ];
  // Who starts anew may get what is older.
  const sightings = [sighting("a-1", 1), sighting("a-2", 2), sighting("a-2", 3), sighting("b-1", 4, { life: 1 })];
  expect(judge(history({ appends, sightings }), ledger)).toEqual(nothing);
});

test("an acknowledged publication that the ledger has not, or has elsewhere, is lost", () => {
  const appends = [
    { publisher: "a", content: "a-1", calledAt: 0, outcome: { at: 2, number: 2 } },
    { publisher: "b", content: "b-9", calledAt: 3, outcome: { at: 4, number: 4 } },
  ];
  expect(judge(history({ appends }), ledger)).toEqual({
    ...nothing,
    lost: ["a-1 of a: acknowledged as 2, the ledger has 1", "b-9 of b: acknowledged as 4, the ledger has undefined"],
  });
});

test("a content that was never published is invented", () => {
  expect(judge(history({ sightings: [sighting("c-1", 1)] }), ledger)).toEqual({ ...nothing, invented: ["c-1"] });
});

test("a client that gets what is older is set back, unless its server said that it served it unasked", () => {
  const sightings = [
    sighting("a-2", 10),
    sighting("b-1", 30, { server: 1 }),
    sighting("a-2", 40),
    sighting("a-1", 60, { server: 1 }),
  ];
  const setBack = (unchecked: History["unchecked"]): number =>
    judge(history({ sightings, unchecked }), ledger).setBack.length;
  const looks = (...counts: readonly (number | undefined)[]): History["unchecked"] =>
    counts.map((count, index) => ({ server: 1, at: index * 25, count }));
  // Looked at every 25 ms: both clients came after the second look.
  expect([looks(), looks(0, 0, 0, 0), looks(0, 0, 1, 1), looks(0, 0, 1, 2), looks(0, 5, 5, 5)].map(setBack)).toEqual([
    2, 2, 1, 0, 2,
  ]);
  // One that was restarted counts from nothing, and one that does not answer says nothing.
  expect([looks(9, 9, undefined, 2), looks(9, 9, undefined, 9)].map(setBack)).toEqual([0, 2]);
});

test("a history that was cut goes on from how far each server had counted", () => {
  const looks: History["unchecked"] = [
    { server: 1, at: 1, count: 3 },
    { server: 1, at: 2, count: 4 },
    { server: 1, at: 3, count: undefined },
  ];
  const sightings = [sighting("a-2", 10)];
  const going = history({ sightings: [...sightings], unchecked: [...looks] });
  expect([cutHistory(going), going]).toEqual([
    history({ sightings, unchecked: looks }),
    history({ unchecked: looks.slice(1, 2) }),
  ]);
});

test("a holder of a lease that writes after another one is found", () => {
  expect([interleaved(["1", "1", "2", "2", "3"]), interleaved(["1", "2", "1", "2"]), interleaved([])]).toEqual([
    [],
    ["1", "2"],
    [],
  ]);
});

test.skipIf(peerCommand("porcupine") === undefined)("a read that misses what was acknowledged before is found", () => {
  const appends = [
    { publisher: "a", content: "a-1", calledAt: 0, outcome: { at: 2, number: 1 } },
    { publisher: "b", content: "b-1", calledAt: 3 },
    { publisher: "a", content: "a-2", calledAt: 6, outcome: { at: 9, number: 5 } },
  ];
  const told = (...numbers: readonly number[]): unknown => {
    const reads = numbers.map((number, index) => ({ calledAt: 10 + index, returnedAt: 10.5 + index, number }));
    return linearizable(checkerLines(history({ appends, reads }), ledger));
  };
  expect([told(5), told(5, 5), told(3), told(5, 3)]).toEqual(["Ok", "Ok", "Illegal", "Illegal"]);
});
