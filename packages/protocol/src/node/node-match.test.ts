import fc from "fast-check";
import { expect, test } from "vitest";
import { anonymousNode, type Node } from "./node.ts";
import { globMatches, type NodeMatch, nodeMatches } from "./node-match.ts";

const node: Node = {
  ...anonymousNode,
  id: "edge-7",
  cluster: "front",
  userAgentName: "gRPC Go",
  locality: { region: "eu", zone: "eu-1", subZone: "" },
  metadata: { stage: "canary", tags: ["a", "b"], build: 7, nested: { team: "blue" } },
};

test.each<[string, NodeMatch, boolean]>([
  ["nothing in particular", {}, true],
  ["an id", { id: ["edge-7"] }, true],
  ["one of several ids", { id: ["x", "edge-?"] }, true],
  ["another id", { id: ["edge-?7"] }, false],
  ["an id and a cluster", { id: ["edge-*"], cluster: ["back"] }, false],
  ["what the client calls itself", { userAgentName: ["gRPC *"] }, true],
  ["another client", { userAgentName: ["envoy"] }, false],
  ["a region and a zone", { locality: { region: ["eu"], zone: ["eu-*"] } }, true],
  ["a sub zone", { locality: { subZone: ["x"] } }, false],
  ["metadata", { metadata: { stage: ["canary", "test"] } }, true],
  ["a number in metadata", { metadata: { build: ["7"] } }, true],
  ["an item of a list in metadata", { metadata: { tags: ["b"] } }, true],
  ["a field inside a field", { metadata: { nested: { team: ["bl*"] } } }, true],
  ["a field that is not there", { metadata: { toString: ["*"] } }, false],
  ["a text where there is a mapping", { metadata: { nested: ["*"] } }, false],
])("a rule about %s", (_, match, expected) => {
  expect(nodeMatches(match, node)).toBe(expected);
});

test("a node without a locality is in no region", () => {
  expect(nodeMatches({ locality: { region: ["*"] } }, anonymousNode)).toBe(false);
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
