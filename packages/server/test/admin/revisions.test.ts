import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { get, type IncomingMessage, type OutgoingHttpHeaders, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Resource } from "@xdskit/protocol";
import { createServer, type FuseSettings, type ManagementServer, type PlanAnswer, XdsError } from "@xdskit/server";
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
async function start(fuses: Partial<FuseSettings> = {}, names: readonly string[] = ["console.example"]) {
  const ledger = { directory: join(directory, "ledger"), fuses };
  const server = createServer({ api: testApi(), ledger, admin: { names } });
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
    ...{ total: 2, next: 1, decisions: [] },
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
  expect((await ask("/api/v1/server")).body).toMatchObject({ ready: true, ledger: { number: 1 } });
  await server.close();
  const again = await start();
  expect((await again.ask("/api/v1/server")).body).toMatchObject({
    ready: true,
    ledger: { number: 1, missing: { total: 1, resources: [{ layer: "base", type: SECRET, name: "s" }] } },
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

test("a decision on what is not held is refused", async () => {
  const { server, ask } = await start();
  await server.publish({ layers: base(cluster("a")), origin });
  expect(await ask("/api/v1/approve/1", { method: "POST" })).toEqual({
    status: 409,
    body: { result: "refused", reason: "1 is not held; nothing is" },
  });
  expect((await ask("/api/v1/approve/1")).status).toBe(405);
});

/** Four clusters and a listener, of which three are deleted by a change that a fuse holds. */
async function startWithHeld() {
  const fuses = { resourcesRemoved: 0.5, resourcesRemovedFloor: 1 };
  const started = await start(fuses);
  const all = ["a", "b", "c", "d"].map((name) => cluster(name));
  await started.server.publish({ layers: base(...all), author: "ann", origin });
  const held = await started.server.publish({ layers: base(cluster("a")), author: "bob", origin });
  expect(held).toMatchObject({ kind: "held", number: 2 });
  return started;
}

test("the history is filtered by kind, author and resource, over pages", async () => {
  const { server, ask } = await startWithHeld();
  await ask("/api/v1/approve/2?message=meant", { method: "POST" });
  for (let version = 1; version <= 5; version++)
    await server.publish({ layers: base(cluster("a", `${version}`)), author: "ann", origin });
  const numbers = async (query: string): Promise<unknown> => {
    const { items, next } = (await ask(`/api/v1/revisions?${query}`)).body as {
      items: { number: number }[];
      next?: number;
    };
    return [items.map(({ number }) => number), next];
  };
  expect(await numbers("kind=held&kind=approved")).toEqual([[3, 2], undefined]);
  expect(await numbers("author=an*&limit=2")).toEqual([[8, 7], 7]);
  expect(await numbers("author=an*&limit=4&before=7")).toEqual([[6, 5, 4, 1], undefined]);
  expect(await numbers("resource=d")).toEqual([[3, 2, 1], undefined]);
  expect(await numbers("kind=rejected")).toEqual([[], undefined]);
  expect((await ask("/api/v1/revisions?kind=other")).status).toBe(400);
});

test("a plan says what a decision would change, and changes nothing", async () => {
  const { ask } = await startWithHeld();
  const nodes = { connected: 0, affected: 0, moved: 0, cutOff: 0, named: [] };
  const counts = (deleted: number) => [
    { layer: "base", type: CLUSTER, shortName: "cds", isLive: false, added: 0, changed: 0, deleted },
  ];
  const fuse = { fuse: "resources-removed", layer: "base", type: CLUSTER };
  const fuses = [{ ...fuse, message: "3 of 4 Cluster resources would be gone from layer base" }];
  const none = { head: 2, placement: false, nodes, counts: [], changes: [], total: 0 };
  const asked = async (path: string) => (await ask(`/api/v1/plan/${path}`)).body as PlanAnswer;
  const approval = await asked("2?decision=approve&limit=2");
  expect(approval).toEqual({
    ...{ ...none, result: "applied", fuses, counts: counts(3), total: 3, next: 2, changes: approval.changes },
  });
  expect(approval.changes.map(({ change, name }) => `${change} ${name}`)).toEqual(["deleted b", "deleted c"]);
  expect(await asked("2?decision=reject")).toEqual({ ...none, result: "unchanged", fuses });
  const reason = "nothing was in force at 0: use 1";
  expect(await asked("0?decision=rollback")).toEqual({ ...none, result: "refused", reason });
  expect(await asked("1?decision=rollback")).toEqual({ ...none, result: "unchanged" });
  expect(await asked("1?decision=approve")).toEqual({ ...none, result: "refused", reason: "1 is not held; 2 is" });
  expect((await ask("/api/v1/plan/2")).status).toBe(400);
  expect((await ask("/api/v1/server")).body).toMatchObject({ ledger: { number: 2, held: { number: 2 } } });
});

test("a record has the later ones that decide on it or take it back", async () => {
  const { server, ask } = await startWithHeld();
  await ask("/api/v1/reject/2?message=no", { method: "POST" });
  await server.publish({ layers: base(...["a", "b", "c", "e"].map((name) => cluster(name))), origin });
  await ask("/api/v1/rollback/1?message=back", { method: "POST" });
  const decisionsOn = async (number: number): Promise<unknown> =>
    ((await ask(`/api/v1/revisions/${number}`)).body as { decisions: unknown }).decisions;
  const loopback = { author: "loopback" };
  expect(await decisionsOn(2)).toMatchObject([{ ...loopback, number: 3, kind: "rejected", of: 2, message: "no" }]);
  expect(await decisionsOn(4)).toMatchObject([{ ...loopback, number: 5, kind: "rolled-back", to: 1, message: "back" }]);
  expect(await decisionsOn(1)).toEqual([]);
});

const decisions: readonly (readonly [says: string, status: number, headers: (port: number) => OutgoingHttpHeaders])[] =
  [
    ["the console", 200, (port) => pageAt(`127.0.0.1:${port}`)],
    ["the console at localhost", 200, (port) => pageAt(`localhost:${port}`)],
    ["the console at a configured name", 200, () => pageAt("console.example")],
    ["the console behind a proxy", 200, (port) => ({ ...pageAt("console.example"), host: `127.0.0.1:${port}` })],
    [
      "the console over plaintext, of which a browser says less",
      200,
      (port) => ({ origin: `http://127.0.0.1:${port}` }),
    ],
    ["a program", 200, () => ({})],
    ["a page of another site", 403, () => ({ origin: "http://evil.example", "sec-fetch-site": "cross-site" })],
    ["a page of another site, of which a browser says less", 403, () => ({ origin: "http://evil.example" })],
    ["a page of another port", 403, () => ({ origin: "http://127.0.0.1:1", "sec-fetch-site": "same-site" })],
    ["a page of another port, of which a browser says less", 403, () => ({ origin: "http://127.0.0.1:1" })],
    ["a sandboxed page", 403, () => ({ origin: "null" })],
    ["a page without Origin", 403, () => ({ "sec-fetch-site": "cross-site" })],
    ["an old browser", 403, () => ({ "user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:60.0)" })],
    ["a page of a rebound name", 403, () => pageAt("evil.example")],
    [
      "a page of a rebound name behind a proxy that replaces the Host",
      403,
      (port) => ({ ...pageAt("evil.example"), host: `127.0.0.1:${port}` }),
    ],
  ];

function pageAt(host: string): OutgoingHttpHeaders {
  return { host, origin: `http://${host}`, "sec-fetch-site": "same-origin" };
}

async function post(url: string, headers: OutgoingHttpHeaders): Promise<number | undefined> {
  const asked = request(url, { method: "POST", headers });
  asked.end();
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  response.resume();
  return response.statusCode;
}

test.each(decisions)("a decision of %s gets %i", async (_, status, headers) => {
  const { root, ask } = await startWithHeld();
  expect(await post(`${root}/api/v1/reject/2`, headers(Number(new URL(root).port)))).toBe(status);
  const { body } = await ask("/api/v1/revisions?limit=1");
  expect(body).toMatchObject({ items: [{ number: status === 200 ? 3 : 2 }] });
});

test("where any name may read, a rebound one may not decide", async () => {
  const { root } = await start({}, ["*"]);
  expect(await post(`${root}/api/v1/reject/0`, pageAt("evil.example"))).toBe(403);
});

test("a caller is told who it is, and whether it may decide", async () => {
  const { ask } = await start();
  expect((await ask("/api/v1/caller")).body).toEqual({ name: "loopback", role: "operator", mayChange: true });
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
