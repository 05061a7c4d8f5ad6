import { decodeDeltaResponse, encodeDeltaRequest, encodeSotwRequest } from "@xdskit/envoy-api";
import { formatTypeUrl } from "@xdskit/protocol";
import type { Limits } from "@xdskit/server";
import { afterEach, expect, test } from "vitest";
import { encoded } from "../support/messages.ts";
import { until, within } from "../support/raw-peer.ts";
import { restClient } from "../support/rest-client.ts";
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

test("maxConnections: one too many is closed", async () => {
  await startLimited({ maxConnections: 1 });
  await world.connect();
  const second = await world.connect().catch((error: unknown) => error);
  await until("it is closed", () => second instanceof Error || (second as { isGone: boolean }).isGone);
  expect(hits).toEqual(["maxConnections"]);
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
