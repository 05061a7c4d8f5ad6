import { once } from "node:events";
import { connect } from "node:net";
import { decodeSotwResponse } from "@xdskit/envoy-api/internal";
import fc from "fast-check";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import {
  ACK,
  callHeaders,
  END_HEADERS,
  END_STREAM,
  frame,
  framed,
  frameType,
  headerBlock,
  PREFACE,
  uint32,
} from "../support/http2-frames.ts";
import { until } from "../support/raw-peer.ts";
import {
  ADS_DELTA,
  ADS_SOTW,
  CDS_FETCH,
  CLUSTER,
  sotwRequest,
  startWorld,
  type World,
} from "../support/test-server.ts";

/** XDS_FUZZ_RUNS=1000000 for a long night. */
const RUNS = Number(process.env["XDS_FUZZ_RUNS"] ?? 2_000);
const AT_ONCE = 16;

const HEALTH_CHECK = "/grpc.health.v1.Health/Check";
const HEALTH_WATCH = "/grpc.health.v1.Health/Watch";
const REFLECTION = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
const LOADS = "/envoy.service.load_stats.v3.LoadReportingService/StreamLoadStats";

const restHeaders = headerBlock({
  ":method": "POST",
  ":scheme": "http",
  ":path": "/v3/discovery:clusters",
  ":authority": "x",
  "content-type": "application/json",
});
const plainHeaders = (method: string): Buffer =>
  headerBlock({ ":method": method, ":scheme": "http", ":path": "/", ":authority": "x" });

/** Every kind of request that the port tells apart. */
const requests: Readonly<Record<string, Buffer>> = {
  "a stream": callHeaders(ADS_SOTW),
  "a delta stream": callHeaders(ADS_DELTA),
  "a Fetch": callHeaders(CDS_FETCH),
  "a health check": callHeaders(HEALTH_CHECK),
  "a health watch": callHeaders(HEALTH_WATCH),
  reflection: callHeaders(REFLECTION),
  "load reports": callHeaders(LOADS),
  "an unknown method": callHeaders("/nope"),
  "a malformed deadline": callHeaders(ADS_SOTW, { "grpc-timeout": "x" }),
  "an unknown compression": callHeaders(ADS_SOTW, { "grpc-encoding": "x" }),
  "a deadline at once": callHeaders(ADS_SOTW, { "grpc-timeout": "1n" }),
  "a poll": restHeaders,
  "a GET": plainHeaders("GET"),
  "a HEAD": plainHeaders("HEAD"),
};

const open = (stream = 1, headers = callHeaders(ADS_SOTW), flags: number = END_HEADERS): Buffer =>
  frame(frameType.headers, flags, stream, headers);
const message = framed(sotwRequest(CLUSTER));
const data = (stream = 1, flags = 0, payload: Uint8Array = message): Buffer =>
  frame(frameType.data, flags, stream, payload);
const reset = (code: number, stream = 1): Buffer => frame(frameType.reset, 0, stream, uint32(code));
const windowUpdate = (stream: number, by: number): Buffer => frame(frameType.windowUpdate, 0, stream, uint32(by));

const packed: Readonly<Record<string, readonly Buffer[]>> = {
  ...Object.fromEntries(
    Object.entries(requests).flatMap(([name, headers]) =>
      [0, 1, 2, 7, 8, 11, 99].map((code) => [`${name}, then RST_STREAM ${code}`, [open(1, headers), reset(code)]]),
    ),
  ),
  "an unknown method with its end, then RST_STREAM": [open(1, callHeaders("/nope")), data(1, END_STREAM), reset(0)],
  "HEADERS with END_STREAM, then DATA": [open(1, callHeaders(ADS_SOTW), END_HEADERS | END_STREAM), data()],
  "DATA after END_STREAM": [open(), data(1, END_STREAM), data()],
  "DATA after RST_STREAM": [open(), reset(8), data()],
  "DATA on a stream that nobody opened": [open(), data(3)],
  "HEADERS twice": [open(), open()],
  "HEADERS of a lower stream": [open(5), open(3)],
  "trailers without END_STREAM": [open(), frame(frameType.headers, END_HEADERS, 1, headerBlock({ x: "y" }))],
  "WINDOW_UPDATE of 0": [open(), windowUpdate(1, 0)],
  "WINDOW_UPDATE beyond what a window may be": [open(), windowUpdate(1, 0x7fff_ffff), windowUpdate(1, 0x7fff_ffff)],
  "WINDOW_UPDATE of 0 for the connection": [open(), windowUpdate(0, 0)],
  "an answer under way when the session breaks": [
    open(1, plainHeaders("GET"), END_HEADERS | END_STREAM),
    open(3, callHeaders(ADS_SOTW), END_HEADERS | END_STREAM),
    windowUpdate(0, 0x7fff_ffff),
  ],
  GOAWAY: [open(), frame(frameType.goAway, 0, 0, Buffer.alloc(8))],
  "SETTINGS cut off": [open(), frame(frameType.settings, 0, 0, Buffer.alloc(5))],
  "PING on a stream": [open(), frame(frameType.ping, 0, 1, Buffer.alloc(8))],
  "PRIORITY on itself": [open(), frame(frameType.priority, 0, 1, Buffer.concat([uint32(1), Buffer.from([0])]))],
  PUSH_PROMISE: [open(), frame(frameType.pushPromise, END_HEADERS, 1, uint32(2))],
  "bytes that are no frame": [open(), Buffer.alloc(100, 0xff)],
  "headers that cannot be unpacked": [open(), frame(frameType.headers, END_HEADERS, 3, Buffer.alloc(6, 0xff))],
  "CONTINUATION of nothing": [open(), frame(frameType.continuation, END_HEADERS, 1, Buffer.alloc(1))],
  "a frame that is too long": [open(), data(1, 0, Buffer.alloc(20_000))],
};

