import * as grpc from "@grpc/grpc-js";
import { type DiscoveryResponseMessage, decodeDeltaResponse, decodeSotwResponse } from "@xdskit/envoy-api/internal";
import { afterEach, expect, test } from "vitest";
import { until } from "../support/raw-peer.ts";
import {
  ADS_SOTW,
  CDS_DELTA,
  CDS_FETCH,
  CDS_SOTW,
  CLUSTER,
  cluster,
  countStreams,
  deltaRequest,
  put,
  sotwRequest,
  startWorld,
  type World,
} from "../support/test-server.ts";

let world: World;
const clients: grpc.Client[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  await world.close();
});

const bytes = (value: Uint8Array): Buffer => Buffer.from(value);

function connect(options: grpc.ClientOptions = {}): grpc.Client {
  const { host, port } = world.address;
  const client = new grpc.Client(`${host}:${port}`, grpc.credentials.createInsecure(), {
    "grpc.max_receive_message_length": -1,
    ...options,
  });
  clients.push(client);
  return client;
}

type Duplex = grpc.ClientDuplexStream<Uint8Array, Uint8Array>;

function open(client: grpc.Client, path: string): { call: Duplex; received: Uint8Array[]; ended: grpc.StatusObject[] } {
  const call: Duplex = client.makeBidiStreamRequest(path, bytes, (value: Buffer): Uint8Array => value);
  const received: Uint8Array[] = [];
  const ended: grpc.StatusObject[] = [];
  call.on("data", (message: Uint8Array) => received.push(message));
  call.on("status", (status: grpc.StatusObject) => ended.push(status));
  call.on("error", () => undefined);
  return { call, received, ended };
}

test("streams of both variants, a change, an ACK, a half-close", async () => {
  world = await startWorld();
  const client = connect();
  const sotw = open(client, ADS_SOTW);
  const delta = open(client, CDS_DELTA);
  sotw.call.write(sotwRequest(CLUSTER));
  delta.call.write(deltaRequest(CLUSTER));
  await until("first answers", () => sotw.received.length === 1 && delta.received.length === 1);
  const { nonce, versionInfo } = decodeSotwResponse(sotw.received[0] ?? Buffer.alloc(0));
  sotw.call.write(sotwRequest(CLUSTER, [], nonce, versionInfo));
  delta.call.write(deltaRequest(CLUSTER, [], decodeDeltaResponse(delta.received[0] ?? Buffer.alloc(0)).nonce));
  world.server.commit(put(cluster("b")));
  await until("the change", () => sotw.received.length === 2 && delta.received.length === 2);
  sotw.call.end();
  await until("the end", () => sotw.ended.length === 1);
  expect(sotw.ended[0]).toMatchObject({ code: 0 });
});

test("cancellation frees the stream", async () => {
  world = await startWorld();
  const streams = countStreams(world.server);
  const { call, received, ended } = open(connect(), ADS_SOTW);
  call.write(sotwRequest(CLUSTER));
  await until("an answer", () => received.length === 1);
  call.cancel();
  await until("the stream is gone on both sides", () => streams.open === 0 && ended.length === 1);
  expect(ended[0]).toMatchObject({ code: 1 });
});

test("a unary Fetch", async () => {
  world = await startWorld();
  const response = await new Promise<DiscoveryResponseMessage>((resolve, reject) => {
    connect().makeUnaryRequest(CDS_FETCH, bytes, decodeSotwResponse, sotwRequest(CLUSTER), (error, value) => {
      if (value === undefined) reject(error);
      else resolve(value);
    });
  });
  expect(response.resources).toHaveLength(1);
});

test("gzip requests", async () => {
  world = await startWorld();
  const { call, received } = open(connect({ "grpc.default_compression_algorithm": 2 }), ADS_SOTW);
  call.write(sotwRequest(CLUSTER, ["a", ...Array.from({ length: 500 }, (_, i) => `c${i}`)]));
  await until("an answer", () => received.length === 1);
});

test.each([
  ["/no.such.Service/Method", 12],
  [CDS_SOTW, 3],
])("the status of %s is %i", async (path, code) => {
  world = await startWorld();
  const { call, ended } = open(connect(), path);
  call.write(Buffer.from([0xff]));
  await until("the status", () => ended.length === 1);
  expect(ended[0]).toMatchObject({ code });
});

test("a message with letters beyond ASCII arrives as it was", async () => {
  world = await startWorld({ nodeMapping: () => ({ refused: "Zugang für 100% gesperrt ✋" }) });
  const { call, ended } = open(connect(), CDS_SOTW);
  call.write(sotwRequest(CLUSTER));
  await until("the status", () => ended.length === 1);
  expect(ended[0]).toMatchObject({ code: 7, details: "Zugang für 100% gesperrt ✋" });
});

test("20 MiB", async () => {
  const big = Array.from({ length: 200 }, (_, i) => cluster(`c${i}`, "x".repeat(105_000)));
  world = await startWorld({}, big);
  const { call, received } = open(connect(), CDS_SOTW);
  call.write(sotwRequest(CLUSTER));
  await until("the answer", () => received.length === 1, 15_000);
  expect(received[0]?.byteLength).toBeGreaterThan(20 * 1024 * 1024);
});
