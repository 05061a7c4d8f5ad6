import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { decodeDeltaResponse, decodeSotwResponse } from "@xdskit/envoy-api/internal";
import { afterAll, afterEach, expect, test } from "vitest";
import { Authority } from "../support/authority.ts";
import {
  callFrames,
  END_HEADERS,
  END_STREAM,
  frame,
  frameType,
  headerBlock,
  PREFACE,
  uint32,
} from "../support/http2-frames.ts";
import { RawPeer, until, within } from "../support/raw-peer.ts";
import {
  ADS_DELTA,
  ADS_SOTW,
  CDS_DELTA,
  CDS_SOTW,
  CLUSTER,
  cluster,
  deltaRequest,
  ENDPOINTS,
  put,
  resource,
  sotwRequest,
  startWorld,
  type World,
} from "../support/test-server.ts";

let world: World;
afterEach(() => world.close());

const authority = new Authority("authority");
const directory = mkdtempSync(join(tmpdir(), "xdskit-slow-reader-"));
afterAll(() => {
  authority[Symbol.dispose]();
  rmSync(directory, { recursive: true });
});
/** Writes the server's certificate and key; their paths. */
function serverTls(): { readonly cert: string; readonly key: string } {
  const [cert, key] = [join(directory, "cert.pem"), join(directory, "key.pem")];
  const issued = authority.issue("IP:127.0.0.1");
  writeFileSync(cert, issued.cert);
  writeFileSync(key, issued.key);
  return { cert, key };
}

const big = Array.from({ length: 200 }, (_, i) => cluster(`c${i}`, "x".repeat(105_000)));

test("B-GRP-08 a state of 20 MiB reaches a client that reads", async () => {
  world = await startWorld({}, big);
  const call = (await world.connect()).open(CDS_SOTW);
  call.send(sotwRequest(CLUSTER));
  const response = decodeSotwResponse(await call.next(15_000));
  expect(response.resources).toHaveLength(200);
  expect(call.receivedBytes).toBeGreaterThan(20 * 1024 * 1024);
});

test("S-GRP-07 a client that does not read hurts nobody, costs no history, and gets the newest in the end", async () => {
  world = await startWorld({}, big);
  const stalls: string[] = [];
  world.server.on("stream-stalled", () => stalls.push("stalled"));
  world.server.on("stream-drained", () => stalls.push("drained"));
  let responses = 0;
  world.server.on("response-queued", () => {
    responses++;
  });
  const slow = (await world.connect()).open(CDS_SOTW);
  slow.stream.pause();
  slow.send(sotwRequest(CLUSTER));
  await until("the server sees that it does not read", () => stalls.includes("stalled"));
  expect(responses).toBe(1);

  const quick = (await world.connect()).open(CDS_DELTA);
  quick.send(deltaRequest(CLUSTER, ["watched"]));
  let { nonce } = decodeDeltaResponse(await quick.next());
  for (let revision = 1; revision <= 30; revision++) {
    world.server.commit(put(cluster("watched", `revision ${revision}`))); // a state of 20 MiB each time
    quick.send(deltaRequest(CLUSTER, [], nonce));
    ({ nonce } = decodeDeltaResponse(await quick.next()));
  }
  // The one response that waits for the slow client, and 31 for the quick one.
  expect(responses).toBe(32);
  expect(slow.waiting).toBe(0);

  slow.stream.resume();
  const first = decodeSotwResponse(await slow.next(15_000));
  slow.send(sotwRequest(CLUSTER, [], first.nonce, first.versionInfo));
  const second = decodeSotwResponse(await slow.next(15_000));
  expect(first.resources).toHaveLength(200);
  expect(second.resources).toHaveLength(201);
  expect(second.resources.filter(({ value }) => Buffer.from(value).includes("revision 30"))).toHaveLength(1);
  expect(slow.waiting).toBe(0);
}, 40_000);

test("a client that never reads again is sent away", async () => {
  world = await startWorld({ limits: { maxBlockedMs: 200 } }, big);
  const reasons: string[] = [];
  world.server.on("stream-closed", ({ reason }) => reasons.push(reason));
  const limits: string[] = [];
  world.server.on("limit-hit", ({ limit }) => limits.push(limit));
  const slow = (await world.connect()).open(CDS_SOTW);
  slow.stream.pause();
  slow.send(sotwRequest(CLUSTER));
  await until("it is sent away", () => reasons.length > 0);
  expect({ reasons, limits }).toEqual({ reasons: ["blocked"], limits: ["maxBlockedMs"] });
  slow.stream.resume();
  expect(await within("the reset", slow.status)).toEqual({ code: -1, message: "reset 11" });
});

test("a client that half-closes and does not read is let go", async () => {
  world = await startWorld({ limits: { maxBlockedMs: 200 } }, big);
  let isClosed = false;
  const peer = await world.connect();
  const slow = peer.open(CDS_SOTW);
  slow.stream.pause();
  slow.stream.once("close", () => {
    isClosed = true;
  });
  slow.send(sotwRequest(CLUSTER));
  slow.end();
  await until("headers came", () => slow.stream.sentHeaders !== undefined);
  await until("the stream is reset", () => isClosed || slow.stream.rstCode !== 0, 10_000);
  expect(slow.stream.rstCode).toBe(8);
});

