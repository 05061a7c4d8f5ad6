import { once } from "node:events";
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from "node:http2";
import { type AddressInfo, connect as connectTcp, createServer, type Server, type Socket } from "node:net";
import { setTimeout as sleep, setImmediate as turn } from "node:timers/promises";
import { contentDigest } from "@xdskit/envoy-api";
import { createBodyEncoder } from "@xdskit/envoy-api/internal";
import { statusCode } from "@xdskit/protocol/internal";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  ACK,
  callHeaders,
  END_HEADERS,
  END_STREAM,
  frame,
  framed,
  frameType,
  PREFACE,
  uint32,
} from "../../../test/support/http2-frames.ts";
import { Hub } from "../../hub/hub.ts";
import type { ServerReport } from "../../hub/port.ts";
import { defaultLimits } from "../../limits.ts";
import { http2Engines } from "../http2/engines.ts";
import { ReadPacer } from "../http2/read-pacer.ts";
import { STREAMS_AT_ONCE } from "../http2/stream-room.ts";
import { describePeer } from "../peer.ts";
import { type RestHandler, RestServer } from "../rest/rest-server.ts";
import type { CallListener } from "./call.ts";
import { type ConnectionOptions, GrpcConnection } from "./connection.ts";
import { Decompression } from "./decompression.ts";
import { Intake, SMALL_MESSAGE_BYTES, TAKEN_PER_TURN } from "./intake.ts";
import type { GrpcMethod } from "./method.ts";

const fault = new Error("a bug");
const fail = (): never => {
  throw fault;
};
const nothing = (): void => undefined;
const listener: CallListener = { onMessage: nothing, onHalfClose: nothing, onFailure: nothing, onClose: nothing };

/** How long is waited for what comes; the machine may be busy. */
const PATIENCE = { timeout: 20_000 };
/** More than the buffers of two sockets hold. */
const LARGE_BYTES = 64 * 2 ** 20;
const CALLS_WITH_MESSAGES = 100;
let counted = 0;
/** The sizes of the messages of each call of "/sized". */
const sized = new Set<readonly number[]>();
const methods = new Map<string, GrpcMethod>([
  [
    "/counted",
    (call) => {
      counted++;
      call.accept(listener);
      return nothing;
    },
  ],
  [
    "/sized",
    (call) => {
      counted++;
      const sizes: number[] = [];
      sized.add(sizes);
      call.accept({ ...listener, onMessage: ({ byteLength }) => void sizes.push(byteLength) });
      return nothing;
    },
  ],
  ["/at-once", fail],
  ["/with-a-message", throwingIn({ onMessage: fail })],
  ["/with-its-end", throwingIn({ onHalfClose: fail })],
  ["/with-a-failure", throwingIn({ onMessage: fail, onFailure: fail })],
  ["/when-it-is-gone", throwingIn({ onClose: fail })],
  ["/open", throwingIn({})],
  ["/received", throwingIn({ onMessage: ({ byteLength }) => void receivedBytes.push(byteLength) })],
  [
    "/large",
    (call) => {
      call.accept(listener);
      void call.send(Buffer.alloc(LARGE_BYTES));
      return nothing;
    },
  ],
  [
    "/fine",
    (call) => {
      call.end({ code: statusCode.OK, message: "" });
      return nothing;
    },
  ],
]);

function throwingIn(throwing: Partial<CallListener>): GrpcMethod {
  return (call) => {
    call.accept({ ...listener, onFailure: (status) => call.end(status), ...throwing });
    return nothing;
  };
}

/** The bytes of the messages and bodies that were received, one after the other. */
let receivedBytes: number[] = [];
const handlers = new Map<string, RestHandler>([
  [
    "/v3/received",
    (exchange, body) => {
      receivedBytes.push(body.byteLength);
      exchange.respond(200, {});
    },
  ],
]);

let server: Server;
let opened: GrpcConnection[] = [];
let client: ClientHttp2Session;
let reports: ServerReport[] = [];

