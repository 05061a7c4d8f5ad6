import { expect, test } from "vitest";
import { PathMap } from "./path-map.ts";

/** Every path is its own value. */
function mapOf(...paths: readonly string[]): PathMap<string> {
  const map = new PathMap<string>();
  for (const path of paths) map.set(path, path);
  return map;
}

const taken = (map: PathMap<string>, path: string): readonly string[] => [...map.take(path).values()].sort();

test("a folder is taken out with all that is below it, and nothing beside it", () => {
  const map = mapOf("", "a", "a/b", "a/b/c", "a/bc", "ab", "a/b/d/e/f");
  expect(taken(map, "a/b")).toEqual(["a/b", "a/b/c", "a/b/d/e/f"]);
  expect([...map.keys()]).toEqual(["", "a", "a/bc", "ab"]);
  expect(taken(map, "a/b")).toEqual([]);
  expect(taken(map, "")).toEqual(["", "a", "a/bc", "ab"]);
  expect(map.size).toBe(0);
});

test("a folder without a value of its own is found as long as something is below it", () => {
  const map = mapOf("a/b/c", "a/b/d");
  map.delete("a/b/c");
  map.delete("a/b/c");
  map.set("a/b/d", "again");
  expect(taken(map, "a")).toEqual(["again"]);
  map.set("a/b/c", "new");
  map.clear();
  expect(taken(map, "a")).toEqual([]);
  map.set("a/b", "folder");
  expect(taken(map, "a/b")).toEqual(["folder"]);
});
