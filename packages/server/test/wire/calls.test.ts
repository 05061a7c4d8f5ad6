import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { connect as connectSocket } from "node:net";
import { deflateSync, gzipSync } from "node:zlib";
import { decodeSotwResponse } from "@xdskit/envoy-api/internal";
import { afterEach, describe, expect, test } from "vitest";
import { closed, until, within } from "../support/raw-peer.ts";
import {
  ADS_SOTW,
  CDS_DELTA,
  CDS_SOTW,
  CLUSTER,
  cluster,
  countStreams,
  deltaRequest,
  ENDPOINTS,
  put,
  sotwRequest,
  startWorld,
  type World,
} from "../support/test-server.ts";

let world: World;
afterEach(() => world.close());

describe("S-GRP-05 the end of a stream", () => {
  test("S-GRP-05 a half-close ends it with OK, after what was asked is answered", async () => {
    world = await startWorld();
    const peer = await world.connect();
    const call = peer.open(ADS_SOTW);
    call.send(sotwRequest(CLUSTER));
    call.end();
    expect(decodeSotwResponse(await call.next()).resources).toHaveLength(1);
    expect(await within("the status", call.status)).toEqual({ code: 0, message: "" });
  });

  test("S-GRP-05 T-F3 200 streams, closed or cancelled, leave nothing behind", async () => {
    world = await startWorld();
    const streams = countStreams(world.server);
    const peer = await world.connect();
    for (let i = 0; i < 200; i++) {
      const call = peer.open(i % 3 === 0 ? ADS_SOTW : CDS_DELTA);
      call.send(i % 3 === 0 ? sotwRequest(CLUSTER) : deltaRequest(CLUSTER));
      await call.next();
      if (i % 2 === 0) call.end();
      else call.cancel();
    }
    await until("every stream is closed", () => streams.opened === 200 && streams.open === 0);
    // Node's client half-closes before it resets, so a cancellation may be heard as either.
    expect(streams.reasons.filter((reason) => reason !== "finished" && reason !== "cancelled")).toEqual([]);
  });

  test("a connection that breaks frees its streams", async () => {
    world = await startWorld();
    const streams = countStreams(world.server);
    const peer = await world.connect();
    const call = peer.open(ADS_SOTW);
    call.send(sotwRequest(CLUSTER));
    await call.next();
    peer.session.destroy();
    await until("the stream is closed", () => streams.open === 0);
    expect(streams.reasons).toEqual(["connection-lost"]);
  });
});

describe("what a request may be", () => {
  test.each([
    ["gzip", gzipSync],
    ["deflate", deflateSync],
  ] as const)("compressed with %s", async (encoding, compress) => {
    world = await startWorld();
    const peer = await world.connect();
    const call = peer.open(ADS_SOTW, { "grpc-encoding": encoding });
    call.send(compress(sotwRequest(CLUSTER)), { compressed: true });
    call.send(sotwRequest(ENDPOINTS, ["x"])); // and not compressed, on the same stream
    expect(decodeSotwResponse(await call.next()).resources).toHaveLength(1);
  });

  test("B-GRP-08 one that is too long ends with RESOURCE_EXHAUSTED", async () => {
    world = await startWorld({ limits: { maxRequestBytes: 1_000 } });
    const peer = await world.connect();
    const call = peer.open(ADS_SOTW);
    call.send(sotwRequest(CLUSTER, ["x".repeat(2_000)]));
    expect(await within("the status", call.status)).toMatchObject({ code: 8, message: /maxRequestBytes/ });
  });

  test("one that is too long once it is decompressed, too", async () => {
    world = await startWorld({ limits: { maxRequestBytes: 100_000 } });
    const peer = await world.connect();
    const call = peer.open(ADS_SOTW, { "grpc-encoding": "gzip" });
    call.send(gzipSync(Buffer.alloc(10_000_000)), { compressed: true });
    expect(await within("the status", call.status)).toMatchObject({ code: 8, message: /maxRequestBytes/ });
  });

  test.each([
    ["bytes that are no message", Buffer.from([0xff, 0xff, 0xff]), {}, 3],
    ["a type that the method does not serve", sotwRequest(ENDPOINTS), {}, 3],
    ["compressed, but not said how", gzipSync(sotwRequest(CLUSTER)), { compressed: true }, 13],
  ])("not %s", async (_, bytes, options, code) => {
    world = await startWorld();
    const peer = await world.connect();
    const call = peer.open(CDS_SOTW);
    call.send(bytes, options);
    expect(await within("the status", call.status)).toMatchObject({ code });
  });

  test("not cut off", async () => {
    world = await startWorld();
    const peer = await world.connect();
    const call = peer.open(CDS_SOTW);
    call.stream.end(Buffer.from([0, 0, 0, 0, 9, 1]));
    expect(await within("the status", call.status)).toMatchObject({ code: 13 });
  });

  test("not in an encoding that is not known", async () => {
    world = await startWorld();
    const peer = await world.connect();
    const call = peer.open(CDS_SOTW, { "grpc-encoding": "zstd" });
    expect(await within("the status", call.status)).toMatchObject({ code: 12 });
    expect(await call.headers).toMatchObject({ "grpc-accept-encoding": "identity,gzip,deflate" });
  });
});

