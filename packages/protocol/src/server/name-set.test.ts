import { describe, expect, test } from "vitest";
import { emptyNameSet, NameSets } from "./name-set.ts";

describe("sets of names", () => {
  test("that are equal are one object, in whatever order they were written", () => {
    const sets = new NameSets();
    const one = sets.intern(new Set(["a", "b"]));
    expect(sets.intern(new Set(["b", "a"]))).toBe(one);
    expect([...one.names]).toEqual(["a", "b"]);
    expect(sets.size).toBe(1);
  });

  test("that differ have keys that differ", () => {
    const sets = new NameSets();
    const names = [["a"], ["b"], ["a", "b"], ["ab"], ["ba"], ["a", "b", "c"], ["", "a"], [""]];
    const keys = names.map((list) => sets.intern(new Set(list)).key);
    expect(new Set([...keys, emptyNameSet.key]).size).toBe(names.length + 1);
  });

  test("that hold nothing are the empty set", () => {
    const sets = new NameSets();
    expect(sets.intern(new Set())).toBe(emptyNameSet);
    expect(emptyNameSet.names.size).toBe(0);
    expect(sets.size).toBe(0);
  });

  test("are compared name by name where their sums are equal", () => {
    // These two have one length and the same FNV-1a hash of 32 bits.
    const sets = new NameSets();
    const [one, other] = [sets.intern(new Set(["declinate"])), sets.intern(new Set(["macallums"]))];
    expect(one.key).not.toBe(other.key);
    expect(one.key.slice(0, one.key.lastIndexOf("."))).toBe(other.key.slice(0, other.key.lastIndexOf(".")));
    expect(sets.intern(new Set(["declinate"]))).toBe(one);
    expect(sets.intern(new Set(["macallums"]))).toBe(other);
  });
});
