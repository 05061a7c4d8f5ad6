import fc from "fast-check";
import { expect, test } from "vitest";
import { OneOrMany } from "./one-or-many.ts";

const key = fc.constantFrom("a", "b", "c");
const step = fc.oneof(
  fc.record({ kind: fc.constant("set" as const), key, value: fc.option(fc.nat(3), { nil: undefined }) }),
  fc.record({ kind: fc.constant("delete" as const), key }),
);

test("it is like a map, whatever happens to it", () => {
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const map = new Map<string, number | undefined>();
      const own = new OneOrMany<number | undefined>();
      for (const one of steps) {
        if (one.kind === "delete") map.delete(one.key);
        else map.set(one.key, one.value);
        if (one.kind === "delete") own.delete(one.key);
        else own.set(one.key, one.value);
        const each: unknown[] = [];
        own.forEach((value, name, whole) => void each.push([name, value], whole === own));
        expect([own.size, [...own], [...own.keys()], [...own.values()], [...own.entries()], each]).toEqual([
          map.size,
          [...map],
          [...map.keys()],
          [...map.values()],
          [...map],
          [...map].flatMap((entry) => [entry, true]),
        ]);
        for (const name of ["a", "b", "c"])
          expect([own.has(name), own.get(name)]).toEqual([map.has(name), map.get(name)]);
      }
    }),
  );
});