/** Starts a server, and connects a client to it. */
async function start(
  engine: keyof typeof http2Engines,
  { limits = defaultLimits, readPacer }: Partial<Pick<ConnectionOptions, "limits" | "readPacer">> = {},
): Promise<void> {
  reports = [];
  opened = [];
  receivedBytes = [];
  counted = 0;
  sized.clear();
  const hub = new Hub({
    digest: contentDigest,
    traits: () => undefined,
    nodeMapping: () => ["base"],
    encoder: createBodyEncoder({ controlPlane: "" }),
    limits,
    telemetry: { report: (report) => reports.push(report) },
  });
  const options = {
    hub,
    limits,
    methods,
    listener: undefined,
    rest: new RestServer({ handlers, maxRequestBytes: 1_000_000 }),
    decompression: new Decompression(),
    intake: new Intake(),
    readPacer,
    openHttp2: http2Engines[engine],
  };
  server = createServer((socket) => {
    socket.on("error", nothing);
    const connection = GrpcConnection.open(socket, describePeer(socket), options);
    if (connection !== undefined) opened.push(connection);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  client.on("error", nothing);
}

afterEach(() => {
  client.destroy();
  server.close();
});

describe.each([
  ["gRPC", "/received", "application/grpc"],
  ["REST", "/v3/received", "application/json"],
])("maxMessageMs: a message over %s that is incomplete while the server does not read", (_, path, contentType) => {
  const limits = { ...defaultLimits, maxMessageMs: 100 };
  const message = framed(Buffer.alloc(200_000));
  const bytes = contentType === "application/grpc" ? message.byteLength - 5 : message.byteLength;
  let isBusy = false;
  const hits = (): readonly string[] =>
    reports.flatMap((report) => (report.kind === "limit-hit" ? [report.limit] : []));

  /** Sends half of the message to a server that stops reading before it has it, and lets more than the time pass. */
  async function sendHalf(): Promise<ClientHttp2Stream> {
    isBusy = true;
    await start("builtin", { limits, readPacer: new ReadPacer({ isBusy: () => isBusy, isChangeDue: () => false }) });
    const stream = client.request({ ":method": "POST", ":path": path, "content-type": contentType });
    stream.on("error", nothing).resume();
    stream.write(message.subarray(0, message.byteLength / 2));
    await sleep(3 * limits.maxMessageMs);
    expect([hits(), receivedBytes]).toEqual([[], []]);
    isBusy = false;
    return stream;
  }

  test("is received when it goes on", async () => {
    const stream = await sendHalf();
    stream.end(message.subarray(message.byteLength / 2));
    await vi.waitFor(() => expect(receivedBytes).toEqual([bytes]), PATIENCE);
    expect(hits()).toEqual([]);
  });

  test("has the rest of its time afterwards, and no more", async () => {
    const stream = await sendHalf();
    await once(stream, "close");
    expect([hits(), receivedBytes]).toEqual([["maxMessageMs"], []]);
  });
});

/** Waits until a count has grown from 0 to `all`; how much it grew at most in one turn of the event loop. */
async function mostInATurn(count: () => number, all: number): Promise<number> {
  let most = 0;
  for (let before = 0; before < all; ) {
    await turn();
    const now = count();
    most = Math.max(most, now - before);
    before = now;
  }
  return most;
}

describe.each(["builtin", "node"] as const)("over the HTTP/2 engine %s", (engine) => {
  beforeEach(() => start(engine));

  /** A client that sends what it is given, and reads everything. */
  const connectRaw = (): Socket =>
    connectTcp((server.address() as AddressInfo).port, "127.0.0.1")
      .on("error", nothing)
      .resume();

  /** Calls a method with one message; its status, or the code that it was reset with. */
  async function call(path: string, cancel = false): Promise<string> {
    const stream = client.request({ ":method": "POST", ":path": path, "content-type": "application/grpc" });
    let said = "";
    const note = (headers: Readonly<Record<string, unknown>>): void => {
      if (headers["grpc-status"] !== undefined) said = `status ${String(headers["grpc-status"])}`;
    };
    stream.on("response", note).on("trailers", note).on("error", nothing).resume();
    if (cancel) stream.once("response", () => stream.close(8));
    else stream.end(Buffer.alloc(5));
    await new Promise<void>((resolve) => stream.once("close", () => resolve()));
    return said === "" ? `reset ${stream.rstCode}` : said;
  }

  test.each([
    ["/at-once", "reset 2"],
    ["/with-a-message", "status 13"],
    ["/with-its-end", "status 13"],
    ["/with-a-failure", "reset 8"],
  ])("a mistake in serving a call ends that call, and is told: %s", async (path, end) => {
    expect(await call(path)).toBe(end);
    const told = reports.flatMap((report) => (report.kind === "invariant-broken" ? [report] : []));
    expect(told.length).toBeGreaterThan(0);
    for (const report of told) expect(report).toMatchObject({ during: `call ${path}`, error: fault });
    expect(await call("/fine")).toBe("status 0");
  });

  test("a mistake after a call has ended is told, and hurts nobody", async () => {
    expect(await call("/when-it-is-gone", true)).toBe("reset 8");
    expect(await call("/fine")).toBe("status 0");
    expect(reports).toContainEqual({
      kind: "invariant-broken",
      stream: undefined,
      during: "call /when-it-is-gone",
      error: fault,
    });
  });

  test.each([
    ["DATA of a stream that there never was", [frame(frameType.data, 0, 5, Buffer.alloc(3))]],
    ["a PING of seven bytes", [frame(frameType.ping, 0, 0, Buffer.alloc(7))]],
    ["a frame that is too large", [frame(frameType.data, 0, 1, Buffer.alloc(20_000))]],
    ["header bytes that are none", [frame(frameType.headers, END_HEADERS, 3, Buffer.alloc(6, 0xff))]],
  ])("a connection that no frame can follow on ends before its keepalive: %s", async (_, frames) => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const socket = connectRaw();
    const call = frame(frameType.headers, END_HEADERS, 1, callHeaders("/open"));
    socket.write(Buffer.concat([PREFACE, frame(frameType.settings, 0, 0), call, ...frames]));
    const isClosed = (): boolean => reports.some(({ kind }) => kind === "connection-broken");
    const ended = new Promise((resolve) => socket.once("close", resolve));
    for (let passedMs = 0; !isClosed() && passedMs < defaultLimits.keepaliveMs / 2; passedMs += 2_000) {
      for (let read = 0; read < 100; read++) await turn();
      vi.advanceTimersByTime(2_000);
    }
    vi.useRealTimers();
    expect(isClosed()).toBe(true);
    await ended;
  });

  test("a connection that reset too many calls ends before its keepalive", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const socket = connectRaw();
    const calls = Array.from({ length: 3_000 }, (_, at) => [
      frame(frameType.headers, END_HEADERS, 2 * at + 1, callHeaders("/open")),
      frame(frameType.reset, 0, 2 * at + 1, uint32(8)),
    ]);
    socket.write(Buffer.concat([PREFACE, frame(frameType.settings, 0, 0), ...calls.flat()]));
    const isClosed = (): boolean => reports.some(({ kind }) => kind === "connection-closed");
    for (let passedMs = 0; !isClosed() && passedMs < defaultLimits.keepaliveMs / 2; passedMs += 2_000) {
      for (let read = 0; read < 100; read++) await turn();
      vi.advanceTimersByTime(2_000);
      await turn();
    }
    vi.useRealTimers();
    expect(reports).toContainEqual(expect.objectContaining({ kind: "connection-closed", reason: expect.any(String) }));
    socket.destroy();
  });

  test("of a flood of HEADERS in one write, no more calls are opened than a client may open at once", async () => {
    const socket = connectTcp((server.address() as AddressInfo).port, "127.0.0.1").on("error", nothing);
    const received: Buffer[] = [];
    const pong = frame(frameType.ping, ACK, 0, Buffer.from("all read"));
    const isRead = new Promise<void>((resolve) => {
      socket.on("data", (chunk: Buffer) => {
        received.push(chunk);
        if (Buffer.concat(received).includes(pong)) resolve();
      });
    });
    const calls = Array.from({ length: 4 * STREAMS_AT_ONCE }, (_, at) =>
      frame(frameType.headers, END_HEADERS, 2 * at + 1, callHeaders("/counted")),
    );
    const ping = frame(frameType.ping, 0, 0, Buffer.from("all read"));
    socket.write(Buffer.concat([PREFACE, frame(frameType.settings, 0, 0), ...calls, ping]));
    await isRead;
    for (let before = -1; before < counted; ) {
      before = counted;
      for (let passed = 0; passed < 10; passed++) await turn();
    }
    // Room is made once while the flood is read, because it comes in several reads.
    expect(counted).toBeGreaterThanOrEqual(STREAMS_AT_ONCE);
    expect(counted).toBeLessThanOrEqual(2 * STREAMS_AT_ONCE);
    socket.destroy();
  });

  test("of calls that come in one read, a few are started in a turn, and the others in the turns after", async () => {
    const socket = connectRaw();
    const calls = Array.from({ length: STREAMS_AT_ONCE }, (_, at) =>
      frame(frameType.headers, END_HEADERS | END_STREAM, 2 * at + 1, callHeaders("/counted")),
    );
    socket.write(Buffer.concat([PREFACE, frame(frameType.settings, 0, 0), ...calls]));
    // What came between two looks may belong to two turns.
    expect(await mostInATurn(() => counted, calls.length)).toBeLessThanOrEqual(2 * TAKEN_PER_TURN);
    socket.destroy();
  });

  test("of large messages that are complete in one read, a few are taken in a turn, those of a call in their order", async () => {
    const socket = connectRaw();
    const calls = Array.from({ length: CALLS_WITH_MESSAGES }, (_, at) =>
      frame(frameType.headers, END_HEADERS, 2 * at + 1, callHeaders("/sized")),
    );
    const message = Buffer.concat([Buffer.from([0]), uint32(SMALL_MESSAGE_BYTES), Buffer.alloc(SMALL_MESSAGE_BYTES)]);
    const cut = message.length - 1;
    const parts = (from: number, to: number): readonly Buffer[] =>
      calls.map((_, at) => frame(frameType.data, 0, 2 * at + 1, message.subarray(from, to)));
    socket.write(Buffer.concat([PREFACE, frame(frameType.settings, 0, 0), ...calls, ...parts(0, cut)]));
    await vi.waitFor(() => expect(counted).toBe(calls.length), PATIENCE);
    // The last byte of each, and a small message after it.
    const small = Buffer.from([0, 0, 0, 0, 0]);
    const ends = calls.map((_, at) =>
      frame(frameType.data, 0, 2 * at + 1, Buffer.concat([message.subarray(cut), small])),
    );
    socket.write(Buffer.concat(ends));
    const taken = (): number => [...sized.values()].filter((sizes) => sizes.length > 0).length;
    // What came between two looks may belong to two turns.
    expect(await mostInATurn(taken, calls.length)).toBeLessThanOrEqual(2 * TAKEN_PER_TURN);
    await turn();
    expect([...sized.values()]).toEqual(Array(calls.length).fill([SMALL_MESSAGE_BYTES, 0]));
    socket.destroy();
  });

  test("a connection whose client reads nothing is closed with its socket, in the middle of a write", async () => {
    const socket = connectTcp((server.address() as AddressInfo).port, "127.0.0.1").on("error", nothing);
    const wide = frame(frameType.settings, 0, 0, Buffer.concat([Buffer.from([0, 4]), uint32(2 ** 30)]));
    const call = frame(frameType.headers, END_HEADERS, 1, callHeaders("/large"));
    socket.write(Buffer.concat([PREFACE, wide, frame(frameType.windowUpdate, 0, 0, uint32(2 ** 30)), call]));
    await once(socket, "readable");
    for (let written = 0; written < 100; written++) await turn();
    opened.at(-1)?.destroy("no answer to a PING");
    await vi.waitFor(
      () =>
        expect(reports).toContainEqual(
          expect.objectContaining({ kind: "connection-closed", reason: "no answer to a PING" }),
        ),
      PATIENCE,
    );
    socket.resume();
    await once(socket, "close");
  });

  /** More than at once, and fewer than Node takes resets. */
  const CALLS = 900;

  test("calls that stay open make room for more, and as much is taken back when they end", async () => {
    const streams = Array.from({ length: CALLS }, () =>
      client.request({ ":method": "POST", ":path": "/counted", "content-type": "application/grpc" }),
    );
    await Promise.all(streams.map((stream) => once(stream.on("error", nothing).resume(), "response")));
    expect(counted).toBe(CALLS);
    for (const stream of streams) stream.close(8);
    await vi.waitFor(
      () => expect(client.remoteSettings.maxConcurrentStreams).toBeLessThanOrEqual(2 * STREAMS_AT_ONCE),
      PATIENCE,
    );
  });

  test.runIf(engine === "node")(
    "a connection that is alive is asked once after each time that something came, and stays",
    async () => {
      vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
      client.destroy();
      client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`).on("error", nothing);
      let pings = 0;
      client.on("ping", () => pings++);
      const asked: number[] = [];
      for (const path of ["/fine", "/fine"]) {
        await call(path);
        for (let passedMs = 0; passedMs < 10_000; passedMs += 2_000) {
          vi.advanceTimersByTime(2_000);
          for (let read = 0; read < 100; read++) await turn();
        }
        asked.push(pings);
      }
      vi.useRealTimers();
      expect(asked).toEqual([1, 2]);
      expect(client.destroyed).toBe(false);
    },
  );

  /** Lets time pass for the server; each two seconds begin with `before`. */
  async function pass(ms: number, before: () => void): Promise<void> {
    for (let passedMs = 0; passedMs < ms; passedMs += 2_000) {
      before();
      for (let read = 0; read < 100; read++) await turn();
      vi.advanceTimersByTime(2_000);
    }
  }

  const unanswered = (): readonly string[] =>
    reports.flatMap((report) =>
      report.kind === "connection-closed" && report.reason.includes("PING") ? [report.reason] : [],
    );

  test("a client that sends something while a PING waits for its answer stays, until nothing comes any more", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "setTimeout", "clearTimeout"] });
    const { port } = server.address() as AddressInfo;
    const socket = connectTcp({ port, host: "127.0.0.1", noDelay: true }).on("error", nothing).resume();
    const call = frame(frameType.headers, END_HEADERS, 1, callHeaders("/open"));
    socket.write(Buffer.concat([PREFACE, frame(frameType.settings, 0, 0), call]));
    const { keepaliveMs, keepaliveTimeoutMs } = defaultLimits;
    await pass(3 * keepaliveMs, () => socket.write(frame(frameType.windowUpdate, 0, 0, uint32(1))));
    expect(unanswered()).toEqual([]);
    await pass(3 * keepaliveTimeoutMs, nothing);
    vi.useRealTimers();
    expect(unanswered()).toEqual([`no answer to a PING for ${keepaliveTimeoutMs} ms`]);
    socket.destroy();
  });

  test("a client that has not read a message yet has the time of a message before the answer to a PING is missed", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "setTimeout", "clearTimeout"] });
    const socket = connectTcp((server.address() as AddressInfo).port, "127.0.0.1").on("error", nothing);
    const wide = frame(frameType.settings, 0, 0, Buffer.concat([Buffer.from([0, 4]), uint32(2 ** 30)]));
    const call = frame(frameType.headers, END_HEADERS, 1, callHeaders("/large"));
    socket.write(Buffer.concat([PREFACE, wide, frame(frameType.windowUpdate, 0, 0, uint32(2 ** 30)), call]));
    await once(socket, "readable");
    const { keepaliveMs, keepaliveTimeoutMs, maxBlockedMs } = defaultLimits;
    expect(keepaliveMs + keepaliveTimeoutMs).toBeLessThan(maxBlockedMs);
    await pass(maxBlockedMs - 4_000, nothing);
    vi.useRealTimers();
    expect(unanswered()).toEqual([]);
    socket.destroy();
  });
});
