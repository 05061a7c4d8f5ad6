import { once } from "node:events";
import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import { contentDigest } from "@xdskit/envoy-api";
import { decodeDeltaResponse, encodeDeltaRequest, encodeSotwRequest } from "@xdskit/envoy-api/internal";
import { createResource, formatTypeUrl } from "@xdskit/protocol";
import type { LimitName, Limits } from "@xdskit/server";
import { afterEach, describe, expect, test } from "vitest";
import { framed } from "../support/http2-frames.ts";
import { encoded } from "../support/messages.ts";
import { until, within } from "../support/raw-peer.ts";
import { httpVersions, restClient } from "../support/rest-client.ts";
import {
  ADS_DELTA,
  CDS_FETCH,
  CLUSTER,
  cluster,
  countStreams,
  deltaRequest,
  node,
  startWorld,
  type World,
} from "../support/test-server.ts";

const REFLECTION = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
const HEALTH_WATCH = "/grpc.health.v1.Health/Watch";

let world: World;
const hits: string[] = [];
afterEach(async () => {
  hits.length = 0;
  await world.close();
});

async function startLimited(limits: Partial<Limits>): Promise<void> {
  world = await startWorld({ limits });
  world.server.on("limit-hit", ({ limit }) => hits.push(limit));
}

test.each(["maxStreams", "maxStreamsPerPeer"] as const)(
  "%s: one too many ends with RESOURCE_EXHAUSTED, the others go on",
  async (limit) => {
    await startLimited({ [limit]: 2 });
    const peer = await world.connect();
    const calls = [0, 1].map(() => peer.open(ADS_DELTA));
    for (const call of calls) {
      call.send(deltaRequest(CLUSTER));
      await call.next();
    }
    const tooMany = (await world.connect()).open(ADS_DELTA);
    expect(await within("the status", tooMany.status)).toMatchObject({ code: 8, message: new RegExp(limit) });
    expect(hits).toEqual([limit]);

    calls[0]?.cancel();
    const streams = countStreams(world.server);
    await until("a place is free", () => streams.open === -1);
    const next = peer.open(ADS_DELTA);
    next.send(deltaRequest(CLUSTER));
    expect(decodeDeltaResponse(await next.next()).resources).toHaveLength(1);
  },
);

test.each(["maxConnections", "maxConnectionsPerPeer"] as const)("%s: one too many is closed", async (limit) => {
  await startLimited({ [limit]: 1 });
  await world.connect();
  const second = await world.connect().catch((error: unknown) => error);
  await until("it is closed", () => second instanceof Error || (second as { isGone: boolean }).isGone);
  expect(hits).toEqual([limit]);
});

test("maxStreamsPerPeer: calls beside discovery are as many, and neither takes the place of the other", async () => {
  await startLimited({ maxStreamsPerPeer: 2 });
  const peer = await world.connect();
  const watches = [HEALTH_WATCH, REFLECTION].map((path) => peer.open(path));
  for (const watch of watches) await within("the headers", watch.headers);
  const tooMany = peer.open(HEALTH_WATCH);
  expect(await within("the status", tooMany.status)).toEqual({
    code: 8,
    message: "2 calls beside discovery are open from this address, which is the limit (maxStreamsPerPeer)",
  });
  expect(hits).toEqual(["maxStreamsPerPeer"]);
  const stream = peer.open(ADS_DELTA);
  stream.send(deltaRequest(CLUSTER));
  expect(decodeDeltaResponse(await stream.next()).resources).toHaveLength(1);
  watches[0]?.end();
  watches[1]?.end();
  expect(await within("the end", watches[1]?.status ?? tooMany.status)).toEqual({ code: 0, message: "" });
  // The client may know of the end a moment before the server counts it.
  let status = { code: 8, message: "" };
  for (let attempt = 0; attempt < 100 && status.code === 8; attempt++) {
    const next = peer.open(REFLECTION);
    next.end();
    status = await within("the end", next.status);
  }
  expect(status).toEqual({ code: 0, message: "" });
});

test("maxBlockedMs: an answer beside discovery that nobody reads resets its call", async () => {
  await startLimited({ maxBlockedMs: 100 });
  const peer = await world.connect();
  const call = peer.open(REFLECTION);
  call.stream.pause();
  const symbol = "envoy.config.bootstrap.v3.Bootstrap"; // megabytes, more than the window of a client that does not read
  call.send(Buffer.concat([Buffer.from([0x22, symbol.length]), Buffer.from(symbol)]));
  await until("it was told", () => hits.length > 0);
  expect(hits).toEqual(["maxBlockedMs"]);
});

