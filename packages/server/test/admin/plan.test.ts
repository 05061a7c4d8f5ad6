import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:net";
import type { Resource } from "@xdskit/protocol";
import { createServer, type ManagementServer, type PlanAnswer, planLines } from "@xdskit/server";
import fc from "fast-check";
import { afterEach, expect, onTestFinished, test } from "vitest";
import { type ApiDocument, mismatches } from "../support/json-schema.ts";
import { secret } from "../support/secret.ts";
import { CLUSTER, cluster, ENDPOINTS, resource, testApi } from "../support/test-server.ts";

const servers: ManagementServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

type Layers = ReadonlyMap<string, readonly Resource[]>;
const origin = { writer: "directory" };
const placement = { groups: [], clients: [], access: undefined };
const base = (...resources: readonly Resource[]): Layers => new Map([["base", resources]]);
const named = (count: number): readonly Resource[] => Array.from({ length: count }, (_, i) => cluster(`c${i}`));

async function start() {
  const server = createServer({ api: testApi(), ledger: {}, admin: {} });
  servers.push(server);
  const { adminAddress } = await server.listen();
  const root = `http://127.0.0.1:${adminAddress?.port}`;
  const document = (await (await fetch(`${root}/api/v1/openapi.json`)).json()) as ApiDocument;
  const send = async (body: string, query = "") => {
    const response = await fetch(`${root}/api/v1/plan${query}`, { method: "POST", body });
    const answer = (await response.json()) as PlanAnswer;
    expect(mismatches(document, "/api/v1/plan", response.status, answer)).toEqual([]);
    return { status: response.status, answer };
  };
  const plan = async (layers: Layers, query?: string): Promise<PlanAnswer> =>
    (await send([...planLines({ layers, placement }, testApi())].join(""), query)).answer;
  /** Sends a plan of which so many bytes are missing; resolves once it was written. */
  const upload = async (parts: readonly string[], missing: number) => {
    const length = Buffer.byteLength(parts.join("")) + missing;
    const sending = request(`${root}/api/v1/plan`, { method: "POST", headers: { "content-length": length } });
    onTestFinished(() => void sending.destroy());
    const answer = new Promise<number | undefined>((resolve) => {
      sending.on("response", (response) => resolve(response.resume().statusCode)).on("error", () => resolve(undefined));
    });
    for (const part of parts)
      if (!sending.write(part)) await Promise.race([once(sending, "drain").catch(() => undefined), answer]);
    if (missing === 0) sending.end();
    return { answer, leave: () => void sending.destroy() };
  };
  return { server, plan, send, upload };
}

test("a plan says what would change and applies nothing", async () => {
  const { server, plan } = await start();
  await server.publish({ layers: base(cluster("a"), cluster("b")), placement, origin });
  const wanted = base(cluster("a", "2"), cluster("c"), secret("s", "key"));
  const one = { layer: "base", type: CLUSTER, shortName: "cds" };
  const answer = await plan(wanted);
  expect(answer).toMatchObject({
    ...{ result: "applied", head: 1, placement: false, total: 4, nodes: { connected: 0, affected: 0, named: [] } },
    counts: [
      { ...one, isLive: false, added: 1, changed: 1, deleted: 1 },
      { layer: "base", shortName: "sds", isLive: true, added: 1, changed: 0, deleted: 0 },
    ],
  });
  expect(answer.changes.map(({ change, name }) => `${change} ${name}`)).toEqual([
    ...["changed a", "added c", "added s", "deleted b"],
  ]);
  expect(server.ledger).toMatchObject({ number: 1 });
  expect(await plan(base(cluster("a"), cluster("b")))).toMatchObject({ result: "unchanged", total: 0 });
});

test("a plan has the fuses that would hold it, with figures", async () => {
  const { server, plan } = await start();
  await server.publish({ layers: base(...named(30)), placement, origin });
  const message = "29 of 30 Cluster resources would be gone from layer base";
  const answer = await plan(base(cluster("c0")), "?limit=1");
  expect(answer).toMatchObject({ result: "held", fuses: [{ fuse: "resources-removed", message }], total: 29, next: 1 });
  expect(server.ledger).toMatchObject({ number: 1 });
});

