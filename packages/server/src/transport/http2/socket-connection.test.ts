import { once } from "node:events";
import { type ClientHttp2Session, connect } from "node:http2";
import { type AddressInfo, connect as connectTcp, createServer, type Server, type Socket } from "node:net";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import {
  callHeaders,
  END_HEADERS,
  END_STREAM,
  frame,
  frameType,
  PREFACE,
  uint32,
} from "../../../test/support/http2-frames.ts";
import { describeFrame, readFrames } from "../../../test/support/machine-run.ts";
import type { Http2Failure, Http2Stream, RequestHeaders } from "./http2.ts";
import { ReadPacer } from "./read-pacer.ts";
import { MAX_UNWRITTEN_BYTES, SocketConnection } from "./socket-connection.ts";

let server: Server;
let client: ClientHttp2Session;
let connection: SocketConnection;
let accepted: Socket;
let requests: { readonly stream: Http2Stream; readonly headers: RequestHeaders }[] = [];
let failures: Http2Failure[] = [];
/** What was read is not processed yet. */
let isBusy = false;

beforeEach(async () => {
  requests = [];
  failures = [];
  isBusy = false;
  const readPacer = new ReadPacer({ isBusy: () => isBusy, isChangeDue: () => false });
  server = createServer((socket) => {
    accepted = socket;
    connection = new SocketConnection(
      socket,
      { maxStreams: 100, maxBlockedMs: 200, readPacer },
      {
        onStream: (stream, headers) => requests.push({ stream, headers }),
        onFailure: (failure) => failures.push(failure),
      },
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  client.on("error", () => undefined);
  await once(client, "remoteSettings");
});
afterEach(() => {
  client.destroy();
  server.close();
});

/** Sends a request, and returns the server's end of it with the client's. */
async function ask(headers: Readonly<Record<string, string>> = {}): Promise<{
  readonly stream: Http2Stream;
  readonly headers: RequestHeaders;
  readonly answer: ReturnType<ClientHttp2Session["request"]>;
}> {
  const before = requests.length;
  const answer = client.request({ ":method": "POST", ":path": "/asked", ...headers });
  answer.on("error", () => undefined);
  answer.end();
  await vi.waitFor(() => expect(requests.length).toBe(before + 1), { interval: 1 });
  const request = requests[before];
  if (request === undefined) throw new Error("no request came");
  return { ...request, answer };
}

test("headers are what nghttp2 encoded, whatever their characters", async () => {
  const printable = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index)).join("");
  const high = Array.from({ length: 128 }, (_, index) => String.fromCharCode(128 + index)).join("");
  const values = [...printable.trim(), printable.trim(), `${high}${high}`, "a".repeat(3_000)];
  for (const [index, value] of values.entries()) {
    const { headers, stream } = await ask({ [`x-${index % 7}`]: value });
    expect(headers[`x-${index % 7}`]).toBe(value);
    stream.reset(8);
  }
});

test("what is written in one turn leaves in one write", async () => {
  const { stream, answer } = await ask();
  const { stream: other } = await ask();
  const write = vi.spyOn(accepted, "write");
  for (const one of [stream, other]) {
    one.respond({ ":status": 200 });
    one.write([Buffer.from("a"), Buffer.from("b")]);
    one.write([Buffer.from("c")]);
    one.end({ end: "1" });
  }
  const body: Buffer[] = [];
  for await (const chunk of answer) body.push(chunk as Buffer);
  expect(Buffer.concat(body).toString()).toBe("abc");
  expect(write).toHaveBeenCalledTimes(1);
});

test("a large body arrives whole, in parts that the socket takes, and its bytes are not copied", async () => {
  const { stream, answer } = await ask();
  const body = Buffer.alloc(5_000_000, "0123456789");
  const write = vi.spyOn(accepted, "write");
  const before = accepted.bytesWritten;
  stream.respond({ ":status": 200 });
  stream.write([body], () => undefined);
  stream.end();
  await new Promise((resolve) => process.nextTick(resolve));
  expect(accepted.bytesWritten - before).toBeLessThanOrEqual(MAX_UNWRITTEN_BYTES + 1_000);
  const received: Buffer[] = [];
  for await (const chunk of answer) received.push(chunk as Buffer);
  expect(Buffer.concat(received).equals(body)).toBe(true);
  const shared = write.mock.calls.filter(([chunk]) => chunk instanceof Uint8Array && chunk.buffer === body.buffer);
  expect(shared.length).toBeGreaterThan(5_000_000 / 16_384);
});

test("written is called when the socket has taken it", async () => {
  const { stream } = await ask();
  stream.respond({ ":status": 200 });
  await new Promise<void>((resolve) => stream.write([Buffer.from("x")], resolve));
  expect(accepted.bytesWritten).toBeGreaterThan(0);
});

test("a connection that was left closes after its last stream", async () => {
  const { stream, answer } = await ask();
  connection.leave();
  expect([connection.isLeaving, connection.isDestroyed]).toEqual([true, false]);
  stream.respond({ ":status": 204 }, true);
  await once(answer.resume(), "close");
  await once(accepted, "close");
  expect([failures, connection.isDestroyed]).toEqual([[], true]);
});

test("a client that reads nothing is given up when all else has ended", async () => {
  const { stream } = await ask();
  accepted.cork(); // as if the kernel took nothing
  connection.leave();
  stream.respond({ ":status": 204 }, true);
  vi.spyOn(accepted, "end").mockReturnValue(accepted);
  await once(accepted, "close");
  expect(failures).toEqual([{ kind: "blocked", reason: "nothing could be written for 200 ms (maxBlockedMs)" }]);
});

test("the streams of a connection that breaks are told to be closed", async () => {
  const { stream } = await ask();
  const closed = new Promise<void>((resolve) => stream.onClose(resolve));
  client.destroy();
  await closed;
  expect([stream.isClosed, connection.isDestroyed]).toEqual([true, true]);
});

test("a connection that breaks while it writes says why", async () => {
  const socket = connectTcp((server.address() as AddressInfo).port, "127.0.0.1");
  const noWindow = Buffer.concat([Buffer.from([0, 4]), uint32(0)]);
  socket.write(Buffer.concat([PREFACE, frame(frameType.settings, 0, 0, noWindow)]));
  socket.write(frame(frameType.headers, END_HEADERS | END_STREAM, 1, callHeaders("/call")));
  await vi.waitFor(() => expect(requests).toHaveLength(1), { interval: 1 });
  requests[0]?.stream.respond({ ":status": 200 });
  requests[0]?.stream.write([Buffer.alloc(5_000)]);
  let last: readonly string[] = [];
  for await (const bytes of socket) {
    last = readFrames(bytes as Buffer).map(describeFrame);
    socket.write(frame(frameType.windowUpdate, 0, 1, uint32(1)));
  }
  expect(last).toEqual(["GOAWAY 0 last 1 code 11"]);
});

test("a client that reads nothing while ever more answers wait for it is given up", async () => {
  accepted.cork(); // as if the kernel took nothing
  for (let sent = 0; sent < 10; sent++) connection.ping(() => undefined);
  await new Promise(setImmediate);
  expect(failures).toEqual([]);
  for (let sent = 0; sent < 50_000; sent++) connection.ping(() => undefined);
  await once(accepted, "close");
  expect(failures).toEqual([{ kind: "broken", reason: "more than 786432 bytes wait to be read" }]);
});

test("a client that brings much is not read while the server is busy, and all of it afterwards", async () => {
  const sent = Buffer.alloc(512 * 1024, "x");
  const answer = client.request({ ":method": "POST", ":path": "/asked" });
  answer.on("error", () => undefined);
  await vi.waitFor(() => expect(requests.length).toBe(1), { interval: 1 });
  let received = 0;
  requests[0]?.stream.read({ onData: (chunk) => (received += chunk.byteLength), onEnd: () => undefined });
  isBusy = true;
  answer.write(sent);
  await vi.waitFor(() => expect(connection.isPaused).toBe(true), { interval: 1 });
  expect(received).toBeLessThan(sent.byteLength);
  isBusy = false;
  await vi.waitFor(() => expect(received).toBe(sent.byteLength), { interval: 1 });
});