test("maxSubscriptionsPerStream: beyond it RESOURCE_EXHAUSTED", async () => {
  await startLimited({ maxSubscriptionsPerStream: 10 });
  const call = (await world.connect()).open(ADS_DELTA);
  call.send(
    deltaRequest(
      CLUSTER,
      Array.from({ length: 11 }, (_, i) => `c${i}`),
    ),
  );
  expect(await within("the status", call.status)).toMatchObject({ code: 8 });
  expect(hits).toEqual(["maxSubscriptionsPerStream"]);
});

test("maxTypesPerStream: beyond it RESOURCE_EXHAUSTED", async () => {
  await startLimited({ maxTypesPerStream: 2 });
  const call = (await world.connect()).open(ADS_DELTA);
  for (const type of ["a.A", "b.B", "c.C"]) call.send(deltaRequest(formatTypeUrl(type)));
  expect(await within("the status", call.status)).toMatchObject({ code: 8 });
  expect(hits).toEqual(["maxTypesPerStream"]);
});

test("maxPendingBytes: beyond it the stream is reset", async () => {
  world = await startWorld({ limits: { maxPendingBytes: 100_000 } }, [cluster("big", "x".repeat(200_000))]);
  world.server.on("limit-hit", ({ limit }) => hits.push(limit));
  const call = (await world.connect()).open(ADS_DELTA);
  call.send(deltaRequest(CLUSTER));
  expect(await within("the reset", call.status)).toEqual({ code: -1, message: "reset 11" });
  expect(hits).toEqual(["maxPendingBytes"]);
});

const METADATA = { a: "x".repeat(2_000) };

test.each([
  ["discovery", ADS_DELTA, encodeDeltaRequest({ node: { ...node("a"), metadata: METADATA }, typeUrl: CLUSTER })],
  ["a Fetch", CDS_FETCH, encodeSotwRequest({ node: { ...node("a"), metadata: METADATA }, typeUrl: CLUSTER })],
  [
    "load reports",
    "/envoy.service.load_stats.v3.LoadReportingService/StreamLoadStats",
    encoded("envoy.service.load_stats.v3.LoadStatsRequest", { node: { id: "a", metadata: METADATA } }),
  ],
])("maxNodeBytes: beyond it RESOURCE_EXHAUSTED, in %s", async (_, path, request) => {
  await startLimited({ maxNodeBytes: 1_000 });
  const call = (await world.connect()).open(path);
  call.send(request);
  expect(await within("the status", call.status)).toMatchObject({ code: 8, message: /\(maxNodeBytes\)$/ });
  expect(hits).toEqual(["maxNodeBytes"]);
});

test("maxNodeBytes: a poll beyond it is 429", async () => {
  await startLimited({ maxNodeBytes: 1_000 });
  const client = restClient("HTTP/1.1", world.address);
  const body = { node: { id: "a", metadata: METADATA } };
  expect((await client.send({ path: "/v3/discovery:clusters", body })).status).toBe(429);
  expect(hits).toEqual(["maxNodeBytes"]);
  await client.close();
});

test("maxNodeBytes: the extensions of a node do not count", async () => {
  await startLimited({ maxNodeBytes: 1_000 });
  const extensions = Array.from({ length: 100 }, (_, i) => ({ name: `envoy.filters.${i}`, category: "filters" }));
  const call = (await world.connect()).open(ADS_DELTA);
  const request = { node: { id: "a", extensions }, typeUrl: CLUSTER };
  call.send(encoded("envoy.service.discovery.v3.DeltaDiscoveryRequest", request));
  expect(decodeDeltaResponse(await call.next()).resources).toHaveLength(1);
});

/** The beginning of a message of so many bytes, all but its last byte. */
function unfinished(byteLength: number): Buffer {
  const prefix = Buffer.from([0, 0, 0, 0, 0]);
  prefix.writeUInt32BE(byteLength, 1);
  return Buffer.concat([prefix, Buffer.alloc(byteLength - 1)]);
}

/** A limit, by the server's admin API. */
async function shownLimit(wanted: LimitName): Promise<{ readonly used?: number; readonly hits: number } | undefined> {
  const { host, port } = world.adminAddress ?? world.address;
  const response = await fetch(`http://${host}:${port}/api/v1/server`);
  const { limits } = (await response.json()) as { limits: { name: string; used?: number; hits: number }[] };
  return limits.find(({ name }) => name === wanted);
}

/** Bytes of requests that the server holds. */
async function heldBytes(): Promise<number | undefined> {
  return (await shownLimit("maxReceivedBytes"))?.used;
}

async function untilHeld(bytes: number): Promise<void> {
  for (let look = 0; look < 1_000 && (await heldBytes()) !== bytes; look++) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  expect(await heldBytes()).toBe(bytes);
}

