import { request } from "node:http";
import { contentDigest } from "@xdskit/envoy-api";
import { createResource, createResourceError, type Resource } from "@xdskit/protocol";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { DeliveriesAnswer } from "../../src/admin/answers/deliveries.ts";
import type { NodesAnswer, StreamsAnswer } from "../../src/admin/answers/nodes.ts";
import type { NodeResourcesAnswer, ResourcesAnswer } from "../../src/admin/answers/resources.ts";
import type { LayersAnswer, ServerAnswer, SourceAnswer } from "../../src/admin/answers/server.ts";
import type { SourceStatus } from "../../src/observe/source-status.ts";
import { type ApiDocument, mismatches } from "../support/json-schema.ts";
import { CDS, EDS, node, RDS, RealMachine, resource, SDS } from "./real-machine.ts";

interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

let world: RealMachine;
let port = 0;

beforeEach(async () => {
  world = new RealMachine();
  port = (await world.admin.start())?.port ?? 0;
});

afterEach(async () => {
  await world.admin.close();
  world.metrics.close();
});

function ask(path: string, options: { method?: string; host?: string; accept?: string } = {}): Promise<Reply> {
  const accept = options.accept === undefined ? {} : { accept: options.accept };
  const headers = { host: options.host ?? `127.0.0.1:${port}`, ...accept };
  return new Promise((resolve, reject) => {
    const asked = request({ host: "127.0.0.1", port, path, method: options.method ?? "GET", headers }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
      response.on("error", reject);
    });
    asked.on("error", reject);
    asked.end();
  });
}

async function json<T>(path: string): Promise<T> {
  const { status, text } = await ask(path);
  expect({ path, status }).toEqual({ path, status: 200 });
  const described = JSON.parse((await ask("/api/v1/openapi.json")).text) as ApiDocument;
  expect([path, mismatches(described, path, status, JSON.parse(text))]).toEqual([path, []]);
  return JSON.parse(text);
}

