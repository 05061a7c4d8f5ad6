import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { get, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Resource } from "@xdskit/protocol";
import { createServer, type ManagementServer, XdsError } from "@xdskit/server";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type ApiDocument, mismatches } from "../support/json-schema.ts";
import { secret } from "../support/secret.ts";
import { CLUSTER, cluster, SECRET, testApi } from "../support/test-server.ts";

let directory: string;
const servers: ManagementServer[] = [];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "xdskit-revisions-"));
});
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
  rmSync(directory, { recursive: true, force: true });
});

/** A server whose ledger is in the directory, and how to ask its admin API. */
async function start() {
  const server = createServer({ api: testApi(), ledger: { directory: join(directory, "ledger") }, admin: {} });
  servers.push(server);
  const { adminAddress } = await server.listen();
  const root = `http://127.0.0.1:${adminAddress?.port}`;
  const document = (await (await fetch(`${root}/api/v1/openapi.json`)).json()) as ApiDocument;
  const ask = async (path: string, init?: RequestInit): Promise<{ status: number; body: unknown }> => {
    const response = await fetch(root + path, init);
    const { status } = response;
    const body: unknown = await response.json();
    expect(mismatches(document, path, status, body)).toEqual([]);
    return { status, body };
  };
  return { server, ask, root };
}

const origin = { writer: "directory" };
const base = (...resources: readonly Resource[]) => new Map([["base", resources]]);

test("the history says what was published by whom, newest first, in pages", async () => {
  const { server, ask } = await start();
  await server.publish({ layers: base(cluster("a")), author: "ann", message: "first", origin });
  await server.publish({ layers: base(cluster("a", "2"), cluster("b")), author: "bob", origin });
  await server.publish({ layers: base(cluster("b")), origin });
  const one = { kind: "revision", writer: "directory", placement: false, time: expect.any(String) };
  const none = { added: 0, changed: 0, deleted: 0 };
  const third = { ...one, ...none, number: 3, deleted: 1 };
  const second = { ...one, ...none, number: 2, author: "bob", added: 1, changed: 1 };
  const first = { ...one, ...none, number: 1, author: "ann", message: "first", added: 1 };
  expect((await ask("/api/v1/revisions")).body).toEqual({ items: [third, second, first], head: 3 });
  expect((await ask("/api/v1/revisions?limit=2")).body).toEqual({ items: [third, second], head: 3, next: 2 });
  expect((await ask("/api/v1/revisions?limit=2&before=2")).body).toEqual({ items: [first], head: 3 });
  expect((await ask("/api/v1/revisions/2?limit=1")).body).toEqual({
    ...second,
    changes: [
      {
        ...{ change: "changed", layer: "base", type: CLUSTER, shortName: "cds", name: "a" },
        before: { version: cluster("a").version },
        after: { version: cluster("a", "2").version },
      },
    ],
    ...{ total: 2, next: 1 },
  });
  const change = { layer: "base", type: CLUSTER, shortName: "cds", name: "b" };
  expect((await ask("/api/v1/diff?from=1")).body).toEqual({
    ...{ from: 1, to: 3, total: 2 },
    changes: [
      { ...change, name: "a", change: "deleted", before: { version: cluster("a").version } },
      { ...change, change: "added", after: { version: cluster("b").version } },
    ],
  });
  expect((await ask("/api/v1/diff?from=3&to=0&body=true")).body).toMatchObject({
    changes: [{ change: "deleted", before: { version: cluster("b").version, body: { name: "b" } } }],
  });
  expect((await ask("/api/v1/revisions/4")).status).toBe(404);
  expect((await ask("/api/v1/diff?from=x")).status).toBe(400);
});

test("a restart serves what was served, and says what it has no content of", async () => {
  const { server, ask } = await start();
  await server.publish({ layers: base(cluster("a"), secret("s", "key")), origin });
  expect((await ask("/api/v1/server")).body).toMatchObject({ ready: true, ledger: { number: 2 } });
  await server.close();
  const again = await start();
  expect((await again.ask("/api/v1/server")).body).toMatchObject({
    ready: true,
    ledger: { number: 2, missing: { total: 1, resources: [{ layer: "base", type: SECRET, name: "s" }] } },
  });
  expect((await again.ask("/api/v1/resources")).body).toMatchObject({ items: [{ name: "a" }], total: 1 });
});

test.each([
  ["no-cors", 403],
  ["cors", 403],
  ["navigate", 200],
])("a page of another site may not ask, but a link there may lead here (%s)", async (mode, status) => {
  const { root } = await start();
  const asked = get(`${root}/api/v1/progress/head`, {
    headers: { "sec-fetch-site": "cross-site", "sec-fetch-mode": mode },
  });
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  response.resume();
  expect(response.statusCode).toBe(status);
});

test("a decision on what is not held is refused, and a web page may not decide", async () => {
  const { server, ask } = await start();
  await server.publish({ layers: base(cluster("a")), origin });
  expect(await ask("/api/v1/approve/1", { method: "POST" })).toEqual({
    status: 409,
    body: { result: "refused", reason: "1 is not held; nothing is" },
  });
  const origins = { method: "POST", headers: { origin: "http://evil.example" } };
  expect((await ask("/api/v1/reject/1", origins)).status).toBe(403);
  expect((await ask("/api/v1/approve/1")).status).toBe(405);
});

test("a server with a ledger is changed by publish only, one without has no publish", async () => {
  const { server } = await start();
  const code = expect.objectContaining({ code: "SERVER_STATE" }) as Error;
  expect(() => server.commit({ changes: [] })).toThrow(code);
  expect(() => server.set("base", [])).toThrow(XdsError);
  const plain = createServer({ api: testApi() });
  servers.push(plain);
  await expect(plain.publish({ layers: base(), origin })).rejects.toThrow(code);
});