test.each([
  ["maxReceivedBytesPerPeer", ADS_DELTA],
  ["maxReceivedBytes", ADS_DELTA],
  ["maxReceivedBytes", HEALTH_WATCH],
] as const)("%s: unfinished messages of %s beyond it end with RESOURCE_EXHAUSTED", async (limit, path) => {
  world = await startWorld({ limits: { [limit]: 150_000 }, admin: {} });
  world.server.on("limit-hit", (hit) => hits.push(hit.limit));
  const peer = await world.connect();
  const first = peer.open(path);
  first.stream.write(unfinished(100_000));
  await untilHeld(100_000);
  const second = peer.open(path);
  second.stream.write(unfinished(100_000));
  expect(await within("the status", second.status)).toMatchObject({ code: 8, message: new RegExp(`\\(${limit}\\)$`) });
  expect(hits).toEqual([limit]);
  await untilHeld(100_000);
  first.cancel();
  await untilHeld(0);
});

test("a message that comes byte by byte keeps no more than its bytes", async () => {
  world = await startWorld({ admin: {}, limits: { maxSmallFragments: 10_000 } });
  const call = (await world.connect()).open(ADS_DELTA);
  const request = deltaRequest(CLUSTER, ["a".repeat(3_000)]);
  const bytes = framed(request);
  for (const byte of bytes.subarray(0, -1)) {
    call.stream.write(Buffer.from([byte]));
    await new Promise((resolve) => setImmediate(resolve));
  }
  await untilHeld(request.byteLength);
  call.stream.write(bytes.subarray(-1));
  expect(decodeDeltaResponse(await call.next()).removedResources).toEqual(["a".repeat(3_000)]);
  await untilHeld(0);
});

test("maxSmallFragments: a message in more of them is RESOURCE_EXHAUSTED, over REST 429", async () => {
  await startLimited({ maxSmallFragments: 20 });
  const call = (await world.connect()).open(ADS_DELTA);
  for (const byte of unfinished(100).subarray(0, 30)) {
    call.stream.write(Buffer.from([byte]));
    await new Promise((resolve) => setImmediate(resolve));
  }
  const message = /more than 20 fragments of fewer than 32 bytes on average \(maxSmallFragments\)$/;
  expect(await within("the status", call.status)).toMatchObject({ code: 8, message: expect.stringMatching(message) });
  expect(hits).toEqual(["maxSmallFragments"]);

  const { host, port } = world.address;
  const socket = connect(port, host);
  const headers = ["host: x", "content-type: application/json", "transfer-encoding: chunked"];
  socket.write(["POST /v3/discovery:clusters HTTP/1.1", ...headers, "", "1\r\n \r\n".repeat(21)].join("\r\n"));
  const [answer] = (await once(socket, "data")) as [Buffer];
  expect(answer.toString()).toMatch(/^HTTP\/1\.1 429 .*\(maxSmallFragments\)/s);
  expect(hits).toEqual(["maxSmallFragments", "maxSmallFragments"]);
});

test("maxMessageMs: a message that does not end is RESOURCE_EXHAUSTED, a call that says nothing goes on", async () => {
  await startLimited({ maxMessageMs: 50 });
  const peer = await world.connect();
  const silent = peer.open(ADS_DELTA);
  const call = peer.open(ADS_DELTA);
  call.stream.write(unfinished(100));
  expect(await within("the status", call.status)).toMatchObject({ code: 8, message: /\(maxMessageMs\)$/ });
  expect(hits).toEqual(["maxMessageMs"]);
  silent.send(deltaRequest(CLUSTER));
  expect(decodeDeltaResponse(await silent.next()).resources).toHaveLength(1);
});

test("compressed messages that wait for their turn are answered, and nothing is held of them afterwards", async () => {
  world = await startWorld({ admin: {} });
  const peer = await world.connect();
  const bomb = gzipSync(Buffer.alloc(8 * 1024 * 1024));
  const calls = Array.from({ length: 12 }, () => peer.open(ADS_DELTA, { "grpc-encoding": "gzip" }));
  for (const call of calls) call.send(bomb, { compressed: true });
  for (const call of calls) expect(await within("the status", call.status, 15_000)).toMatchObject({ code: 3 });
  await untilHeld(0);
});

test.each(["maxPollerBytes", "maxPollerBytesPerPeer"] as const)(
  "%s: beyond it the pollers that have not polled for longest are forgotten, which is counted",
  async (limit) => {
    world = await startWorld({ limits: { [limit]: 10_000 }, admin: {} });
    world.server.on("limit-hit", (hit) => hits.push(hit.limit));
    const forgotten: unknown[] = [];
    world.server.on("poller-forgotten", ({ node: { id }, evicted }) => forgotten.push([id, evicted?.limit]));
    const client = restClient("HTTP/1.1", world.address);
    for (const id of ["a", "b", "c", "d"])
      await client.send({ path: "/v3/discovery:clusters", body: { node: { id } } });
    await client.close();
    expect([forgotten, hits]).toEqual([
      [
        ["a", limit],
        ["b", limit],
      ],
      [limit, limit],
    ]);
    expect((await shownLimit(limit))?.hits).toBe(2);
    const used = (await shownLimit("maxPollerBytes"))?.used;
    expect(used).toBeGreaterThan(0);
    expect(used).toBeLessThanOrEqual(10_000);
  },
);

