import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { KeptResource } from "@xdskit/protocol/internal";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { SourceConfig } from "../src/config/client-config.ts";
import { configOfServers } from "../src/options/server-config.ts";
import { createResourceStore } from "../src/store/resource-store.ts";
import { createSourceCache } from "../src/store/source-cache.ts";
import { CLUSTER, testApi } from "./support/sources.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "xdskit-client-cache-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const node = (): { readonly id: string; readonly cluster: string } => ({ id: "node-1", cluster: "" });

function withToken(token: string): SourceConfig {
  const source = configOfServers({ headers: { authorization: token } }, ["10.0.0.1:443"]).defaultSource;
  if (source === undefined) throw new Error("expected a source");
  return source;
}

/** A life of a client that asks for its sources in that order: what it finds of each. Then each has a resource that is called as its token is. */
async function life(tokens: readonly string[], configured: readonly string[] = []): Promise<readonly unknown[]> {
  const store = createResourceStore({ path: join(directory, "cache"), api: testApi(), onProblem: () => {} });
  await store.load();
  const cache = createSourceCache(store, { node, configured: configured.map(withToken) });
  const found = tokens.map((token) => cache.restore(withToken(token))?.map(({ name }) => name));
  for (const token of tokens) cache.save(withToken(token).id, () => [resource(token)]);
  await store.close();
  return found;
}

function resource(name: string): KeptResource {
  return { type: CLUSTER, name, aliases: [], version: "1", bytes: new Uint8Array() };
}

test("what was kept is found with another token, and with the one before again", async () => {
  await life(["one"]);
  expect([await life(["two"]), await life(["one"])]).toEqual([[["one"]], [["two"]]]);
});

test("sources that only a token tells apart keep their own, in whatever order they are asked for", async () => {
  await life(["a", "b"]);
  expect([await life(["b", "a"]), await life(["a", "b"])]).toEqual([
    [["b"], ["a"]],
    [["a"], ["b"]],
  ]);
});

test("of two, one with another token is found if it is known which is the other one", async () => {
  await life(["a", "b"]);
  expect(await life(["a", "new"])).toEqual([["a"], ["b"]]);
});

test("where it cannot be known which is which, nothing is found", async () => {
  await life(["a", "b"]);
  expect(await life(["new a", "new b"])).toEqual([undefined, undefined]);
});

test("what another source of the configuration has kept is not taken", async () => {
  await life(["a"]);
  expect(await life(["new", "a"], ["new", "a"])).toEqual([undefined, ["a"]]);
});

test("a source that is released is kept only with what it holds", async () => {
  const path = join(directory, "cache");
  const store = createResourceStore({ path, api: testApi(), onProblem: () => {} });
  const cache = createSourceCache(store, { node, configured: [] });
  let held: readonly KeptResource[] = [resource("a")];
  for (const token of ["full", "empty"]) cache.restore(withToken(token));
  cache.save(withToken("full").id, () => held);
  cache.release(withToken("full").id);
  held = [];
  cache.save(withToken("empty").id, () => held);
  cache.release(withToken("empty").id);
  expect([...store.sources()]).toHaveLength(1);
  expect(cache.restore(withToken("full"))?.map(({ name }) => name)).toEqual(["a"]);
  await store.close();
});
