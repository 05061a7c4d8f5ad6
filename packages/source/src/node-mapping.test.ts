import { anonymousNode, type Node, type Peer } from "@xdskit/protocol";
import { expect, test } from "vitest";
import { createNodeMapping } from "./node-mapping.ts";
import type { GroupRule } from "./settings/group-rule.ts";

const peer: Peer = { address: "127.0.0.1:1", isLoopback: true, isTls: false, names: [] };
const node: Node = {
  ...anonymousNode,
  id: "edge-7",
  cluster: "front",
  locality: { region: "eu", zone: "eu-1", subZone: "" },
  metadata: { stage: "canary", tags: ["a", "b"], build: 7, nested: { team: "blue" } },
};

const rules: readonly GroupRule[] = [
  { name: "b", match: { id: ["edge-*"] } },
  { name: "missing", match: {} },
  { name: "a", match: {} },
  { name: "b", match: {} },
];

test("a node sees its own layer, its groups in the order of the rules, and base; of those that exist", () => {
  const place = createNodeMapping(rules, new Set(["base", "group/a", "group/b", "node/edge-7"]));
  expect(place(node, peer)).toEqual(["node/edge-7", "group/b", "group/a", "base"]);
  expect(place({ ...node, id: "other" }, peer)).toEqual(["group/a", "group/b", "base"]);
  expect(createNodeMapping(rules, new Set())(node, peer)).toEqual(["base"]);
});
