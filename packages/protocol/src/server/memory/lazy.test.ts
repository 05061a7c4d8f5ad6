import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LazyMap, LazySet } from "./lazy.ts";

const keys = fc.integer({ min: 0, max: 4 });
const step = fc.oneof(
  fc.record({ what: fc.constant("put" as const), key: keys, value: fc.integer() }),
  fc.record({ what: fc.constant("delete" as const), key: keys }),
  fc.record({ what: fc.constant("clear" as const) }),
);

describe("what is made with its first entry", () => {
  test("a LazyMap is a Map", () => {
    const run = fc.property(fc.array(step), (steps) => {
      const [lazy, model] = [new LazyMap<number, number>(), new Map<number, number>()];
      for (const one of steps) {
        if (one.what === "put") expect(lazy.set(one.key, one.value)).toBe(lazy);
        if (one.what === "put") model.set(one.key, one.value);
        else if (one.what === "clear") lazy.clear();
        else expect(lazy.delete(one.key)).toBe(model.delete(one.key));
        if (one.what === "clear") model.clear();
        const told: [number, number, boolean][] = [];
        lazy.forEach((value, key, map) => void told.push([key, value, map === lazy]));
        expect([[...lazy], [...lazy.entries()], [...lazy.keys()], [...lazy.values()], lazy.size]).toEqual([
          ...[[...model], [...model], [...model.keys()], [...model.values()], model.size],
        ]);
        expect(told).toEqual([...model].map(([key, value]) => [key, value, true]));
        for (let key = 0; key < 5; key++)
          expect([lazy.get(key), lazy.has(key)]).toEqual([model.get(key), model.has(key)]);
      }
      expect(new LazyMap<number, number>().size).toBe(0);
    });
    fc.assert(run);
  });

  test("a LazySet is a Set", () => {
    const run = fc.property(fc.array(step), (steps) => {
      const [lazy, model] = [new LazySet<number>(), new Set<number>()];
      for (const one of steps) {
        if (one.what === "put") expect(lazy.add(one.key)).toBe(lazy);
        if (one.what === "put") model.add(one.key);
        else if (one.what === "clear") lazy.clear();
        else expect(lazy.delete(one.key)).toBe(model.delete(one.key));
        if (one.what === "clear") model.clear();
        const told: [number, number, boolean][] = [];
        lazy.forEach((value, key, set) => void told.push([value, key, set === lazy]));
        expect([[...lazy], [...lazy.keys()], [...lazy.values()], [...lazy.entries()], lazy.size]).toEqual([
          ...[[...model], [...model], [...model], [...model.entries()], model.size],
        ]);
        expect(told).toEqual([...model].map((value) => [value, value, true]));
        for (let key = 0; key < 5; key++) expect(lazy.has(key)).toBe(model.has(key));
      }
      expect(new LazySet<number>().size).toBe(0);
    });
    fc.assert(run);
  });

  test("all that is removed while it is iterated is visited no more", () => {
    const lazy = new LazyMap<number, number>();
    for (const key of [1, 2, 3]) lazy.set(key, key);
    const visited: number[] = [];
    for (const [key] of lazy) {
      visited.push(key);
      for (const one of [1, 2, 3]) lazy.delete(one);
    }
    expect([visited, [...lazy]]).toEqual([[1], []]);
  });
});
