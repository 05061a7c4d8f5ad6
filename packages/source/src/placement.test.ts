import { anonymousNode, type Node, type Peer } from "@xdskit/protocol";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createPlacement } from "./placement.ts";
import { type GroupRule, globMatches, type NodeMatch, ruleMatches } from "./settings/group-rule.ts";

const peer: Peer = { address: "127.0.0.1:1", isLoopback: true, isTls: false, names: [] };
const node: Node = {
  ...anonymousNode,
  id: "edge-7",
  cluster: "front",
  locality: { region: "eu", zone: "eu-1", subZone: "" },
  metadata: { stage: "canary", tags: ["a", "b"], build: 7, nested: { team: "blue" } },
};

test.each<[string, NodeMatch, boolean]>([
  ["nothing in particular", {}, true],
  ["an id", { id: ["edge-7"] }, true],
  ["one of several ids", { id: ["x", "edge-?"] }, true],
  ["another id", { id: ["edge-?7"] }, false],
  ["an id and a cluster", { id: ["edge-*"], cluster: ["back"] }, false],
  ["a region and a zone", { locality: { region: ["eu"], zone: ["eu-*"] } }, true],
  ["a sub zone", { locality: { subZone: ["x"] } }, false],
  ["metadata", { metadata: { stage: ["canary", "test"] } }, true],
  ["a number in metadata", { metadata: { build: ["7"] } }, true],
  ["an item of a list in metadata", { metadata: { tags: ["b"] } }, true],
  ["a field inside a field", { metadata: { nested: { team: ["bl*"] } } }, true],
  ["a field that is not there", { metadata: { toString: ["*"] } }, false],
  ["a text where there is a mapping", { metadata: { nested: ["*"] } }, false],
])("a rule about %s", (_, match, expected) => {
  expect(ruleMatches({ name: "g", match }, node)).toBe(expected);
});

test("a node without a locality is in no region", () => {
  expect(ruleMatches({ name: "g", match: { locality: { region: ["*"] } } }, anonymousNode)).toBe(false);
});

const rules: readonly GroupRule[] = [
  { name: "b", match: { id: ["edge-*"] } },
  { name: "missing", match: {} },
  { name: "a", match: {} },
  { name: "b", match: {} },
];

test("a node sees its own layer, its groups in the order of the rules, and base; of those that exist", () => {
  const place = createPlacement(rules, new Set(["base", "group/a", "group/b", "node/edge-7"]));
  expect(place(node, peer)).toEqual(["node/edge-7", "group/b", "group/a", "base"]);
  expect(place({ ...node, id: "other" }, peer)).toEqual(["group/a", "group/b", "base"]);
  expect(createPlacement(rules, new Set())(node, peer)).toEqual(["base"]);
});

test("a pattern means what the regular expression means", () => {
  const letters = fc.string({ unit: fc.constantFrom("a", "b", "."), maxLength: 8 });
  const pattern = fc.string({ unit: fc.constantFrom("a", "b", ".", "*", "?"), maxLength: 6 });
  fc.assert(
    fc.property(pattern, letters, (glob, text) => {
      const source = glob.replaceAll(".", "\\.").replaceAll("*", ".*").replaceAll("?", ".");
      expect(globMatches(glob, text)).toBe(new RegExp(`^${source}$`).test(text));
    }),
  );
});

test("a pattern of many stars takes no time", () => {
  expect(globMatches(`${"*a".repeat(30)}*b`, "a".repeat(5000))).toBe(false);
});