test("content of resources is no part of what is sent", () => {
  const lines = [...planLines({ layers: base(secret("s", "a-key"), cluster("c", "padding")), placement }, testApi())];
  expect(lines.join("")).not.toMatch(/a-key|padding|YS1rZXk|cGFkZGluZ/);
});

test("a plan comes to what a publish comes to", async () => {
  const { server, plan } = await start();
  const one = fc.record({ name: fc.nat(30), text: fc.nat(2), live: fc.boolean() });
  const state = fc.array(
    fc.record({ layer: fc.constantFrom("base", "group/x"), of: fc.array(one, { maxLength: 30 }) }),
  );
  await fc.assert(
    fc.asyncProperty(state, async (given) => {
      const layers = new Map<string, readonly Resource[]>();
      for (const { layer, of } of given) {
        const made = of.map(({ name, text, live }) => resource(live ? ENDPOINTS : CLUSTER, `r${name}`, `${text}`));
        layers.set(layer, [...new Map(made.map((put) => [`${put.type} ${put.name}`, put])).values()]);
      }
      const planned = await plan(layers);
      const published = await server.publish({ layers, placement, origin });
      expect(planned.result).toBe(published.kind);
      if (published.kind === "held")
        expect(planned.fuses?.map(({ message }) => message)).toEqual(published.trips.map(({ message }) => message));
    }),
    { numRuns: 60 },
  );
});

test.each([
  ["nothing", "", 400, "line 1: expected the placement, got nothing"],
  ["no JSON", "{", 400, "line 1: expected an object in JSON"],
  ["no placement", "{}\n", 400, "line 1: expected { placement: { groups, clients } }"],
  ["half a resource", '{"placement":{"groups":[],"clients":[]}}\n{"layer":"base"}', 400, "line 2: expected a resource"],
  ["a line without an end", "x".repeat(3 << 20), 413, "a line may have at most 1048576 characters"],
])("%s is no plan", async (_, body, status, error) => {
  const { send } = await start();
  const { status: got, answer } = await send(body);
  expect({ got, answer }).toEqual({
    got: status,
    answer: expect.objectContaining({ error: expect.stringContaining(error) }),
  });
});

test("a caller that leaves in the middle of a plan is no fault of the server", async () => {
  const events: string[] = [];
  const log = { write: (event: string) => void events.push(event) };
  const server = createServer({ api: testApi(), ledger: {}, admin: {}, log });
  servers.push(server);
  const { adminAddress } = await server.listen();
  const before = events.length;
  const socket = connect(adminAddress?.port ?? 0, "127.0.0.1");
  socket.end("POST /api/v1/plan HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\npart of it");
  socket.resume();
  await once(socket, "close");
  expect(events.slice(before)).toEqual([]);
});

test("callers that are slow to send their plans keep nobody from planning", async () => {
  const { plan, upload } = await start();
  for (let i = 0; i < 3; i++) await upload(['{"placement"'], 1_000);
  expect((await plan(base())).result).toBe("applied");
});

test("nobody can fill the memory of a server with plans", async () => {
  const { plan, upload } = await start();
  const header = '{"placement":{"groups":[],"clients":[]}}\n';
  const line = `${JSON.stringify({ layer: "base", type: CLUSTER, name: "a", version: "1", size: 1, sum: "1" })}${" ".repeat(1_000_000)}\n`;
  const lines = [header, ...Array<string>(60).fill(line)];
  const large = [await upload(lines, 1_000), await upload(lines, 1_000)];
  const third = await upload(lines, 1_000);
  expect(await third.answer).toBe(503);
  expect((await plan(base())).result).toBe("applied");
  for (const { leave } of large) leave();
  await expect.poll(async () => (await upload(lines, 0)).answer, { timeout: 10_000, interval: 500 }).toBe(200);
});
