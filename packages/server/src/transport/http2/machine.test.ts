import { describe, expect, test } from "vitest";
import {
  ACK,
  callHeaders,
  END_HEADERS,
  END_STREAM,
  frame,
  frameType,
  headerBlock,
  PREFACE,
  uint32,
} from "../../../test/support/http2-frames.ts";
import { MachineRun } from "../../../test/support/machine-run.ts";
import { MAX_UNREAD_REPLIES, RECEIVE_WINDOW_BYTES } from "./limits.ts";

const PADDED = 8;
const PRIORITY = 32;
const settings = (...pairs: readonly (readonly [number, number])[]): Buffer =>
  frame(frameType.settings, 0, 0, Buffer.concat(pairs.flatMap(([id, value]) => [Buffer.from([0, id]), uint32(value)])));
const request = (stream: number, flags = END_HEADERS): Buffer =>
  frame(frameType.headers, flags, stream, callHeaders("/call"));
const data = (stream: number, text: string, flags = 0): Buffer =>
  frame(frameType.data, flags, stream, Buffer.from(text));
/** A priority that depends on stream 1. */
const selfPriority = Buffer.from([0, 0, 0, 1, 16]);
const answer = { ":status": 200, "content-type": "application/grpc" };

/** A run whose client has said hello, and was answered. */
function greeted(options: ConstructorParameters<typeof MachineRun>[0] = {}, ...pairs: [number, number][]): MachineRun {
  const run = new MachineRun(options);
  run.receive(PREFACE, settings(...pairs));
  run.told();
  return run;
}

test("begins with SETTINGS and the window of the connection, before the client has said anything", () => {
  const run = new MachineRun({ maxStreams: 7 });
  expect(run.sent().map(({ payload }) => payload.toString("hex"))).toEqual([
    "000300000007" + "000400100000" + "000600010000",
    "000f0001",
  ]);
});

test("a call: headers, a message each way, trailers", () => {
  const run = greeted();
  run.receive(request(1));
  run.read(1);
  run.receive(data(1, "asked"), data(1, "", END_STREAM));
  const stream = run.stream(1);
  stream.respond(answer);
  stream.write([Buffer.from("an"), Buffer.from("swer"), Buffer.alloc(0)], () => run.events.push("written"));
  stream.end({ "grpc-status": "0" });
  expect(run.told()).toEqual(["HEADERS 1 21 bytes", "DATA 1 6 bytes", "HEADERS 1 16 bytes END_STREAM"]);
  expect(run.events).toEqual(["request 1: POST /call", "data 1: asked", "end 1", "written", "closed 1"]);
});

test("the headers of a response, byte by byte", () => {
  const run = greeted();
  run.receive(request(1));
  run.stream(1).respond({ "content-type": "application/grpc", ":status": 200, "grpc-status": "0" }, true);
  const [headers] = run.sent();
  const expected = [
    "20", // no table
    "88", // :status: 200
    `0f10${"10"}${Buffer.from("application/grpc").toString("hex")}`,
    `000b${Buffer.from("grpc-status").toString("hex")}0130`,
  ];
  expect(headers?.payload.toString("hex")).toBe(expected.join(""));
});

test("a body that came before it is read waits, and counts for the window until then", () => {
  const run = greeted();
  const chunk = "x".repeat(16_000);
  const chunks = Math.ceil(RECEIVE_WINDOW_BYTES / 2 / chunk.length);
  run.receive(request(1), ...Array.from({ length: chunks }, () => data(1, chunk)));
  expect(run.told()).toEqual([]);
  run.read(1);
  expect(run.told()).toEqual([`WINDOW_UPDATE 0 ${chunks * 16_000}`, `WINDOW_UPDATE 1 ${chunks * 16_000}`]);
  expect(run.events).toEqual(["request 1: POST /call", `data 1: ${chunk.repeat(chunks)}`]);
});

test("a client that sends more than the window breaks the connection", () => {
  const run = greeted();
  const chunk = "x".repeat(16_384);
  run.receive(request(1), ...Array.from({ length: 65 }, () => data(1, chunk)));
  expect(run.told()).toEqual(["GOAWAY 0 last 1 code 3"]);
  expect(run.events.slice(1)).toEqual(["broken: DATA beyond the window of the connection", "closed 1"]);
});

