import { createServer, type ManagementServer } from "@xdskit/server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { cluster, testApi } from "../support/test-server.ts";

let server: ManagementServer;
beforeAll(async () => {
  server = createServer({ api: testApi(), ledger: {} });
  await server.publish({ origin: { writer: "program" }, changes: [{ layer: "base", puts: [cluster("a")] }] });
});
afterAll(() => server.close());

test.each([
  ["approve", [undefined], "approve: number: expected the number of a record, got undefined"],
  ["approve", [1, "ann"], 'approve: by: expected an object, got "ann"'],
  ["reject", ["1"], 'reject: number: expected the number of a record, got "1"'],
  ["reject", [1, { autor: "ann" }], 'reject: by.autor: unknown option (did you mean "author"?)'],
  ["rollback", [Number.NaN], "rollback: to: expected the number of a record, got NaN"],
  ["rollback", [1, { force: true }], "rollback: options.force: unknown option (it may be author, message, isForced)"],
] as const)("%s of %j is refused with what is wrong", async (method, given, message) => {
  const decide = server[method].bind(server) as (...given: readonly unknown[]) => Promise<unknown>;
  await expect(decide(...given)).rejects.toMatchObject({ name: "XdsError", code: "OPTIONS_INVALID", message });
  expect(server.ledger?.number).toBe(1);
});

test("who decided need not be told", async () => {
  const refused = { kind: "refused" };
  expect([await server.approve(1), await server.reject(1, { author: undefined })]).toMatchObject([refused, refused]);
});
