import { expect, test } from "vitest";
import { collectGarbage } from "../../test/support/garbage.ts";
import { SharedWhileUsed } from "./shared-while-used.ts";

test("a value is shared under its key as long as somebody has it", async () => {
  const values = new SharedWhileUsed<{ readonly of: string }>();
  const get = (key: string | undefined): { readonly of: string } => values.get(key, () => ({ of: `${key}` }));
  const kept = get("a");
  const dropped = new WeakRef(get("b"));
  expect([get("a") === kept, get("b") === kept]).toEqual([true, false]);
  await collectGarbage();
  expect([get("a") === kept, dropped.deref(), get("b")]).toEqual([true, undefined, { of: "b" }]);
});

test("a value without a key is not shared, and nothing is after the values were cleared", () => {
  const values = new SharedWhileUsed<object>();
  const get = (key: string | undefined): object => values.get(key, () => ({}));
  expect(get(undefined)).not.toBe(get(undefined));
  const kept = get("a");
  values.clear();
  expect(get("a")).not.toBe(kept);
});

test("values that are in use stay shared however many others are made", () => {
  const values = new SharedWhileUsed<object>();
  const get = (key: string): object => values.get(key, () => ({}));
  const kept = Array.from({ length: 300 }, (_, i) => get(`${i}`));
  expect(kept.map((one, i) => get(`${i}`) === one)).toEqual(kept.map(() => true));
});
