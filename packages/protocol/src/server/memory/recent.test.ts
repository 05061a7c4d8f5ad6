import { expect, test } from "vitest";
import { Recent } from "./recent.ts";

function recent(budget: number): {
  readonly made: string[];
  readonly get: (key: string, size: number) => number[];
  readonly size: () => number;
} {
  const made: string[] = [];
  const values = new Recent<number[]>(budget, ({ length }) => length);
  const get = (key: string, size: number): number[] =>
    values.get(key, () => {
      made.push(key);
      return Array.from({ length: size }, () => 0);
    });
  return { made, get, size: () => values.size };
}

test("what was made is made once", () => {
  const { made, get } = recent(100);
  expect(get("a", 5)).toBe(get("a", 5));
  expect(made).toEqual(["a"]);
});

test("beyond the budget, what was asked for least lately is let go", () => {
  const { made, get, size } = recent(12);
  for (const key of ["a", "b", "a", "c"]) get(key, 4);
  expect(size()).toBe(10);
  for (const key of ["a", "c", "b"]) get(key, 4);
  expect(made).toEqual(["a", "b", "c", "b"]);
});

test("values without elements count too", () => {
  const { get, size } = recent(12);
  for (let i = 0; i < 100; i++) get(`${i}`, 0);
  expect(size()).toBe(12);
});

test("the newest is kept whatever its size, until there is another one", () => {
  const { made, get } = recent(12);
  get("small", 1);
  expect(get("large", 50)).toBe(get("large", 50));
  get("small", 1);
  get("large", 50);
  expect(made).toEqual(["small", "large", "small", "large"]);
});

test("what has no key is made each time, and takes no space", () => {
  const values = new Recent<object>(12, () => 1);
  const get = (): object => values.get(undefined, () => ({}));
  expect(get()).not.toBe(get());
  expect(values.size).toBe(0);
});

test("what is within the budget to the element is kept", () => {
  const { made, get, size } = recent(10);
  for (const key of ["a", "b", "a"]) get(key, 4);
  expect([made, size()]).toEqual([["a", "b"], 10]);
});

test("nothing is left after it was cleared", () => {
  const values = new Recent<object>(12, () => 1);
  const get = (): object => values.get("a", () => ({}));
  const first = get();
  values.clear();
  expect([values.size, get() === first, values.size]).toEqual([0, false, 2]);
});
