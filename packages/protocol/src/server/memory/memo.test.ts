import { expect, test } from "vitest";
import { memo } from "./memo.ts";

test("a value is made once for each key, and once more after it was dropped", () => {
  const made: string[] = [];
  const map = new Map<string, object>();
  const get = (key: string): object =>
    memo(map, key, () => {
      made.push(key);
      return {};
    });
  const [a, b] = [get("a"), get("b")];
  expect([get("a"), get("b"), map.get("a")].map((one, i) => one === [a, b, a][i])).toEqual([true, true, true]);
  map.delete("a");
  expect(get("a")).not.toBe(a);
  expect(made).toEqual(["a", "b", "a"]);
});
