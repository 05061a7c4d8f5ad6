import { expect, test } from "vitest";
import { anonymousNode, type Node } from "./node.ts";
import { type GroupRules, layersFor, mayConcern, type Peer } from "./node-mapping.ts";

const peer: Peer = { address: "127.0.0.1:1", isLoopback: true, isTls: false, names: [] };
const node: Node = { ...anonymousNode, id: "edge-7" };
const rules: GroupRules = {
  groups: [
    { name: "b", match: { id: ["edge-*"] } },
    { name: "missing", match: {} },
    { name: "a", match: {} },
    { name: "b", match: {} },
  ],
};

test("a node sees its own layer, its groups in the order of the rules, and base; of those that exist", () => {
  const layers = new Set(["base", "group/a", "group/b", "node/edge-7", "node/"]);
  const seenBy = (one: Node): unknown => layersFor(rules, { node: one, peer }, (layer) => layers.has(layer));
  expect(seenBy(node)).toEqual(["node/edge-7", "group/b", "group/a", "base"]);
  expect(seenBy({ ...node, id: "other" })).toEqual(["group/a", "group/b", "base"]);
  expect(seenBy(anonymousNode)).toEqual(["group/a", "group/b", "base"]);
  expect(layersFor(rules, { node, peer }, () => false)).toEqual(["base"]);
});

test("a function answers for itself", () => {
  const refuse = (): { refused: string } => ({ refused: "no" });
  expect(layersFor(refuse, { node, peer }, () => true)).toEqual({ refused: "no" });
});

test("a layer of one node concerns that node, that of a group anybody, and others nobody", () => {
  expect(mayConcern(new Set(["node/edge-7"]), node)).toBe(true);
  expect(mayConcern(new Set(["node/edge-8", "base"]), node)).toBe(false);
  expect(mayConcern(new Set(["group/a"]), node)).toBe(true);
});