test("padding gives the window back, too", () => {
  const run = greeted();
  run.receive(request(1));
  run.read(1);
  const padded = frame(
    frameType.data,
    PADDED,
    1,
    Buffer.concat([Buffer.from([255]), Buffer.from("x"), Buffer.alloc(255)]),
  );
  run.receive(...Array.from({ length: 2_100 }, () => padded));
  expect(run.told()).toEqual(["WINDOW_UPDATE 0 524536", "WINDOW_UPDATE 1 524536"]);
});

test("what was sent and thrown away gives the window back", () => {
  const run = greeted();
  run.receive(request(1));
  run.stream(1).discard();
  for (let round = 0; round < 10; round++) {
    run.receive(...Array.from({ length: 40 }, () => data(1, "x".repeat(16_000))));
    expect(run.told().length).toBeGreaterThan(0);
  }
  expect(run.events).toEqual(["request 1: POST /call"]);
});

test("DATA waits for the windows of the stream and of the connection", () => {
  const run = greeted({}, [4, 10]);
  run.receive(request(1), request(3));
  for (const id of [1, 3]) {
    run.stream(id).respond(answer);
    run.stream(id).write([Buffer.alloc(65_535)], () => run.events.push(`written ${id}`));
  }
  expect(run.told().filter((line) => line.startsWith("DATA"))).toEqual(["DATA 1 10 bytes", "DATA 3 10 bytes"]);
  run.receive(frame(frameType.windowUpdate, 0, 1, uint32(70_000)));
  const sizes = run.sent().map(({ stream, payload }) => [stream, payload.byteLength]);
  expect(sizes).toEqual([
    [1, 16_384],
    [1, 16_384],
    [1, 16_384],
    [1, 16_363],
  ]);
  run.receive(settings([4, 70_000]));
  // The window of the connection is used up.
  expect(run.told()).toEqual(["SETTINGS 0 0 bytes ACK"]);
  run.receive(frame(frameType.windowUpdate, 0, 0, uint32(1_000)));
  expect(run.told()).toEqual(["DATA 1 10 bytes", "DATA 3 990 bytes"]);
  expect(run.events.slice(2)).toEqual(["written 1"]);
});

test("streams take turns, a frame each", () => {
  const run = greeted({}, [4, 1_000_000]);
  run.receive(frame(frameType.windowUpdate, 0, 0, uint32(1_000_000)), request(1), request(3));
  for (const id of [1, 3]) {
    run.stream(id).respond(answer);
    run.stream(id).write([Buffer.alloc(40_000)]);
  }
  const order = run.sent().flatMap(({ type, stream }) => (type === frameType.data ? [stream] : []));
  expect(order).toEqual([1, 3, 1, 3, 1, 3]);
});

test("of responses no more is taken than asked for, and the next call goes on where it ended", () => {
  const run = greeted();
  run.receive(request(1), request(3));
  for (const id of [1, 3]) {
    run.stream(id).respond(answer);
    run.stream(id).write([Buffer.alloc(1_000)]);
  }
  expect(run.told(321)).toEqual(["HEADERS 1 21 bytes", "DATA 1 300 bytes"]);
  expect(run.told(1_021)).toEqual(["HEADERS 3 21 bytes", "DATA 3 1000 bytes"]);
  expect(run.told(1_000)).toEqual(["DATA 1 700 bytes"]);
  expect(run.machine.hasUnsent).toBe(false);
});

test("a larger frame is sent to a client that takes it", () => {
  const run = greeted({}, [5, 40_000]);
  run.receive(request(1));
  run.stream(1).respond(answer);
  run.stream(1).write([Buffer.alloc(50_000)]);
  expect(run.told()).toEqual(["HEADERS 1 21 bytes", "DATA 1 40000 bytes", "DATA 1 10000 bytes"]);
});

test("a client that still sends when its response has left is told to stop, a turn later", () => {
  const run = greeted();
  run.receive(request(1), request(3));
  for (const id of [1, 3]) run.stream(id).respond(answer, true);
  expect(run.told()).toEqual(["HEADERS 1 21 bytes END_STREAM", "HEADERS 3 21 bytes END_STREAM"]);
  run.receive(data(1, "late", END_STREAM));
  expect(run.told()).toEqual(["RST_STREAM 3 0"]);
  run.receive(data(3, "on its way"));
  expect(run.told()).toEqual([]);
  expect(run.events.slice(2)).toEqual(["closed 1", "closed 3"]);
});

