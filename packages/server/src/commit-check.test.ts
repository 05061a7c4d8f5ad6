import { contentDigest } from "@xdskit/envoy-api";
import { type Commit, createResource, formatTypeUrl } from "@xdskit/protocol";
import { describeProblem } from "@xdskit/protocol/internal";
import { expect, test } from "vitest";
import { readCommit } from "./commit-check.ts";

const type = formatTypeUrl("envoy.config.cluster.v3.Cluster");
const good = createResource({ type, name: "a", bytes: new Uint8Array() }, contentDigest);
const context = {
  insecure: true,
  statusReaders: "loopback",
  traits: () => undefined,
  onThrown: () => undefined,
} as const;
const check = (given: unknown) => readCommit(given as Commit, context);

test("a transaction is taken as it is", () => {
  const changes = [{ layer: "base", puts: [good], deletes: [{ type, name: "b" }] }, { layer: "node/n" }];
  expect(check({ changes, systemVersion: "1" })).toEqual({ transaction: { changes, systemVersion: "1" }, rules: {} });
});

test("rules are compiled, and those that are not given stay away", () => {
  const nodeMapping = { groups: [{ name: "g", match: { id: ["edge-*"], metadata: { stage: ["canary"] } } }] };
  const read = check({ changes: [], nodeMapping, access: "default", clientOverrides: [] });
  expect(read).toEqual({
    transaction: { changes: [] },
    rules: {
      nodeMapping,
      access: { grant: expect.any(Function), explain: expect.any(Function) },
      clients: expect.any(Function),
    },
  });
});

test.each([
  [undefined, ["transaction: expected { changes: [...] }, got undefined"]],
  [[], ["transaction: expected { changes: [...] }, got a list"]],
  [{}, ["changes: expected a list, got undefined"]],
  [
    { changes: [], access: { rules: [{ identities: ["anyone"], metadata: { tier: 1 } }] } },
    ["access.rules[0].metadata.tier: expected a string, got 1"],
  ],
  [{ changes: ["x"] }, ['changes[0]: expected an object, got "x"']],
  [
    { changes: [{ layr: "base", puts: [] }] },
    [
      'changes[0].layr: unknown option (did you mean "layer"?)',
      "changes[0].layer: expected the name of a layer, got undefined",
    ],
  ],
  [
    { changes: [{ layer: "", puts: {}, deletes: [{ type, name: "a" }, "b"] }] },
    [
      'changes[0].layer: expected the name of a layer, got ""',
      "changes[0].puts: expected a list, got an object",
      "changes[0].deletes[1]: expected { type, name }, got a string",
    ],
  ],
  [
    { changes: [{ layer: "base", typeVersions: { [type]: "1" }, canaries: [] }] },
    [
      "changes[0].typeVersions: expected a Map by type, got an object",
      "changes[0].canaries: expected a Map by type, got a list",
    ],
  ],
  [
    { changes: [{ layer: "base", puts: [good, { type, name: "a", bytes: new Uint8Array() }] }] },
    ["changes[0].puts[1]: expected a resource as createResource makes it, got an object"],
  ],
  [
    {
      ...{ changes: {}, systemVersion: 1, nodemapping: {} },
      nodeMapping: { groups: [{ name: "", match: { id: "a", zone: ["b"], locality: { zne: ["c"] } } }, "d"] },
      access: {
        rules: [
          { identities: ["anyone"], nodes: ["{who}"] },
          { identities: ["certificate"], types: ["x"] },
        ],
      },
      clientOverrides: [{ match: { metadata: { a: { b: 1 } } }, edition: "2017" }],
    },
    [
      "changes: expected a list, got an object",
      "systemVersion: expected a string, got 1",
      'nodemapping: unknown option (did you mean "nodeMapping"?)',
      'nodeMapping.groups[0].name: expected a name, got ""',
      'nodeMapping.groups[0].match.id: expected a list of patterns, got "a"',
      "nodeMapping.groups[0].match.zone: unknown option (it may be id, cluster, userAgentName, locality, metadata)",
      'nodeMapping.groups[0].match.locality.zne: unknown option (did you mean "zone"?)',
      'nodeMapping.groups[1]: expected an object, got "d"',
      "clientOverrides[0].match.metadata.a.b: expected a list of patterns, got 1",
      'clientOverrides[0].edition: expected one of 2018, 2020, 2021, current, got "2017"',
      "access.rules[0].nodes[0]: expected every entry of identities to capture {who}",
      'access.rules[1].types[0]: expected a message name such as "Secret", its type URL or "*", got "x"',
    ],
  ],
  [
    { changes: [], nodeMapping: "base", access: { rules: [{ identities: "anyone" }] }, clientOverrides: {} },
    [
      'nodeMapping: expected a function, or { groups: [...] }, got "base"',
      'access.rules[0].identities: expected a list of strings, got "anyone"',
      "clientOverrides: expected a function, or a list of objects, got an object",
    ],
  ],
])("what is none is refused with every mistake by its path (%#)", (given, mistakes) => {
  const checked = check(given);
  const problems = "problems" in checked ? checked.problems : [];
  expect(problems.map(describeProblem)).toEqual(mistakes);
  expect(problems.map(({ severity }) => severity)).toEqual(mistakes.map(() => "error"));
});