test.each([
  { path: ADS_SOTW, ask: sotwRequest, decode: decodeSotwResponse },
  { path: ADS_DELTA, ask: deltaRequest, decode: decodeDeltaResponse },
])(
  "S-GRP-05 a client that half-closes before it reads gets all that it asked for: $path",
  async ({ path, ask, decode }) => {
    world = await startWorld({}, [...big, resource(ENDPOINTS, "e")]);
    let isStalled = false;
    world.server.on("stream-stalled", () => {
      isStalled = true;
    });
    const slow = (await world.connect()).open(path);
    slow.stream.pause();
    slow.send(ask(CLUSTER));
    await until("the server sees that it does not read", () => isStalled);
    slow.send(ask(ENDPOINTS, ["e"]));
    slow.end();
    // What the client says by reading comes after the end of its side.
    slow.stream.resume();
    const received = new Map<string, number>();
    while (!received.has(ENDPOINTS)) {
      const { typeUrl, resources } = decode(await slow.next());
      received.set(typeUrl, (received.get(typeUrl) ?? 0) + resources.length);
    }
    expect([...received]).toEqual([
      [CLUSTER, big.length],
      [ENDPOINTS, 1],
    ]);
    expect(await within("the status", slow.status)).toEqual({ code: 0, message: "" });
  },
  40_000,
);

const HEALTH = "/grpc.health.v1.Health";
const REFLECTION = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
const STATUS = "/envoy.service.status.v3.ClientStatusDiscoveryService/StreamClientStatus";
const LOADS = "/envoy.service.load_stats.v3.LoadReportingService/StreamLoadStats";
const soon = { "grpc-timeout": "50m" };

test.each([
  { what: "a health check past its deadline", path: `${HEALTH}/Check`, headers: soon },
  { what: "a health watch past its deadline", path: `${HEALTH}/Watch`, headers: soon },
  { what: "reflection past its deadline", path: REFLECTION, headers: soon },
  { what: "client status past its deadline", path: STATUS, headers: soon },
  { what: "load reports past their deadline", path: LOADS, headers: soon },
  { what: "load reports that are half-closed", path: LOADS, headers: {}, isHalfClosed: true },
  { what: "what is not gRPC", path: "/page", headers: { "content-type": "text/html" } },
])("a call that has ended is reset when its client does not read the rest: $what", async (one) => {
  world = await startWorld({
    loadReports: {},
    clientStatus: "everybody",
    limits: { maxBlockedMs: 200, keepaliveMs: 50 },
  });
  const limits: string[] = [];
  world.server.on("limit-hit", ({ limit }) => limits.push(limit));
  const peer = await RawPeer.connect(world.address, { settings: { initialWindowSize: 0 } });
  const call = peer.open(one.path, one.headers);
  call.send(Buffer.alloc(0));
  if (one.isHalfClosed === true) call.end();
  expect(await within("the reset", call.status)).toEqual({ code: -1, message: "reset 11" });
  expect(limits).toEqual(["maxBlockedMs"]);
  await peer.close();
});

test.each([
  { over: "TCP", call: "poll" },
  { over: "TLS", call: "poll" },
  { over: "TLS", call: "stream" },
])(
  "a connection that its client ended with GOAWAY is closed although nothing is read from it: a $call over $over",
  async (one) => {
    const isTls = one.over === "TLS";
    world = await startWorld({ limits: { maxBlockedMs: 200 }, ...(isTls && { tls: serverTls() }) }, big);
    const reasons: string[] = [];
    world.server.on("connection-closed", ({ reason }) => reasons.push(reason));
    const socket = isTls
      ? connectTls({ ...world.address, ca: authority.cert, ALPNProtocols: ["h2"] })
      : connect(world.address);
    socket.on("error", () => undefined);
    await once(socket, isTls ? "secureConnect" : "connect");
    socket.pause();
    const wide = frame(frameType.settings, 0, 0, Buffer.concat([Buffer.from([0, 4]), uint32(2 ** 30)]));
    const goAway = frame(frameType.goAway, 0, 0, Buffer.alloc(8));
    const asked = one.call === "poll" ? poll : stream;
    socket.write(
      Buffer.concat([PREFACE, wide, frame(frameType.windowUpdate, 0, 0, uint32(2 ** 30)), ...asked, goAway]),
    );
    await until("the connection is closed", () => reasons.length > 0, 15_000);
    // Node does not tell that the socket has taken all of a short response.
    expect(reasons).toEqual([
      expect.stringMatching(/^(?:nothing could be written for 200 ms \(maxBlockedMs\)|closed by the client)$/),
    ]);
    socket.destroy();
  },
  20_000,
);

const path = "/v3/discovery:clusters";
const headers = headerBlock({ ":method": "POST", ":scheme": "http", ":path": path, ":authority": "localhost" });
const poll = [
  frame(frameType.headers, END_HEADERS, 1, headers),
  frame(frameType.data, END_STREAM, 1, Buffer.from('{"node":{"id":"slow"}}')),
];
const stream = [callFrames(1, CDS_SOTW, sotwRequest(CLUSTER))];