test("a response without a body ends with its headers", () => {
  const run = greeted();
  run.receive(request(1, END_HEADERS | END_STREAM));
  run.stream(1).respond(answer);
  run.stream(1).write([Buffer.alloc(0)], () => run.events.push("written"));
  run.stream(1).end();
  expect(run.told()).toEqual(["HEADERS 1 21 bytes END_STREAM"]);
  expect(run.events.slice(1)).toEqual(["written", "closed 1"]);
});

test("a response to HEAD has no body", () => {
  const run = greeted();
  const head = { ":method": "HEAD", ":scheme": "http", ":path": "/x" };
  run.receive(frame(frameType.headers, END_HEADERS | END_STREAM, 1, headerBlock(head)));
  run.stream(1).respond({ ":status": 404 });
  run.stream(1).write([Buffer.from("nothing here")]);
  run.stream(1).end();
  expect(run.told()).toEqual(["HEADERS 1 2 bytes END_STREAM"]);
});

test("what is on its way of a stream that was reset is ignored, until the client has reset it, too", () => {
  const run = greeted();
  run.receive(request(1));
  run.stream(1).reset(8);
  run.receive(data(1, "on its way"), frame(frameType.reset, 0, 1, uint32(8)));
  expect(run.told()).toEqual(["RST_STREAM 1 8"]);
  run.receive(data(1, "too late"));
  expect(run.told()).toEqual(["GOAWAY 0 last 1 code 5"]);
});

test("a reset drops what was written, in both directions", () => {
  const run = greeted();
  run.receive(request(1), request(3));
  for (const id of [1, 3]) run.stream(id).write([Buffer.from("never sent")]);
  run.stream(1).reset(8);
  run.receive(frame(frameType.reset, 0, 3, uint32(8)));
  expect(run.told()).toEqual(["RST_STREAM 1 8"]);
  expect(run.events.slice(2)).toEqual(["closed 1", "closed 3"]);
});

test("PING and SETTINGS are answered; the answer to a PING is told once", () => {
  const run = greeted();
  run.receive(frame(frameType.ping, 0, 0, Buffer.from("8 bytes.")), settings([1, 0]));
  expect(run.told()).toEqual(["PING 0 8 bytes ACK", "SETTINGS 0 0 bytes ACK"]);
  run.machine.ping(() => run.events.push("pong"));
  const [ping] = run.sent();
  const pong = frame(frameType.ping, ACK, 0, ping?.payload);
  run.receive(frame(frameType.ping, ACK, 0, Buffer.alloc(8)), pong, pong);
  expect(run.events).toEqual(["pong"]);
});

test("after GOAWAY open streams go on, new ones are ignored, and nothing is left to do when they have closed", () => {
  const run = greeted();
  run.receive(request(1));
  run.machine.leave();
  run.receive(request(3), data(3, "ignored", END_STREAM), data(1, "", END_STREAM));
  expect(run.told()).toEqual(["GOAWAY 0 last 1 code 0"]);
  expect(run.machine.isDone).toBe(false);
  run.stream(1).respond(answer, true);
  expect(run.told()).toEqual(["HEADERS 1 21 bytes END_STREAM"]);
  expect([run.machine.isDone, run.events]).toEqual([true, ["request 1: POST /call", "closed 1"]]);
});

test("a client that leaves has its streams served to the end", () => {
  const run = greeted();
  run.receive(request(1, END_HEADERS | END_STREAM), frame(frameType.goAway, 0, 0, Buffer.alloc(8)));
  run.stream(1).respond(answer, true);
  expect(run.told()).toEqual(["GOAWAY 0 last 1 code 0", "HEADERS 1 21 bytes END_STREAM"]);
  expect(run.machine.isDone).toBe(true);
});

test("more streams than the limit are refused, and others served", () => {
  const run = greeted({ maxStreams: 1 });
  run.receive(request(1), request(3));
  expect(run.told()).toEqual(["RST_STREAM 3 7"]);
  run.stream(1).reset(8);
  run.receive(request(5));
  expect(run.events).toEqual(["request 1: POST /call", "request 3: POST /call"]);
});

