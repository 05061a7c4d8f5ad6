import fc from "fast-check";
import { expect, test } from "vitest";
import { LayeredMap } from "./layered-map.ts";

interface Value {
  readonly value: number;
}

const key = fc.constantFrom("a", "b", "c", "d", "e");
const step = fc.oneof(
  fc.record({ kind: fc.constant("set" as const), key, value: fc.nat(3) }),
  fc.record({ kind: fc.constant("delete" as const), key }),
  fc.constant({ kind: "copy" as const }),
);

/** Everything that a map says of itself, whatever its order. */
function contentOf(map: ReadonlyMap<string, Value>): unknown {
  const each: [string, Value][] = [];
  map.forEach((value, name) => void each.push([name, value]));
  const keys = ["a", "b", "c", "d", "e"];
  return [
    ...[map.size, [...map].sort(), [...map.entries()].sort(), each.sort(), [...map.keys()].sort()],
    ...[[...map.values()].map(({ value }) => value).sort(), keys.map((one) => [map.has(one), map.get(one)])],
  ];
}

test("it and each of its copies are like a map of its own", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const pairs = [{ own: LayeredMap.empty<Value>(), map: new Map<string, Value>() }];
      for (const one of steps) {
        const last = pairs.at(-1);
        if (last === undefined) return;
        if (one.kind === "copy") pairs.push({ own: last.own.copy(), map: new Map(last.map) });
        else if (one.kind === "delete") last.own.delete(one.key);
        else last.own.set(one.key, { value: one.value });
        if (one.kind === "delete") last.map.delete(one.key);
        else if (one.kind === "set") last.map.set(one.key, { value: one.value });
      }
      for (const { own, map } of pairs) expect(contentOf(own)).toEqual(contentOf(map));
    }),
  );
});

test("what is replaced keeps its place, and what is added comes last", () => {
  const map = LayeredMap.empty<Value>();
  for (const [name, value] of [..."abc"].entries()) map.set(value, { value: name });
  const copy = map.copy();
  copy.set("d", { value: 3 });
  copy.set("a", { value: 4 });
  expect([[...copy.keys()], [...map.keys()]]).toEqual([
    ["a", "b", "c", "d"],
    ["a", "b", "c"],
  ]);
});
