import { describe, expect, test } from "vitest";
import type { Resource } from "../../resource/resource.ts";
import type { HeldBackNames, Target } from "./held-back.ts";
import { Replacements, withWaiting } from "./replacements.ts";

const earlier = (revision: number): Target => ({ resource: {} as Resource, revision });
const held = (...names: readonly string[]): HeldBackNames => new Map(names.map((name) => [name, undefined]));

/** What a flush may not send beyond what is held back. */
class Flushes {
  readonly replacements = new Replacements();
  #revision = 0;

  hold(heldBack: HeldBackNames, what: { removed?: readonly string[]; put?: readonly string[] }): readonly string[] {
    const { removed = [], put = [] } = what;
    return this.replacements.hold({ removed, put, heldBack, revision: ++this.#revision });
  }
}

describe("S-ORD-06 a removal", () => {
  test("waits while what was held back when it came up is held back", () => {
    const flushes = new Flushes();
    expect(flushes.hold(held("new"), { removed: ["old"] })).toEqual(["old"]);
    expect(flushes.replacements.isAnyRemovalWaiting).toBe(true);
    expect(flushes.hold(held("new"), { removed: ["old"] })).toEqual(["old"]);
    expect(flushes.hold(held(), { removed: ["old"] })).toEqual([]);
    expect(flushes.replacements.isAnyRemovalWaiting).toBe(false);
  });

  test("does not wait for what is held back later, nor once more for a name that was let go", () => {
    const flushes = new Flushes();
    flushes.hold(held("a", "b"), { removed: ["old"] });
    expect(flushes.hold(held("b", "c"), { removed: ["old"] })).toEqual(["old"]);
    expect(flushes.hold(held("a", "c"), { removed: ["old"] })).toEqual([]);
  });

  test("waits for an earlier state of what is held back only if that is older than the removal", () => {
    const flushes = new Flushes();
    expect(flushes.hold(new Map([["a", earlier(0)]]), { removed: ["old"] })).toEqual(["old"]);
    expect(flushes.hold(new Map([["a", earlier(1)]]), { removed: ["old"] })).toEqual([]);
  });

  test("is not held back alone", () => {
    expect(new Flushes().hold(held(), { removed: ["old"], put: ["new"] })).toEqual([]);
  });
});

describe("S-ORD-06 a change", () => {
  test("waits for the removals that waited when it came up, held back or not", () => {
    const flushes = new Flushes();
    expect(flushes.hold(held("a"), { removed: ["x"], put: ["a", "other"] })).toEqual(["x", "other"]);
    expect(flushes.hold(held("b"), { removed: ["x", "y"], put: ["a", "b", "other"] })).toEqual(["y"]);
  });

  test("does not wait where nothing is removed", () => {
    expect(new Flushes().hold(held("a"), { put: ["a", "other"] })).toEqual([]);
  });
});

test("what waits is held back with nothing in its place", () => {
  const heldBack = new Map([["a", earlier(1)]]);
  expect(withWaiting(heldBack, [])).toBe(heldBack);
  expect([...withWaiting(heldBack, ["x"])]).toEqual([
    ["a", earlier(1)],
    ["x", undefined],
  ]);
});