test("headers may come in many frames, with padding and a priority", () => {
  const run = greeted();
  const block = callHeaders("/call");
  const head = Buffer.concat([Buffer.from([3]), uint32(0), Buffer.from([16]), block.subarray(0, 5), Buffer.alloc(3)]);
  run.receive(
    frame(frameType.headers, PADDED | PRIORITY, 1, head),
    frame(frameType.continuation, 0, 1, block.subarray(5, 9)),
    frame(frameType.continuation, END_HEADERS, 1, block.subarray(9)),
    frame(frameType.data, PADDED | END_STREAM, 1, Buffer.from([2, 0x68, 0x69, 0, 0])),
  );
  run.read(1);
  expect(run.events).toEqual(["request 1: POST /call", "data 1: hi", "end 1"]);
});

const many = (count: number, make: (index: number) => Buffer): Buffer[] =>
  Array.from({ length: count }, (_, index) => make(index));

describe("breaks the connection", () => {
  test.each<readonly [what: string, frames: readonly Buffer[], code: number]>([
    ["DATA of no stream", [data(0, "x")], 1],
    ["DATA of a stream that is not open yet", [data(5, "x")], 1],
    ["HEADERS of an even stream", [request(2)], 1],
    ["HEADERS of a stream that has closed", [request(1), frame(frameType.reset, 0, 1, uint32(8)), request(1)], 5],
    ["DATA of a stream that its client reset", [request(1), frame(frameType.reset, 0, 1, uint32(8)), data(1, "x")], 5],
    ["a frame that is too large", [frame(frameType.data, 0, 1, Buffer.alloc(16_385))], 6],
    ["padding beyond the frame", [request(1), frame(frameType.data, PADDED, 1, Buffer.from([9]))], 1],
    ["PUSH_PROMISE", [frame(frameType.pushPromise, END_HEADERS, 1)], 1],
    ["a PING of a stream", [frame(frameType.ping, 0, 1, Buffer.alloc(8))], 1],
    ["a PING of seven bytes", [frame(frameType.ping, 0, 0, Buffer.alloc(7))], 6],
    ["a window that does not grow", [frame(frameType.windowUpdate, 0, 0, uint32(0))], 1],
    ["a window that is too large", [frame(frameType.windowUpdate, 0, 0, uint32(2 ** 31 - 1))], 3],
    ["an initial window that is too large", [settings([4, 2 ** 31])], 3],
    ["a frame size that is too small", [settings([5, 16_383])], 1],
    ["SETTINGS that are cut off", [frame(frameType.settings, 0, 0, Buffer.alloc(5))], 6],
    ["an acknowledgement with settings", [frame(frameType.settings, ACK, 0, Buffer.alloc(6))], 6],
    ["a frame within headers", [frame(frameType.headers, 0, 1), frame(frameType.ping, 0, 0, Buffer.alloc(8))], 1],
    ["CONTINUATION without HEADERS", [frame(frameType.continuation, END_HEADERS, 1)], 1],
    ["headers that cannot be decoded", [frame(frameType.headers, END_HEADERS, 1, Buffer.alloc(3, 0xff))], 9],
    ["a reset of a stream that was never opened", [frame(frameType.reset, 0, 1, uint32(8))], 1],
    ["a flood of PING", many(MAX_UNREAD_REPLIES + 1, () => frame(frameType.ping, 0, 0, Buffer.alloc(8))), 11],
    ["a flood of SETTINGS", many(MAX_UNREAD_REPLIES + 1, () => settings()), 11],
    ["a flood of PRIORITY", many(1_001, () => frame(frameType.priority, 0, 1, Buffer.alloc(5))), 11],
    ["PRIORITY of four bytes on a stream that was never opened", [frame(frameType.priority, 0, 1, Buffer.alloc(4))], 6],
    ["PRIORITY of a stream that was never opened, on itself", [frame(frameType.priority, 0, 1, selfPriority)], 1],
    ["a flood of unknown frames", many(1_001, () => frame(0xfe, 0, 0)), 11],
    ["a flood of empty DATA", [request(1), ...many(1_001, () => data(1, ""))], 11],
    [
      "a flood of resets (rapid reset)",
      many(1_001, (at) => Buffer.concat([request(2 * at + 1), frame(frameType.reset, 0, 2 * at + 1, uint32(8))])),
      11,
    ],
    [
      "a flood of errors that make the server reset (MadeYouReset)",
      many(1_001, (at) =>
        Buffer.concat([request(2 * at + 1), frame(frameType.windowUpdate, 0, 2 * at + 1, uint32(0))]),
      ),
      11,
    ],
    ["a flood of requests that are refused", many(1_300, (at) => request(2 * at + 1)), 11],
    ["endless headers", [frame(frameType.headers, 0, 1), ...many(16, () => frame(frameType.continuation, 0, 1))], 11],
    [
      "large headers",
      [frame(frameType.headers, 0, 1), ...many(9, () => frame(frameType.continuation, 0, 1, Buffer.alloc(16_384)))],
      11,
    ],
  ])("%s", (_, frames, code) => {
    const run = greeted();
    run.receive(...frames);
    expect(
      run
        .sent()
        .filter(({ type }) => type === frameType.goAway)
        .map(({ payload }) => payload.readUInt32BE(4)),
    ).toEqual([code]);
    expect(run.events.filter((event) => event.startsWith("broken"))).toHaveLength(1);
    expect(run.machine.isDone).toBe(true);
    run.receive(request(9_999));
    expect(run.told()).toEqual([]);
  });

  test("an invalid preface", () => {
    const run = new MachineRun();
    run.told();
    run.receive(Buffer.from("PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n"), settings());
    expect(run.told()).toEqual(["GOAWAY 0 last 0 code 1"]);
  });

  test("a first frame that is not SETTINGS", () => {
    const run = new MachineRun();
    run.told();
    run.receive(PREFACE, frame(frameType.ping, 0, 0, Buffer.alloc(8)));
    expect(run.told()).toEqual(["GOAWAY 0 last 0 code 1"]);
  });

  test.each([
    ["of a stream", 1, 0, 0],
    ["of the connection", 0, 1_000_000, 65_535],
  ])("a window %s that cuts DATA into single bytes for too long", (_, stream, streamWindow, first) => {
    const run = greeted({}, [4, streamWindow]);
    run.receive(request(1));
    run.stream(1).respond(answer);
    run.stream(1).write([Buffer.alloc(first + 5_000)]);
    run.told();
    let sent = 0;
    for (; !run.machine.isDone && sent < 2_000; sent++) {
      run.receive(frame(frameType.windowUpdate, 0, stream, uint32(1)));
      run.told();
    }
    expect(sent).toBe(1_001);
    expect(run.events.slice(1)).toEqual(["broken: a window that is too small for too long", "closed 1"]);
  });
});

