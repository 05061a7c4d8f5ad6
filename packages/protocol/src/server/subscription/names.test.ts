import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { countOf, countOfAll, Names } from "./names.ts";

/** How much a set was made of: names that were copied to make those that came of it. */
class CountedSet extends Set<string> {
  walked = 0;

  override *[Symbol.iterator](): SetIterator<string> {
    for (const name of super[Symbol.iterator]()) {
      this.walked++;
      yield name;
    }
  }
}

function many(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `n${i}`);
}

describe("names", () => {
  const name = fc.constantFrom("a", "b", "c", "d", "e", "xdstp://x/t/d/*", "l".repeat(257), "m".repeat(600));
  const some = fc.uniqueArray(name, { maxLength: 4 });
  const change = fc.record({ adding: some, removing: some });

  test("are what was added and not taken away since, whatever the way there; those before stay as they were", () => {
    fc.assert(
      fc.property(fc.uniqueArray(name), fc.array(change, { maxLength: 20 }), (first, changes) => {
        const model = new Set(first);
        let names = Names.of(new Set(first));
        for (const { adding, removing } of changes) {
          const before = names;
          const was = [...before].sort();
          names = names.with(new Set(adding.filter((one) => !removing.includes(one))), new Set(removing));
          for (const one of adding) model.add(one);
          for (const one of removing) model.delete(one);
          expect([...before].sort()).toEqual(was);
          expect([...names].sort()).toEqual([...model].sort());
          expect([names.size, names.counted]).toEqual([model.size, countOfAll(model)]);
          expect([...model].every((one) => names.has(one))).toBe(true);
          expect(names.hasCollections).toBe(model.has("xdstp://x/t/d/*"));
        }
      }),
    );
  });

  test("count for one, and long ones for several", () => {
    expect([0, 1, 256, 257, 512, 513].map((length) => countOf("n".repeat(length)))).toEqual([1, 1, 1, 2, 2, 3]);
  });

  test("that a change leaves as they are stay one object", () => {
    const names = Names.of(new Set(["a", "b"]));
    expect(names.with(new Set("a"), new Set("c"))).toBe(names);
    expect(names.with(new Set(), new Set("ab"))).toBe(Names.none);
  });

  test.each([1_000, 4_000, 16_000])("one more of %i does not walk over all of them each time", (count) => {
    const base = new CountedSet(many(count));
    let names = Names.of(base);
    base.walked = 0;
    const changes = Math.floor(Math.sqrt(count));
    for (let i = 0; i < changes; i++) names = names.with(new Set([`m${i}`]), new Set([`n${i}`]));
    expect(names.size).toBe(count);
    expect(base.walked).toBeLessThanOrEqual(count);
  });
});