describe("who may ask, and how", () => {
  test("lists its routes for people with curl", async () => {
    const { status, text } = await ask("/");
    expect(status).toBe(200);
    for (const path of ["/livez", "/readyz", "/metrics", "/api/v1/deliveries"]) expect(text).toContain(`  ${path} `);
  });

  test("lists them with links for browsers", async () => {
    const accept = "text/html,application/xhtml+xml,*/*;q=0.8";
    const { status, headers, text } = await ask("/", { accept });
    expect([status, headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"]);
    const lines = (await ask("/", { accept: "*/*" })).text.match(/^ {2}\/\S+/gm)?.map((line) => line.trim()) ?? [];
    expect(lines).toContain("/api/v1/nodes");
    for (const path of lines) {
      expect(text).toContain(`<a href=".${path}">${path}</a>`);
      // Without a ledger there is no history.
      const expected = /revisions|diff|plan/.test(path) ? 404 : expect.not.toBeOneOf([404, 500]);
      expect([path, (await ask(path, { method: "HEAD" })).status]).toEqual([path, expected]);
    }
  });

  test("answers JSON to an unknown path, another method and a wrong parameter", async () => {
    const unknown = await ask("/api/v1/nothing");
    expect([unknown.status, JSON.parse(unknown.text)]).toEqual([
      404,
      { error: "there is nothing at /api/v1/nothing", hint: "GET / lists what there is" },
    ]);
    const posted = await ask("/api/v1/nodes", { method: "POST" });
    expect([posted.status, JSON.parse(posted.text).error]).toEqual([405, "/api/v1/nodes takes GET requests"]);
    const removed = await ask("/api/v1/nodes", { method: "DELETE" });
    expect([removed.status, removed.headers["allow"], JSON.parse(removed.text).error]).toEqual([
      405,
      "GET, HEAD, POST",
      "method DELETE is not allowed",
    ]);
    const wrong = await ask("/api/v1/nodes?ids=1");
    expect([wrong.status, JSON.parse(wrong.text)]).toEqual([
      400,
      {
        error: 'unknown parameter "ids"',
        hint: "it takes id, cluster, user-agent, state, layer, has, lacks, type, nacked, limit, offset",
      },
    ]);
    expect((await ask("/api/v1/nodes?limit=-1")).status).toBe(400);
    expect((await ask("/api/v1/deliveries?state=bad")).status).toBe(400);
    expect((await ask("/api/v1/deliveries?type=xyz")).status).toBe(400);
    expect((await ask("//")).status).toBe(400);
  });

  test("refuses a name that a browser may have been tricked with", async () => {
    expect((await ask("/livez", { host: "evil.example" })).status).toBe(403);
    expect((await ask("/livez", { host: "127.0.0.1.evil.example:80" })).status).toBe(403);
    for (const host of ["localhost", `127.0.0.1:${port}`, "[::1]:80", "10.1.2.3", "admin.example:1"]) {
      expect([host, (await ask("/livez", { host })).status]).toEqual([host, 200]);
    }
  });

  test("HEAD gets the status alone", async () => {
    world.readiness = { isReady: false, isDraining: false, reasons: ["no"] };
    const { status, text } = await ask("/readyz", { method: "HEAD" });
    expect([status, text]).toEqual([503, ""]);
  });
});

test("readiness says why not", async () => {
  expect((await ask("/livez")).text).toBe("ok\n");
  expect(JSON.parse((await ask("/readyz")).text)).toEqual({ ready: true, draining: false, reasons: [] });
  world.readiness = { isReady: false, isDraining: false, reasons: ["no resources yet"] };
  const reply = await ask("/readyz");
  expect([reply.status, JSON.parse(reply.text).reasons]).toEqual([503, ["no resources yet"]]);
});

test("the server tells its version, its limits and their use, and the source its problems", async () => {
  const problem = { code: "YAML_SYNTAX", severity: "error", file: "a.yaml", line: 3, message: "expected x" } as const;
  world.source = { state: "failed", problems: [problem], since: new Date(world.now) };
  const server = await json<ServerAnswer>("/api/v1/server");
  expect(server).toMatchObject({
    version: "0.1.0",
    controlPlane: "test",
    address: "127.0.0.1:18000",
    source: { state: "failed", errors: 1, warnings: 0 },
    limits: [{ name: "maxStreams", value: 100, used: 2, hits: 1 }],
  });
  expect(await json<SourceAnswer>("/api/v1/source")).toEqual({
    state: "failed",
    since: "2026-01-01T00:00:00.000Z",
    problems: [problem],
    total: 1,
  });
});

test("of very many problems the errors are told", async () => {
  const problem = (index: number): SourceStatus["problems"][number] => {
    return { code: "X", severity: index === 1500 ? "error" : "warning", file: `${index}.yaml`, message: "expected x" };
  };
  const problems = Array.from({ length: 2000 }, (_, index) => problem(index));
  world.source = { state: "failed", problems, since: new Date(world.now) };
  const answer = await json<SourceAnswer>("/api/v1/source");
  expect([answer.total, answer.problems.length, answer.problems[0]?.file]).toEqual([2000, 1000, "1500.yaml"]);
});

describe("resources", () => {
  beforeEach(() => {
    world.commit([
      { layer: "base", puts: [resource(CDS, "a"), resource(CDS, "b"), resource(SDS, "key", "-----BEGIN PRIVATE")] },
      { layer: "node/n1", puts: [resource(CDS, "a", "other")] },
    ]);
  });

  test("layers are listed with what they hold", async () => {
    const { items, total } = await json<LayersAnswer>("/api/v1/layers");
    expect(total).toBe(2);
    expect(
      items.map(({ name, types }) => [name, types.map(({ shortName, resources }) => [shortName, resources])]),
    ).toEqual([
      [
        "base",
        [
          ["cds", 2],
          ["sds", 1],
        ],
      ],
      ["node/n1", [["cds", 1]]],
    ]);
  });

  test("are filtered by layer, type and name, and paged", async () => {
    const list = async (query: string): Promise<string[]> =>
      (await json<ResourcesAnswer>(`/api/v1/resources?${query}`)).items.map(({ layer, name }) => `${layer}:${name}`);
    expect(await list("type=cds")).toEqual(["base:a", "base:b", "node/n1:a"]);
    expect(await list("layer=node/n1")).toEqual(["node/n1:a"]);
    expect(await list("name=b&name=key")).toEqual(["base:b", "base:key"]);
    const first = await json<ResourcesAnswer>("/api/v1/resources?limit=2");
    expect([first.items.length, first.total, first.next]).toEqual([2, 4, 2]);
    const last = await json<ResourcesAnswer>("/api/v1/resources?limit=2&offset=2");
    expect([last.items.length, last.total, last.next]).toEqual([2, 4, undefined]);
    expect((await ask("/api/v1/resources?layer=none")).status).toBe(404);
  });

  test("a node sees the top-most holder of each name", async () => {
    const { items } = await json<ResourcesAnswer>("/api/v1/resources?node=n1&cluster=&type=cds&body=true");
    expect(items.map(({ layer, name, body }) => [layer, name, body])).toEqual([
      ["node/n1", "a", { "@type": CDS, text: "other" }],
      ["base", "b", { "@type": CDS, text: "b" }],
    ]);
    const refused = await ask("/api/v1/resources?node=bad&cluster=");
    expect([refused.status, JSON.parse(refused.text).error]).toEqual([
      404,
      'node "bad" would be refused: not this one',
    ]);
  });

  test("a connected node sees what its cluster and metadata bring, any other what the parameters describe", async () => {
    world.commit([{ layer: "stage/canary", puts: [resource(CDS, "b", "canary")] }]);
    const list = async (query: string): Promise<string[]> =>
      (await json<ResourcesAnswer>(`/api/v1/resources?node=n2&${query}`)).items.map(
        ({ layer, name }) => `${layer}:${name}`,
      );
    expect(JSON.parse((await ask("/api/v1/resources?node=n2")).text)).toEqual({
      error: 'node "n2" is not connected',
      hint: expect.stringContaining("cluster, metadata and locality"),
    });
    world.receive(world.open(), {
      kind: "delta",
      type: CDS,
      node: node("n2", { cluster: "remote", metadata: { stage: "canary" } }),
      subscribe: ["*"],
    });
    expect(await list("")).toEqual(["stage/canary:b", "base:a"]);
    expect(await list("cluster=local&metadata=team%3Dblue&locality=eu/eu-1")).toEqual(["base:a", "base:b", "base:key"]);
    expect(await list("metadata=stage%3Dcanary&type=cds")).toEqual(["stage/canary:b", "base:a"]);
    const wrong = await ask("/api/v1/resources?node=n2&metadata=stage");
    expect([wrong.status, JSON.parse(wrong.text).error]).toEqual([400, 'metadata: expected key=value, got "stage"']);
    const named = await json<ResourcesAnswer>("/api/v1/resources?node=n2&name=a&body=true&field-names=proto");
    expect(named.items.map(({ body }) => body)).toEqual([{ "@type": CDS, its_text: "a" }]);
  });

  test("H2 secrets are never shown, and what cannot be read is said to be so", async () => {
    const unknown = "type.googleapis.com/acme.Vault";
    world.commit([{ layer: "base", puts: [resource(CDS, "c", "broken"), resource(unknown, "d", "PRIVATE")] }]);
    const { text } = await ask("/api/v1/resources?body=true");
    expect(text).not.toContain("PRIVATE");
    const { items } = JSON.parse(text) as ResourcesAnswer;
    expect(items.find(({ name }) => name === "key")?.body).toEqual({ "@type": SDS, text: "[redacted]" });
    expect(items.find(({ name }) => name === "c")).toMatchObject({ problem: "not a message" });
    expect(items.find(({ name }) => name === "d")?.problem).toMatch(/may be secret/);
  });
});

test("what a node has is told resource by resource, with what is on its way and what it NACKed", async () => {
  world.commit([{ layer: "base", puts: [resource(CDS, "a"), resource(CDS, "b"), resource(EDS, "e")] }]);
  const stream = world.open();
  world.receive(stream, { kind: "delta", type: CDS, node: node("n1"), subscribe: ["a", "b", "none"] });
  world.receive(stream, { kind: "delta", type: CDS, nonce: world.lastNonce });
  world.receive(stream, { kind: "delta", type: EDS, subscribe: ["e"] });
  world.commit([{ layer: "base", puts: [resource(CDS, "b", "bad")] }]);
  world.receive(stream, { kind: "delta", type: CDS, nonce: world.lastNonce, error: { code: 3, message: "no" } });
  const others = vi.spyOn(world.view, "streams");
  const { items } = await json<NodeResourcesAnswer>("/api/v1/node-resources?node=n1&body=true");
  // However many nodes there are, only this one is looked at.
  expect(others).not.toHaveBeenCalled();
  const digest = (type: string, name: string, body = name): string => resource(type as typeof CDS, name, body).version;
  expect(
    items.map(({ shortName, name, status, version, reason }) => [shortName, name, status, version, reason]),
  ).toEqual([
    ["cds", "a", "acked", digest(CDS, "a"), undefined],
    ["cds", "b", "nacked", digest(CDS, "b", "bad"), "no"],
    ["cds", "none", "does-not-exist", undefined, undefined],
    ["eds", "e", "pending", digest(EDS, "e"), undefined],
  ]);
  expect(items[0]?.body).toEqual({ "@type": CDS, text: "a" });
  expect((await ask("/api/v1/node-resources?node=n9")).status).toBe(404);
});

describe("the fate of deliveries", () => {
  let stream = 0;
  beforeEach(() => {
    world.commit([{ layer: "base", puts: [resource(CDS, "a")] }]);
    stream = world.open();
    world.receive(stream, { kind: "delta", node: node("n1"), subscribe: ["*"] });
  });

  const rows = async (query = ""): Promise<DeliveriesAnswer["items"]> =>
    (await json<DeliveriesAnswer>(`/api/v1/deliveries${query}`)).items;

  test("is pending, then acked", async () => {
    const version = world.sent[0]?.body.version;
    expect(await rows()).toEqual([
      {
        node: "n1",
        userAgent: "envoy 1.39.0",
        type: CDS,
        shortName: "cds",
        stream,
        state: "pending",
        version,
        nonce: world.lastNonce,
        revision: 1,
        since: "2026-01-01T00:00:00.000Z",
      },
    ]);
    world.now += 1500;
    world.receive(stream, { kind: "delta", nonce: world.lastNonce });
    expect(await rows()).toMatchObject([{ state: "acked", version, since: "2026-01-01T00:00:01.500Z" }]);
  });

  test("B-OBS-04 S-ACK-13, A14 a refusal is told with its reason and names, made printable and cut, until something is accepted", async () => {
    const secret = "-----BEGIN PRIVATE KEY-----\nMIIabc\n-----END PRIVATE KEY-----";
    const message = `cluster a:\u001b[31m bad ${secret} ${"x".repeat(1_000_000)}`;
    world.receive(stream, { kind: "delta", nonce: world.lastNonce, error: { code: 13, message } });
    const [row] = await rows("?state=nacked");
    expect(row).toMatchObject({ state: "nacked", names: ["a"], node: "n1" });
    expect(row?.reason).toHaveLength(4096);
    expect(row?.reason).toMatch(/^cluster a:\\u\{1b\}\[31m bad \[redacted\] x+… \(cut\)$/);
    const { items } = await json<NodesAnswer>("/api/v1/nodes");
    expect(items[0]?.types[0]).toMatchObject({ state: "nacked", nacked: { code: 13, names: ["a"] } });
    world.commit([{ layer: "base", puts: [resource(CDS, "a", "better")] }]);
    world.receive(stream, { kind: "delta", nonce: world.lastNonce });
    expect(await rows()).toMatchObject([{ state: "acked" }]);
  });

  test("a reason does not end in a line end", async () => {
    const error = { code: 13, message: "no listener;\n in it: http\n" };
    world.receive(stream, { kind: "delta", nonce: world.lastNonce, error });
    expect(await rows("?state=nacked")).toMatchObject([{ reason: "no listener;\\n in it: http" }]);
    const { items } = await json<NodesAnswer>("/api/v1/nodes");
    expect(items[0]?.types[0]?.nacked?.reason).toBe("no listener;\\n in it: http");
  });

  test("what waits for whom is told, since when, and what the client is left with meanwhile", async () => {
    const routeTo = (name: string): Resource => resource(RDS, "r", name, [{ type: CDS, name }]);
    world.receive(stream, { kind: "delta", nonce: world.lastNonce });
    world.commit([{ layer: "base", puts: [routeTo("a")] }]);
    world.receive(stream, { kind: "delta", type: RDS, subscribe: ["r"] });
    world.receive(stream, { kind: "delta", type: RDS, nonce: world.lastNonce });
    world.now += 5_000;
    const since = new Date(world.now).toISOString();
    world.commit([{ layer: "base", puts: [resource(CDS, "b"), routeTo("b")], deletes: [{ type: CDS, name: "a" }] }]);
    const waits = { for: "users", type: RDS, shortName: "rds", since };
    expect((await rows()).map((row) => [row.shortName, row.waits, row.pendingRemovals])).toEqual([
      ["cds", waits, ["a"]],
      ["rds", { for: "cluster", name: "b", resources: ["r"], since }, undefined],
    ]);
    const { items } = await json<NodesAnswer>("/api/v1/nodes");
    expect(items[0]?.types[0]).toMatchObject({ waits, pendingRemovals: ["a"] });
    world.receive(stream, { kind: "delta", nonce: world.lastNonce });
    world.receive(stream, { kind: "delta", type: RDS, nonce: world.lastNonce, error: { code: 13, message: "no" } });
    expect((await rows("?type=cds"))[0]?.waits).toEqual({ ...waits, nacked: true });
    const metrics = (await ask("/metrics")).text;
    expect(metrics).toContain('xds_server_order_waits_total{type="cds",for="users"} 1');
    expect(metrics).toContain('xds_server_order_waits_total{type="rds",for="cluster"} 1');
  });

  test("it is told who is told of ttls, and heartbeats are counted, but are no deliveries", async () => {
    const puts = [CDS, EDS].map((type) =>
      createResource({ type, name: "t", bytes: Buffer.from("t"), ttlMs: 3_000 }, contentDigest),
    );
    world.commit([{ layer: "base", puts }]);
    const sotw = world.open("sotw");
    world.receive(sotw, { kind: "sotw", type: EDS, node: node("n3"), names: ["t"] });
    world.receive(stream, { kind: "delta", nonce: world.lastNonce });
    expect((await rows()).map((row) => [row.node, row.shortName, row.ttl])).toEqual([
      ["n1", "cds", "told"],
      ["n3", "eds", "unsafe"],
    ]);
    const { items } = await json<NodesAnswer>("/api/v1/nodes?id=n3");
    expect(items[0]?.types[0]?.ttl).toBe("unsafe");
    const before = await rows("?node=n1");
    world.pass(1_000);
    world.pass(1_000);
    expect(await rows("?node=n1")).toEqual(before);
    const metrics = (await ask("/metrics")).text;
    expect(metrics).toContain('xds_server_heartbeats_total{type="cds"} 2');
  });

  test("missing names are told", async () => {
    world.receive(stream, { kind: "delta", type: EDS, subscribe: ["e1", "e2"] });
    expect(await rows("?state=does-not-exist")).toMatchObject([{ shortName: "eds", doesNotExist: ["e1", "e2"] }]);
    expect(await rows("?type=eds&node=n2")).toEqual([]);
    const sotw = world.open("sotw");
    world.receive(sotw, { kind: "sotw", type: EDS, node: node("n3"), names: ["e9"] });
    expect(await rows("?node=n3")).toMatchObject([{ state: "does-not-exist", doesNotExist: ["e9"] }]);
  });

  test("who ACKed that nothing is there still misses all of it", async () => {
    const gone = createResource({ type: CDS, name: "gone", bytes: Buffer.from("g") }, contentDigest);
    world.commit([{ layer: "base", puts: [gone] }]);
    const sotw = world.open("sotw");
    const request = { kind: "sotw", type: CDS, names: ["gone"] } as const;
    world.receive(sotw, { ...request, node: node("n3") });
    world.receive(sotw, { ...request, nonce: world.lastNonce });
    expect(await rows("?node=n3")).toMatchObject([{ state: "acked" }]);
    world.commit([{ layer: "base", deletes: [{ type: CDS, name: "gone" }] }]);
    world.receive(sotw, { ...request, nonce: world.lastNonce });
    const [row] = await rows("?node=n3");
    expect(row).toMatchObject({ state: "does-not-exist", doesNotExist: ["gone"] });
    expect([row?.version, row?.ackedVersion]).toEqual([undefined, undefined]);
  });

  test("errors in place of resources are told, of the state and of what a client was told", async () => {
    const text = "no registry\u001b[31m";
    const error = { code: 14, message: "no registry\\u{1b}[31m" };
    const failed = createResourceError({ type: EDS, name: "e1", error: { code: 14, message: text } }, contentDigest);
    world.commit([{ layer: "base", puts: [failed] }]);
    world.receive(stream, { kind: "delta", type: EDS, subscribe: ["e1"] });
    const { items } = await json<NodesAnswer>("/api/v1/nodes?id=n1");
    const types = items.flatMap((item) => item.types).filter(({ shortName }) => shortName === "eds");
    expect(types.map(({ doesNotExist, errors }) => ({ doesNotExist, errors }))).toEqual([
      { doesNotExist: ["e1"], errors: [{ name: "e1", ...error }] },
    ]);
    const listed = await json<ResourcesAnswer>("/api/v1/resources?node=n1&type=eds&body=true");
    expect(listed.items.map(({ name, layer, error, body }) => ({ name, layer, error, body }))).toEqual([
      { name: "e1", layer: "base", error, body: undefined },
    ]);
  });

  test("nodes and deliveries are found by globs of what nodes say of themselves, by type and by refusals", async () => {
    const other = world.open();
    const old = node("edge-2", { cluster: "core", userAgentVersion: "1.30.1" });
    world.receive(other, { kind: "delta", type: CDS, node: old, subscribe: ["*"] });
    world.receive(other, { kind: "delta", type: CDS, nonce: world.lastNonce, error: { code: 13, message: "no" } });
    const ids = async (query: string): Promise<readonly string[]> =>
      (await json<NodesAnswer>(`/api/v1/nodes?${query}`)).items.map(({ id }) => id);
    expect(await ids("")).toEqual(["edge-2", "n1"]);
    expect(await ids("id=edge-*")).toEqual(["edge-2"]);
    expect(await ids("id=n1")).toEqual(["n1"]);
    expect(await ids("cluster=c*")).toEqual(["edge-2"]);
    expect(await ids("user-agent=envoy%201.39.*")).toEqual(["n1"]);
    expect(await ids("nacked=true")).toEqual(["edge-2"]);
    expect(await ids("type=eds")).toEqual([]);
    expect((await ask("/api/v1/nodes?type=xyz")).status).toBe(400);
    expect((await rows("?node=edge-*")).map((row) => [row.node, row.state])).toEqual([["edge-2", "nacked"]]);
    expect((await rows("?user-agent=envoy%201.39.*")).map((row) => row.node)).toEqual(["n1"]);
  });

  test("nodes are told with their streams, layers and times; a stream that ended is gone", async () => {
    const silent = world.open();
    const { items, total } = await json<NodesAnswer>("/api/v1/nodes?id=n1");
    expect(total).toBe(1);
    expect(items[0]).toMatchObject({
      id: "n1",
      cluster: "edge",
      userAgent: "envoy 1.39.0",
      layers: ["node/n1", "base"],
      streams: [
        {
          stream,
          apiVersion: "v3",
          variant: "delta",
          peer: "127.0.0.1:40000",
          dialect: { edition: "current", client: "Envoy", switches: [] },
        },
      ],
      connectedAt: "2026-01-01T00:00:00.000Z",
      types: [{ shortName: "cds", isWildcard: true, sentRevision: 1 }],
    });
    const streams = await json<StreamsAnswer>("/api/v1/streams");
    expect(streams.items.map((item) => [item.stream, item.node?.id])).toEqual([
      [stream, "n1"],
      [silent, undefined],
    ]);
    world.close(stream);
    expect(await rows()).toEqual([]);
    expect(world.deliveries.stream(stream)).toBeUndefined();
  });
});