test("a client that acknowledges each frame as it came may leave small remainders of its window", () => {
  const run = greeted();
  run.receive(request(1));
  run.stream(1).respond(answer);
  run.stream(1).write([Buffer.alloc(100_000_000)]);
  let left = 100_000_000 - 65_535;
  let frames = run.sent();
  // From now on each round has a frame of 100 bytes.
  run.receive(frame(frameType.windowUpdate, 0, 1, uint32(100)), frame(frameType.windowUpdate, 0, 0, uint32(100)));
  for (; left > 200_000 && !run.machine.isDone; ) {
    const read = frames.filter(({ type }) => type === frameType.data).map(({ payload }) => payload.byteLength);
    frames = [];
    for (const byteLength of read) {
      const growth = uint32(byteLength);
      run.receive(frame(frameType.windowUpdate, 0, 1, growth), frame(frameType.windowUpdate, 0, 0, growth));
      const more = run.sent();
      left -= more.reduce((sum, { payload }) => sum + payload.byteLength, 0);
      frames = [...frames, ...more];
    }
  }
  expect(run.events).toEqual(["request 1: POST /call"]);
});

test.each([
  ["a name with upper-case letters", { "X-Upper": "1" }],
  ["a connection header", { connection: "close" }],
  ["te but trailers", { te: "gzip" }],
  ["a value with a line break", { x: "a\nb" }],
  ["a value that begins with a space", { x: " a" }],
  ["an unknown pseudo-header", { ":x": "1" }],
  ["a length that is none", { "content-length": "x" }],
])("a request with %s is reset, and the next one served", (_, further) => {
  const run = greeted();
  run.receive(frame(frameType.headers, END_HEADERS, 1, callHeaders("/call", further)), request(3));
  expect(run.told()).toEqual(["RST_STREAM 1 1"]);
  expect(run.events).toEqual(["request 1: POST /call"]);
});

