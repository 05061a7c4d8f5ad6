import { describe, expect, test, vi } from "vitest";
import { collectGarbage } from "../../../test/support/garbage.ts";
import { emptyNameSet, NameSets } from "./name-set.ts";
import { Names } from "./names.ts";

function named(...names: readonly string[]): Names {
  return Names.of(new Set(names));
}

describe("sets of names", () => {
  test("that are equal are one object, in whatever order they were written", () => {
    const sets = new NameSets();
    const one = sets.intern(named("a", "b"));
    expect(sets.intern(named("b", "a"))).toBe(one);
    expect([...one.names]).toEqual(["a", "b"]);
    expect(sets.size).toBe(1);
  });

  test("that differ have keys that differ", () => {
    const sets = new NameSets();
    const names = [["a"], ["b"], ["a", "b"], ["ab"], ["ba"], ["a", "b", "c"], ["", "a"], [""]];
    const keys = names.map((list) => sets.intern(named(...list)).key);
    expect(new Set([...keys, emptyNameSet.key]).size).toBe(names.length + 1);
  });

  test("that hold nothing are the empty set", () => {
    const sets = new NameSets();
    expect(sets.intern(named())).toBe(emptyNameSet);
    expect(emptyNameSet.names.size).toBe(0);
    expect(sets.size).toBe(0);
  });

  test("are compared name by name where their sums are equal", () => {
    // These two have one length and the same FNV-1a hash of 32 bits.
    const sets = new NameSets();
    const [one, other] = [sets.intern(named("declinate")), sets.intern(named("macallums"))];
    expect(one.key).not.toBe(other.key);
    expect(sets.intern(named("declinate"))).toBe(one);
    expect(sets.intern(named("macallums"))).toBe(other);
  });

  test("that differ are told apart without a comparison of names, and equal ones in one order are compared without looking up", () => {
    const sets = new NameSets();
    const lists = Array.from({ length: 100 }, (_, i) => [named(`n${i}`, "z"), named(`${i}`), named(`${i}n`, "z")]);
    const compared = vi.spyOn(Names.prototype, "has");
    try {
      for (const list of lists.flat()) sets.intern(list);
      expect([sets.size, compared.mock.calls.length]).toEqual([300, 0]);
      sets.intern(named("n7", "z"));
      expect([sets.size, compared.mock.calls.length]).toEqual([300, 0]);
      sets.intern(named("z", "n7"));
      expect([sets.size, compared.mock.calls.length]).toEqual([300, 2]);
    } finally {
      compared.mockRestore();
    }
  });

  test("that nobody uses are forgotten, once there are more than a few new ones", async () => {
    const sets = new NameSets();
    const kept = Array.from({ length: 20 }, (_, i) => sets.intern(named(`kept ${i}`)));
    for (let i = 0; i < 80; i++) sets.intern(named(`gone ${i}`));
    await collectGarbage();
    expect(sets.size).toBe(100);
    const more = Array.from({ length: 30 }, (_, i) => sets.intern(named(`more ${i}`)));
    expect([sets.size, kept.length + more.length]).toEqual([50, 50]);
    expect(kept.map(({ names }) => sets.intern(named(...names)))).toEqual(kept);
    expect(sets.size).toBe(50);
  });

  test("that come after one that is forgotten never get its key", async () => {
    const sets = new NameSets();
    const keyOf = (name: string): string => sets.intern(named(name)).key;
    const first = keyOf("declinate");
    await collectGarbage();
    expect(keyOf("macallums")).not.toBe(first);
    expect(keyOf("declinate")).not.toBe(first);
  });
});
