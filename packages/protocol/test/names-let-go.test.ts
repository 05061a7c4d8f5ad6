import { expect, test } from "vitest";
import { Names } from "../src/server/subscription/names.ts";
import { Subscription } from "../src/server/subscription/subscription.ts";
import { heldOf } from "./support/garbage.ts";

/** Whether somebody holds on to an object. */
async function isHeld(object: WeakRef<object>, isExpected = false): Promise<boolean> {
  return (await heldOf([object], isExpected ? 1 : 0)) > 0;
}

test("a subscription keeps no snapshot of what it was", async () => {
  const subscription = new Subscription({ legacyWildcard: false, wildcardSticky: false });
  subscription.update(["a", "b", "c", "d"], []);
  const before = new WeakRef(subscription.scope.names);
  subscription.update([], ["a", "b", "c", "d"]);
  expect(await isHeld(before)).toBe(false);
});

test("a set of names keeps as many that were taken out as it has names, and no more", async () => {
  let all: Set<string> | undefined = new Set(["a", "b", "c", "d"]);
  const given = new WeakRef(all);
  let names = Names.of(all);
  all = undefined;
  const none = new Set<string>();
  expect([[...names.with(none, new Set(["a", "b"]))], await isHeld(given, true)]).toEqual([["c", "d"], true]);
  names = names.with(none, new Set(["a", "b", "c"]));
  expect([await isHeld(given), [...names]]).toEqual([false, ["d"]]);
});

test("a long name that was taken out counts as several", async () => {
  const long = "l".repeat(600);
  let all: Set<string> | undefined = new Set(["a", "b", long]);
  const given = new WeakRef(all);
  let names = Names.of(all);
  all = undefined;
  names = names.with(new Set(), new Set([long]));
  expect([await isHeld(given), [...names]]).toEqual([false, ["a", "b"]]);
});
