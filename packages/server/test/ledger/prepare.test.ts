import { createServer } from "@xdskit/server";
import { afterEach, expect, test, vi } from "vitest";
import { cluster, testApi } from "../support/test-server.ts";

const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const clusters = Array.from({ length: 20 }, (_, i) => cluster(`c${i}`));
const publication = { layers: new Map([["base", clusters]]), origin: { writer: "directory" } };

/** Counts the resources whose bodies are encoded. */
function countEncoded(): () => number {
  const stringify = vi.spyOn(JSON, "stringify");
  closing.push(async () => stringify.mockRestore());
  const isBody = (value: unknown): boolean => typeof value === "object" && value !== null && "bytes" in value;
  return () => stringify.mock.calls.filter(([value]) => isBody(value)).length;
}

test("what is prepared before it is published, even before the ledger is open, is not encoded again", async () => {
  const server = createServer({ api: testApi(), ledger: {} });
  closing.push(() => server.close());
  const encoded = countEncoded();
  server.prepare(clusters.slice(0, 15));
  expect(encoded()).toBe(15);
  expect(await server.publish(publication)).toMatchObject({ kind: "applied" });
  expect(encoded()).toBe(20);
});

test("what a source that failed had prepared is not kept", async () => {
  const server = createServer({ api: testApi(), ledger: {} });
  closing.push(() => server.close());
  const encoded = countEncoded();
  server.prepare(clusters);
  server.reportSource({ state: "failed", problems: [] });
  expect(await server.publish(publication)).toMatchObject({ kind: "applied" });
  expect(encoded()).toBe(40);
});

test("a server without a ledger has nothing to prepare", async () => {
  const server = createServer({ api: testApi() });
  closing.push(() => server.close());
  const encoded = countEncoded();
  server.prepare(clusters);
  expect(encoded()).toBe(0);
});
