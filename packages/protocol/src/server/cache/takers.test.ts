import { expect, test } from "vitest";
import { LISTENER, resource, traits } from "../../../test/support/resources.ts";
import { takersAmong } from "./takers.ts";

function takers(...moves: readonly (readonly [name: string, from: string, to: string])[]): readonly string[] {
  const changes = moves.map(([name, from, to]) => ({
    resource: resource(LISTENER, name, to),
    replaces: resource(LISTENER, name, from),
  }));
  return takersAmong(changes, traits(LISTENER) ?? {});
}

test("who takes an address comes after who gives it up, also along a chain; a circle comes last", () => {
  expect(takers(["a", ":2", ":1"], ["b", ":3", ":2"], ["g", ":1", ":9"])).toEqual(["a", "b"]);
  expect(takers(["b", ":3", ":2"], ["a", ":2", ":1"], ["g", ":1", ":9"])).toEqual(["a", "b"]);
  expect(takers(["a", ":1", ":2"], ["b", ":2", ":1"])).toEqual(["a", "b"]);
  expect(takers(["a", ":1", ":1"], ["b", ":2", ":3"])).toEqual([]);
});
