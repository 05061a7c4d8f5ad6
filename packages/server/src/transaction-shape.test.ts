import { contentDigest } from "@xdskit/envoy-api";
import { createResource, formatTypeUrl, type Transaction } from "@xdskit/protocol";
import { expect, test } from "vitest";
import { checkTransaction } from "./transaction-shape.ts";

const type = formatTypeUrl("envoy.config.cluster.v3.Cluster");
const good = createResource({ type, name: "a", bytes: new Uint8Array() }, contentDigest);
const check = (given: unknown): unknown => checkTransaction(given as Transaction);

test("a transaction is taken as it is", () => {
  const changes = [{ layer: "base", puts: [good], deletes: [{ type, name: "b" }] }, { layer: "node/n" }];
  expect(check({ changes, systemVersion: "1" })).toBeUndefined();
});

test.each([
  [undefined, ["transaction: expected { changes: [...] }, got undefined"]],
  [[], ["transaction: expected { changes: [...] }, got a list"]],
  [{}, ["changes: expected a list, got undefined"]],
  [{ changes: ["x"] }, ["changes[0]: expected { layer, puts, deletes }, got a string"]],
  [
    { changes: [{ layr: "base", puts: [] }] },
    [
      "changes[0].layer: expected the name of a layer, got undefined",
      "changes[0].layr: expected one of layer, puts, deletes, typeVersions, canaries",
    ],
  ],
  [
    { changes: [{ layer: "", puts: {}, deletes: [{ type, name: "a" }, "b"] }] },
    [
      'changes[0].layer: expected the name of a layer, got ""',
      "changes[0].puts: expected a list, got another object",
      "changes[0].deletes[1]: expected { type, name }, got a string",
    ],
  ],
  [
    { changes: [{ layer: "base", puts: [good, { type, name: "a", bytes: new Uint8Array() }] }] },
    ["changes[0].puts[1]: expected a resource as createResource makes it, got another object"],
  ],
])("what is none is refused with every mistake by its path (%#)", (given, mistakes) => {
  const problems = mistakes.map((mistake) => {
    const [path, message] = mistake.split(/: (.*)/);
    return { path, message };
  });
  expect(() => check(given)).toThrow(
    expect.objectContaining({
      code: "TRANSACTION_INVALID",
      message: `nothing was committed: ${mistakes.join("; ")}`,
      problems,
    }),
  );
});