test("a deadline ends the stream with DEADLINE_EXCEEDED", async () => {
  world = await startWorld();
  const streams = countStreams(world.server);
  const peer = await world.connect();
  const call = peer.open(ADS_SOTW, { "grpc-timeout": "50m" });
  call.send(sotwRequest(CLUSTER));
  await call.next();
  expect(await within("the status", call.status)).toMatchObject({ code: 4 });
  expect(streams.reasons).toEqual(["deadline"]);
});

test("other content than gRPC gets an HTTP status", async () => {
  world = await startWorld();
  const peer = await world.connect();
  const json = peer.open(ADS_SOTW, { "content-type": "application/json" });
  expect(await within("headers", json.headers)).toMatchObject({ ":status": 415 });
  const get = peer.open(ADS_SOTW, { ":method": "GET" });
  expect(await within("headers", get.headers)).toMatchObject({ ":status": 405 });
});

describe("what else may come to the port", () => {
  test("HTTP/1.1 is answered in words", async () => {
    world = await startWorld();
    const request = httpRequest({ ...world.address, path: "/" });
    request.end();
    const [response] = await within("a response", once(request, "response"));
    expect(response.statusCode).toBe(404);
    expect(String((await once(response, "data"))[0])).toContain("expected a path such as /v3/discovery:clusters");
  });

  test.each([
    ["a TLS hello", Buffer.from([0x16, 0x03, 0x01, 0x00, 0x05, 1, 2, 3, 4, 5])],
    ["noise", Buffer.alloc(4_096, 0xa7)],
    ["lower case", Buffer.from("get / http/1.1\r\n\r\n")],
    [
      "half a preface, then noise",
      Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\0garbage garbage garbage garbage"),
    ],
    ["letters without end", Buffer.alloc(100, "A")],
  ])("%s is closed, and nobody is hurt", async (_, bytes) => {
    world = await startWorld();
    const socket = connectSocket(world.address.port, world.address.host);
    socket.resume();
    socket.write(bytes);
    await closed(socket);
    const peer = await world.connect();
    const call = peer.open(ADS_SOTW);
    call.send(sotwRequest(CLUSTER));
    expect(decodeSotwResponse(await call.next()).resources).toHaveLength(1);
  });

  test("silence is closed after a while", async () => {
    world = await startWorld({ limits: { handshakeTimeoutMs: 50 } });
    const socket = connectSocket(world.address.port, world.address.host);
    socket.write("PR");
    socket.resume();
    await closed(socket);
  });

  test("a preface that comes byte by byte is understood", async () => {
    world = await startWorld();
    const socket = connectSocket({ ...world.address, noDelay: true });
    let received = Buffer.alloc(0);
    socket.on("data", (chunk) => {
      received = Buffer.concat([received, chunk]);
    });
    for (const byte of "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0") {
      socket.write(byte, "latin1");
      await new Promise((resolve) => setImmediate(resolve));
    }
    await until("the server's SETTINGS", () => received[3] === 4);
    socket.destroy();
  });
});

test("a flood of requests slows down only itself", async () => {
  world = await startWorld();
  const flooding = (await world.connect()).open(ADS_SOTW);
  const other = (await world.connect()).open(ADS_SOTW);
  other.send(sotwRequest(CLUSTER));
  const { nonce, versionInfo } = decodeSotwResponse(await other.next());
  other.send(sotwRequest(CLUSTER, [], nonce, versionInfo));
  for (let i = 0; i < 20_000; i++) flooding.send(sotwRequest(ENDPOINTS, [`name-${i}`]));
  flooding.send(sotwRequest(CLUSTER));
  world.server.commit(put(cluster("b")));
  const answered: string[] = [];
  const [quick, slow] = await Promise.all([
    other.next(15_000).finally(() => answered.push("other")),
    flooding.next(15_000).finally(() => answered.push("flooding")),
  ]);
  expect([decodeSotwResponse(quick).resources.length, decodeSotwResponse(slow).resources.length]).toEqual([2, 2]);
  expect(answered).toEqual(["other", "flooding"]);
});
