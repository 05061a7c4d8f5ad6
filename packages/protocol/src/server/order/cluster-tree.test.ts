import { expect, test } from "vitest";
import { ClusterTree } from "./cluster-tree.ts";

test("what each Cluster lacks is looked up once, however deep aggregates are nested, and wherever they lead back to", () => {
  const depth = 50_000;
  const looked = new Map<string, number>();
  const tree = new ClusterTree({
    membersOf: (name) => (Number(name) < depth ? [String(Number(name) + 1), "0"] : []),
    lackOf: (name) => {
      looked.set(name, (looked.get(name) ?? 0) + 1);
      return Number(name) === depth ? { wait: { for: "cluster", name } } : {};
    },
  });
  const wait = { for: "cluster", name: String(depth) };
  expect([tree.lackOf("0").wait, tree.lackOf("7").wait]).toEqual([wait, wait]);
  expect([looked.size, Math.max(...looked.values())]).toEqual([depth + 1, 1]);
});