let world: World;
const faults: unknown[] = [];
const fault = (error: unknown): void => void faults.push(error);
beforeAll(async () => {
  process.on("uncaughtException", fault);
  process.on("unhandledRejection", fault);
  world = await startWorld();
  world.server.on("invariant-broken", ({ error }) => fault(error));
});
afterAll(async () => {
  await world.close();
  process.off("uncaughtException", fault);
  process.off("unhandledRejection", fault);
});
beforeEach(() => {
  faults.length = 0;
});
/** The server lives, and whoever behaves is served. */
afterEach(async () => {
  const peer = await world.connect();
  const call = peer.open(ADS_SOTW);
  call.send(sotwRequest(CLUSTER));
  expect(decodeSotwResponse(await call.next()).resources).toHaveLength(1);
  await peer.close();
  expect(faults).toEqual([]);
});

const settings = frame(frameType.settings, 0, 0);
const ping = frame(frameType.ping, 0, 0, Buffer.from("are you?"));
/** What a GOAWAY for stream 0 begins with, after its length. */
const goAwayHead = Buffer.from([frameType.goAway, 0, 0, 0, 0, 0]);
const pong = frame(frameType.ping, ACK, 0, Buffer.from("are you?"));

/** Sends frames in one write, on a connection that is new or was used before, and waits until they were read. */
async function pack(frames: readonly Buffer[], how: "with the preface" | "on a warm connection"): Promise<void> {
  const socket = connect({ ...world.address, noDelay: true });
  let received = Buffer.alloc(0);
  socket.on("data", (chunk) => {
    received = Buffer.concat([received, chunk]);
  });
  socket.on("error", () => undefined);
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  await once(socket, "connect");
  const answeredPing = (): boolean => received.includes(pong);
  const isToldToGo = (): boolean => received.includes(goAwayHead);
  if (how === "on a warm connection") {
    socket.write(Buffer.concat([PREFACE, settings, frame(frameType.settings, ACK, 0), ping]));
    await until("the connection is warm", answeredPing);
    received = Buffer.alloc(0);
    socket.write(Buffer.concat([...frames, ping]));
  } else socket.write(Buffer.concat([PREFACE, settings, ...frames, ping]));
  // What is no longer understood leaves the ping unread as well, and GOAWAY says so. A frame that is cut off swallows it.
  const read = until("all was read", () => answeredPing() || isToldToGo(), 200).catch(() => undefined);
  await Promise.race([closed, read]);
  socket.destroy();
}

test.each(Object.keys(packed))("frames packed into one read hurt nobody: %s", async (name) => {
  await pack(packed[name] ?? [], "with the preface");
  await pack(packed[name] ?? [], "on a warm connection");
});

test("a connection that breaks the rules of HTTP/2 is told of, one that is reset is not", async () => {
  const broken: string[] = [];
  const off = world.server.on("connection-broken", ({ reason }) => broken.push(reason));
  await pack([open(), windowUpdate(0, 0)], "on a warm connection");
  await pack([open(), reset(2)], "on a warm connection");
  await until("it was told", () => broken.length > 0);
  off();
  expect(broken).toEqual([expect.stringMatching(/^(?:Protocol error|an empty WINDOW_UPDATE)$/)]);
});

const streamId = fc.constantFrom(1, 1, 1, 3, 3, 5, 7, 2, 0);
const flags = fc.oneof({ weight: 6, arbitrary: fc.constantFrom(0, END_HEADERS, 5) }, fc.nat(255));
const bytes = fc.uint8Array({ maxLength: 40 }).map((some) => Buffer.from(some));
const anyFrame = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .tuple(streamId, fc.constantFrom(...Object.values(requests)), fc.constantFrom(END_HEADERS, 5, 4, 0))
      .map(([stream, headers, how]) => open(stream, headers, how)),
  },
  { weight: 4, arbitrary: fc.tuple(streamId, fc.nat(14)).map(([stream, code]) => reset(code, stream)) },
  {
    weight: 4,
    arbitrary: fc
      .tuple(streamId, fc.constantFrom(0, 0, END_STREAM), fc.oneof(fc.constant(message), bytes))
      .map(([stream, end, payload]) => data(stream, end, payload)),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(streamId, fc.constantFrom(0, 1, 0x7fff_ffff)).map(([stream, by]) => windowUpdate(stream, by)),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.nat(10), flags, streamId, bytes)
      .map(([type, flag, stream, payload]) => frame(type, flag, stream, payload)),
  },
  { weight: 1, arbitrary: bytes },
);
const script = fc.record({
  frames: fc.array(anyFrame, { minLength: 1, maxLength: 10 }),
  how: fc.constantFrom("with the preface", "on a warm connection"),
});

test("any frames packed into one read hurt nobody", { timeout: 24 * 3_600_000 }, async () => {
  for (let done = 0; done < RUNS; done += AT_ONCE) {
    const scripts = fc.sample(script, { numRuns: AT_ONCE, seed: done });
    await Promise.all(scripts.map(({ frames, how }) => pack(frames, how)));
    expect(faults).toEqual([]);
  }
});
