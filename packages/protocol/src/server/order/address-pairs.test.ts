import { expect, test } from "vitest";
import { LISTENER, resource, traits } from "../../../test/support/resources.ts";
import type { Target } from "../type/held-back.ts";
import { AddressPairs } from "./address-pairs.ts";

type Move = readonly [name: string, from: string, to: string];

/** A target, at these addresses. */
function target(name: string, at: string): Target {
  return { resource: resource(LISTENER, name, at), revision: 1 };
}

/** The names that are held back, with the names in `waiting`; a name with a target has its addresses after it. */
function heldWith(waiting: readonly (readonly [string, Target | undefined])[], ...moves: readonly Move[]): string[] {
  const pairs = new AddressPairs(traits(LISTENER) ?? {});
  for (const [name, from, to] of moves) {
    const before = from === "" ? {} : { addresses: from.split(" ") };
    pairs.add({ resource: resource(LISTENER, name, to), replaces: { references: [], aliases: [], ...before } });
  }
  const held = pairs.holdTogether(new Map(waiting));
  return [...held]
    .map(([name, instead]) => name + (instead?.resource.content ? `@${instead.resource.version}` : ""))
    .sort();
}

const waits = (...names: readonly string[]): readonly (readonly [string, undefined])[] =>
  names.map((name) => [name, undefined] as const);

test("who gives an address up waits with who takes it, and who takes it with who gives it up", () => {
  const moves: readonly Move[] = [
    ["giver", ":1", ":2"],
    ["taker", ":3", ":1"],
    ["other", ":4", ":5"],
  ];
  expect(heldWith(waits("taker"), ...moves)).toEqual(["giver", "taker"]);
  expect(heldWith(waits("giver"), ...moves)).toEqual(["giver", "taker"]);
  expect(heldWith(waits("other"), ...moves)).toEqual(["other"]);
  expect(heldWith([], ...moves)).toEqual([]);
});

test("a new listener is a taker; one that keeps an address, or gains one that nobody gives up, waits alone", () => {
  expect(heldWith(waits("new"), ["giver", ":1", ":2"], ["new", "", ":1"])).toEqual(["giver", "new"]);
  expect(heldWith(waits("a"), ["a", ":1 :2", ":1 :3"], ["b", ":4", ":4"])).toEqual(["a"]);
  expect(heldWith(waits("a"), ["a", ":1", ":1 :2"], ["b", ":2", ":3"])).toEqual(["a", "b"]);
});

test("a chain waits as a whole, from whichever end, and so do two that exchange their addresses", () => {
  const chain: readonly Move[] = [
    ["a", ":1", ":2"],
    ["b", ":2", ":3"],
    ["c", ":3", ":4"],
  ];
  for (const name of ["a", "b", "c"]) {
    expect(heldWith(waits(name), ...chain)).toEqual(["a", "b", "c"]);
    expect(heldWith(waits(name), ...chain.toReversed())).toEqual(["a", "b", "c"]);
  }
  expect(heldWith(waits("a"), ["a", ":1", ":2"], ["b", ":2", ":1"])).toEqual(["a", "b"]);
});

test("an earlier state that is sent instead counts with its own addresses", () => {
  const moves: readonly Move[] = [
    ["giver", ":1", ":3"],
    ["taker", ":9", ":1"],
  ];
  // The giver leaves the address with its earlier state, too.
  expect(heldWith([["giver", target("giver", ":2")]], ...moves)).toEqual(["giver"]);
  // It does not yet.
  expect(heldWith([["giver", target("giver", ":1")]], ...moves)).toEqual(["giver", "taker"]);
  // The taker takes it already, or not yet.
  expect(heldWith([["taker", target("taker", ":1")]], ...moves)).toEqual(["taker"]);
  expect(heldWith([["taker", target("taker", ":9")]], ...moves)).toEqual(["giver", "taker"]);
});