const LONG_TEXT = { text: "x".repeat(40_000) };

test.each(["maxClientBytes", "maxClientBytesPerPeer"] as const)(
  "%s: a stream whose node takes too much memory with the others ends with RESOURCE_EXHAUSTED, a poll with 429",
  async (limit) => {
    world = await startWorld({ limits: { [limit]: 100_000 }, admin: {} });
    world.server.on("limit-hit", (hit) => hits.push(hit.limit));
    const peer = await world.connect();
    const first = (id: string): Uint8Array =>
      encodeDeltaRequest({ node: { ...node(id), metadata: LONG_TEXT }, typeUrl: CLUSTER });
    const calls = ["a", "b"].map((id) => {
      const call = peer.open(ADS_DELTA);
      call.send(first(id));
      return call;
    });
    for (const call of calls) await call.next();
    const used = (await shownLimit("maxClientBytes"))?.used ?? 0;
    expect(used / 2).toBeGreaterThan(40_000);
    const tooMany = peer.open(ADS_DELTA);
    tooMany.send(first("c"));
    expect(await within("the status", tooMany.status)).toMatchObject({
      code: 8,
      message: new RegExp(`\\(${limit}\\)$`),
    });
    const client = restClient("HTTP/1.1", world.address);
    const body = { node: { id: "d", metadata: LONG_TEXT } };
    expect((await client.send({ path: "/v3/discovery:clusters", body })).status).toBe(429);
    await client.close();
    expect([hits, (await shownLimit(limit))?.hits]).toEqual([[limit, limit], 2]);
    expect((await shownLimit("maxClientBytes"))?.used).toBe(used);
    const good = peer.open(ADS_DELTA);
    good.send(deltaRequest(CLUSTER));
    expect(decodeDeltaResponse(await good.next()).resources).toHaveLength(1);
  },
);

describe.each(httpVersions)("over %s", (version) => {
  test("maxReceivedBytes: bodies that do not end are 429 beyond it", async () => {
    world = await startWorld({ limits: { maxReceivedBytes: 210_000 }, admin: {} });
    world.server.on("limit-hit", ({ limit }) => hits.push(limit));
    const client = restClient(version, world.address);
    const path = "/v3/discovery:clusters";
    const first = client.start({ path, body: Buffer.alloc(100_000), isUnfinished: true });
    for (let look = 0; look < 1_000 && ((await heldBytes()) ?? 0) < 100_000; look++) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    const second = await client.send({ path, body: Buffer.alloc(200_000), isUnfinished: true });
    expect([second.status, hits]).toEqual([429, ["maxReceivedBytes"]]);
    first.abort();
    await untilHeld(0);
    await client.close();
  });
});

test.each(httpVersions)("maxBlockedMs: an answer over REST that nobody reads is given up, over %s", async (version) => {
  const bytes = encoded("envoy.config.cluster.v3.Cluster", { name: "big", altStatName: "x".repeat(16 * 1024 * 1024) });
  const big = createResource({ type: CLUSTER, name: "big", bytes }, contentDigest);
  world = await startWorld({ limits: { maxBlockedMs: 200 } }, [big]);
  world.server.on("limit-hit", ({ limit }) => hits.push(limit));
  const path = "/v3/discovery:clusters";
  const body = JSON.stringify({ node: { id: "a" } });
  if (version === "HTTP/1.1") {
    const { host, port } = world.address;
    const socket = connect(port, host).pause();
    socket.write(`POST ${path} HTTP/1.1\r\nhost: a\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
    await until("it was told", () => hits.length > 0);
    socket.destroy();
  } else {
    const { session } = await world.connect();
    const stream = session.request({ ":method": "POST", ":path": path, "content-type": "application/json" });
    stream.on("error", () => undefined);
    stream.end(body);
    await until("it was told", () => hits.length > 0);
  }
  expect(hits).toEqual(["maxBlockedMs"]);
});

test("a peer that hangs up without a word, as probes of a port do, is none that was refused; one that says half a word is", async () => {
  world = await startWorld();
  const refused: string[] = [];
  world.server.on("connection-refused", ({ reason }) => refused.push(reason));
  const say = async (text: string): Promise<void> => {
    const socket = connect(world.address);
    socket.resume().end(text);
    await new Promise((resolve) => socket.once("close", resolve));
  };
  await say("");
  await say("PR");
  await until("it is told", () => refused.length > 0);
  expect(refused).toEqual(["neither HTTP/2 nor HTTP/1 was spoken"]);
});