test.each([
  ["no method", { ":scheme": "http", ":path": "/" }],
  ["no scheme", { ":method": "GET", ":path": "/" }],
  ["no path", { ":method": "GET", ":scheme": "http" }],
  ["an empty path", { ":method": "GET", ":scheme": "http", ":path": "" }],
  ["a pseudo-header after others", { ":method": "GET", ":scheme": "http", a: "b", ":path": "/" }],
])("a request with %s is reset", (_, fields) => {
  const run = greeted();
  run.receive(frame(frameType.headers, END_HEADERS, 1, headerBlock(fields)));
  expect([run.told(), run.events]).toEqual([["RST_STREAM 1 1"], []]);
});

test.each([
  ["more than announced", [data(1, "123456")]],
  ["less than announced", [data(1, "1234", END_STREAM)]],
  [
    "less than announced, and trailers",
    [frame(frameType.headers, END_HEADERS | END_STREAM, 1, headerBlock({ a: "b" }))],
  ],
])("a body of %s is reset", (_, frames) => {
  const run = greeted();
  const announced = callHeaders("/call", { "content-length": "5" });
  run.receive(frame(frameType.headers, END_HEADERS, 1, announced), ...frames);
  expect([run.told(), run.events]).toEqual([["RST_STREAM 1 1"], ["request 1: POST /call", "closed 1"]]);
});

test("a list of headers that is too large is reset, and the table stays right", () => {
  const run = greeted();
  const field = Buffer.concat([Buffer.from([0x40, 1]), Buffer.from("a"), Buffer.from([100]), Buffer.alloc(100, "b")]);
  const bomb = Buffer.concat([callHeaders("/call"), field, Buffer.alloc(1_000, 0xbe)]);
  run.receive(
    frame(frameType.headers, END_HEADERS, 1, bomb),
    frame(frameType.headers, END_HEADERS, 3, Buffer.concat([callHeaders("/next"), Buffer.from([0xbe])])),
  );
  expect([run.told(), run.events]).toEqual([["RST_STREAM 1 11"], ["request 1: POST /next"]]);
});

test("a response waits for the socket whole, so a client that does not read opens no more than its streams", () => {
  const run = greeted({ maxStreams: 2 });
  run.receive(request(1, END_HEADERS | END_STREAM), request(3, END_HEADERS | END_STREAM));
  run.stream(1).respond(answer, true);
  run.stream(3).respond(answer);
  run.stream(3).end({ "grpc-status": "0" });
  run.receive(request(5, END_HEADERS | END_STREAM));
  expect(run.told(0)).toEqual(["RST_STREAM 5 7"]);
  expect(run.told()).toEqual(["HEADERS 1 21 bytes END_STREAM", "HEADERS 3 21 bytes", "HEADERS 3 16 bytes END_STREAM"]);
  expect(run.events).toEqual(["request 1: POST /call", "request 3: POST /call", "closed 1", "closed 3"]);
});

test("answers to PING count as unread until their own output is written, whatever comes after it", () => {
  const run = greeted();
  const ping = frame(frameType.ping, 0, 0, Buffer.alloc(8));
  for (let round = 0; round < 3; round++) {
    run.receive(...many(MAX_UNREAD_REPLIES / 2, () => ping));
    const written = run.machine.takeOutput(0);
    run.receive(ping); // the socket always has something to write
    run.machine.onWritten(written);
  }
  expect(run.events).toEqual([]);
});

test("room for streams grows with those that are handled; when they have closed, it shrinks once the client knows it", () => {
  const run = greeted({ maxStreams: 5_000 });
  const acknowledge = frame(frameType.settings, ACK, 0);
  const announced = (): readonly number[] =>
    run.sent().flatMap(({ type, payload }) => (type === frameType.settings ? [payload.readUInt32BE(2)] : []));
  run.receive(acknowledge);
  const limits: number[] = [];
  for (let at = 0; at < 1_000; at++) {
    run.receive(request(2 * at + 1));
    run.stream(2 * at + 1).respond(answer);
    for (const limit of announced()) {
      limits.push(limit);
      run.receive(acknowledge);
    }
  }
  expect(limits).toEqual([751, 1_002, 1_253]);
  for (let at = 0; at < 1_000; at++) run.stream(2 * at + 1).reset(8);
  expect(announced()).toEqual([752]);
  run.receive(...many(800, (at) => request(2 * (1_000 + at) + 1)));
  expect(run.told()).toEqual([]);
  run.receive(acknowledge, request(2 * 1_800 + 1));
  expect(run.told()).toContain("RST_STREAM 3601 7");
});
