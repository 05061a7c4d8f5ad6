import { formatTypeUrl } from "@xdskit/protocol";
import type { MeshNode } from "@xdskit/protocol/internal";
import { expect, test } from "vitest";
import { LazyMap } from "./lazy-map.ts";
import { NodeStore } from "./node-store.ts";

const TYPE = formatTypeUrl("envoy.config.cluster.v3.Cluster");

function node(name: string, source: string, state: MeshNode["state"] = "ready"): MeshNode {
  const nothing = {
    resource: undefined,
    warming: undefined,
    links: [],
    watches: [],
    isRoot: false,
    failure: undefined,
  };
  return { id: `${source}/${name}`, source, type: TYPE, name, state, ...nothing };
}

const store = (): NodeStore => new NodeStore(() => "cds");
const names = (one: NodeStore): readonly string[] => [...(one.handOut().byKind.get("cds")?.keys() ?? [])];

test("what was handed out stays as it was", () => {
  const nodes = store();
  nodes.put(node("a", "one"));
  const first = nodes.handOut();
  nodes.put(node("a", "one", "absent"));
  nodes.put(node("b", "one"));
  nodes.delete("one/a");
  expect([...first.byId.values()]).toEqual([node("a", "one")]);
  expect([...(first.byKind.get("cds") ?? [])]).toEqual([["a", node("a", "one")]]);
  expect([...nodes.handOut().byId.values()]).toEqual([node("b", "one")]);
});

test("what does not change is not copied", () => {
  const nodes = store();
  nodes.put(node("a", "one"));
  const first = nodes.handOut();
  const second = nodes.handOut();
  expect(second.byId).toBe(first.byId);
  expect(second.byKind.get("cds")).toBe(first.byKind.get("cds"));
});

test("of several of one name the first has the name, and the others their ids", () => {
  const nodes = store();
  nodes.put(node("a", "one"));
  nodes.put(node("a", "two"));
  nodes.put(node("a", "two", "absent"));
  expect(names(nodes)).toEqual(["a", "two/a"]);
  nodes.delete("one/a");
  expect(names(nodes)).toEqual(["two/a"]);
  nodes.put(node("a", "three"));
  nodes.delete("two/a");
  nodes.delete("none");
  expect(names(nodes)).toEqual(["a"]);
});

test("a lazy map makes what is looked at, and is a map like any other", () => {
  const looked: number[] = [];
  const map = new LazyMap(
    new Map([
      ["a", 1],
      ["b", 2],
    ]),
    (value) => {
      looked.push(value);
      return value * 10;
    },
  );
  expect([map.get("b"), map.get("c"), map.has("a"), map.size, looked]).toEqual([20, undefined, true, 2, [2]]);
  const each: unknown[] = [];
  for (const [key, value] of map.entries()) each.push(key, value);
  for (const [key, value] of [...map]) each.push(key, value);
  expect(each).toEqual(["a", 10, "b", 20, "a", 10, "b", 20]);
  expect([[...map.keys()], [...map.values()]]).toEqual([
    ["a", "b"],
    [10, 20],
  ]);
});
