import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { decodeSotwResponse } from "@xdskit/envoy-api/internal";
import { formatTypeUrl, type TypeUrl } from "@xdskit/protocol";
import { locatedTerm, statusCode } from "@xdskit/protocol/internal";
import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import type { RestSource, ServerConfig } from "../src/config/client-config.ts";
import { pollDelayMs } from "../src/transport/rest/rest-stream.ts";
import { createRestTransport } from "../src/transport/rest/rest-transport.ts";
import type { ClientStream, Transport } from "../src/transport/transport.ts";
import { type FakeListener, fakeListener, namesIn } from "./support/fake-listener.ts";
import { type Received, type ScriptedHttp, scriptedHttp } from "./support/scripted-http.ts";
import { CLUSTER, ENDPOINTS, nodeBytes, request, restSource, server, testApi } from "./support/sources.ts";
import { until } from "./support/until.ts";

let http: ScriptedHttp;
let transport: Transport<RestSource>;
afterEach(async () => {
  await transport.close();
  await http.close();
});

interface Opened {
  readonly stream: ClientStream;
  readonly listener: FakeListener;
}

function open(
  changes: Partial<RestSource> = {},
  onlyType: TypeUrl | undefined = CLUSTER,
  serverChanges: Partial<ServerConfig> = {},
  random: () => number = () => 0,
): Opened {
  transport = createRestTransport({ api: testApi(), node: () => nodeBytes, random });
  const listener = fakeListener();
  const one = server(http.port, serverChanges);
  const stream = transport.open({ source: restSource([one], changes), server: one, onlyType }, listener);
  return { stream, listener };
}

/** Sends the same request whenever one is due. */
function pollOn({ stream, listener }: Opened, type: TypeUrl = CLUSTER): void {
  const { due } = listener;
  listener.due = () => {
    due();
    stream.send(request(type), false);
  };
}

const answerOf = (...names: readonly string[]): unknown => ({
  version_info: "1",
  resources: names.map((name) => ({ "@type": CLUSTER, name, connect_timeout: "1.5s", lb_policy: null })),
  type_url: CLUSTER,
});

test("B-RST-21 B-RST-01 B-RST-02 C-RST-08 a poll is a POST of a whole DiscoveryRequest in canonical JSON", async () => {
  http = await scriptedHttp((received) => received.answer(200, answerOf("a")));
  const { stream, listener } = open({}, ENDPOINTS, { headers: [["Authorization", "Bearer 1"]] });
  await listener.next("opened");
  const error = { code: statusCode.INVALID_ARGUMENT, message: "no" };
  stream.send(request(ENDPOINTS, { names: ["b", "a"], versionInfo: "7", nonce: "n", error }), false);
  await listener.next("response");
  const [{ method, path, headers, text }] = http.received as [Received];
  expect({ method, path, type: headers["content-type"], authorization: headers.authorization }).toEqual({
    method: "POST",
    path: "/v3/discovery:endpoints",
    type: "application/json",
    authorization: "Bearer 1",
  });
  expect(headers["content-length"]).toBe(String(Buffer.byteLength(text)));
  expect(JSON.parse(text)).toEqual({
    versionInfo: "7",
    node: { id: "edge-7", cluster: "edge" },
    resourceNames: ["b", "a"],
    typeUrl: ENDPOINTS,
    responseNonce: "n",
    errorDetail: { code: 3, message: "no" },
  });
});

test("C-LOC-01 names with parameters are written as locators", async () => {
  http = await scriptedHttp((received) => received.answer(304));
  const { stream, listener } = open();
  stream.send(request(CLUSTER, { names: ["a", locatedTerm("b", new Map([["env", "prod"]]))] }), false);
  await listener.next("unchanged");
  expect(JSON.parse(http.received[0]?.text ?? "")).toMatchObject({
    resourceNames: ["a"],
    resourceLocators: [{ name: "b", dynamicParameters: { env: "prod" } }],
  });
});

test("B-RST-02 an answer may have the names of JSON or of the proto file, and null", async () => {
  const camel = {
    versionInfo: "1",
    resources: [{ "@type": CLUSTER, name: "a", connectTimeout: "1.5s" }],
    typeUrl: CLUSTER,
    nonce: null,
  };
  const answers = [camel, answerOf("a")];
  http = await scriptedHttp((received) => received.answer(200, answers.shift()));
  const opened = open();
  pollOn(opened);
  opened.stream.send(request(CLUSTER), false);
  const first = await opened.listener.next("response");
  const second = await opened.listener.next("response");
  expect(second.bytes).toEqual(first.bytes);
  expect(decodeSotwResponse(first.bytes)).toMatchObject({ versionInfo: "1", typeUrl: CLUSTER, nonce: "" });
});

test("B-MSC-09 fields that nobody here knows are passed over", async () => {
  const resource = { "@type": CLUSTER, name: "a" };
  const newer = { ...resource, "x-newer": [{ a: 1 }], upstreamConfig: { name: "u", newest: 1 } };
  const answers = [
    { resources: [newer], moreThanThat: 7 },
    { resources: [{ ...resource, upstreamConfig: { name: "u" } }] },
  ];
  http = await scriptedHttp((received) => received.answer(200, answers.shift()));
  const opened = open();
  pollOn(opened);
  opened.stream.send(request(CLUSTER), false);
  const first = await opened.listener.next("response");
  expect(first.bytes).toEqual((await opened.listener.next("response")).bytes);
});

describe("B-TYP-08 C-TYP-11 the source says which path, the type which resources", () => {
  const V2_CLUSTER = formatTypeUrl("envoy.api.v2.Cluster");
  test.each([
    ["v2", V2_CLUSTER, "/v2/discovery:clusters"],
    ["v2", CLUSTER, "/v2/discovery:clusters"],
    ["v3", V2_CLUSTER, "/v3/discovery:clusters"],
    ["v3", CLUSTER, "/v3/discovery:clusters"],
  ] as const)("%s, %s", async (apiVersion, type, path) => {
    http = await scriptedHttp((received) => received.answer(304));
    const { stream, listener } = open({ apiVersion }, type);
    stream.send(request(type), false);
    await listener.next("unchanged");
    expect(http.received.map((one) => [one.path, JSON.parse(one.text).typeUrl])).toEqual([[path, type]]);
  });
});

test("C-RST-04 304 changes nothing, and the next poll follows", async () => {
  http = await scriptedHttp((received) => received.answer(304));
  const opened = open();
  pollOn(opened);
  opened.stream.send(request(CLUSTER), false);
  await opened.listener.next("unchanged");
  await opened.listener.next("unchanged");
  expect(opened.listener.kinds.slice(0, 4)).toEqual(["opened", "unchanged", "due", "unchanged"]);
});

describe("B-RST-05 B-ADS-07 B-DLT-01 what has no form in JSON is refused", () => {
  test.each([
    ["ADS", undefined, "there is no ADS over REST; poll the path of each type, or use gRPC"],
    [
      "VHDS",
      formatTypeUrl("envoy.config.route.v3.VirtualHost"),
      "there is no path for type.googleapis.com/envoy.config.route.v3.VirtualHost in v3 over REST; use gRPC",
    ],
    [
      "LEDS",
      formatTypeUrl("envoy.config.endpoint.v3.LbEndpoint"),
      "there is no path for type.googleapis.com/envoy.config.endpoint.v3.LbEndpoint in v3 over REST; use gRPC",
    ],
  ])("%s", async (_, type, message) => {
    http = await scriptedHttp();
    transport = createRestTransport({ api: testApi(), node: () => nodeBytes });
    const listener = fakeListener();
    const one = server(http.port);
    transport.open({ source: restSource([one]), server: one, onlyType: type }, listener);
    expect((await listener.next("ended")).status).toEqual({ code: statusCode.UNIMPLEMENTED, message });
    expect(http.received).toEqual([]);
  });

  test("delta", async () => {
    http = await scriptedHttp();
    const { stream, listener } = open();
    const initialVersions = { size: 0, key: "", [Symbol.iterator]: () => [][Symbol.iterator]() };
    const { names: _, versionInfo: __, ...common } = request(CLUSTER);
    stream.send({ ...common, kind: "delta", subscribe: ["a"], unsubscribe: [], initialVersions }, false);
    expect((await listener.next("ended")).status.code).toBe(statusCode.UNIMPLEMENTED);
  });
});

test("C-RST-06 a server that is slow never has two requests of a subscription", async () => {
  http = await scriptedHttp();
  const { stream, listener } = open();
  stream.send(request(CLUSTER, { versionInfo: "1" }), false);
  const first = await http.next();
  stream.send(request(CLUSTER, { versionInfo: "2" }), false);
  stream.send(request(CLUSTER, { versionInfo: "3" }), false);
  first.answer(304);
  await listener.next("unchanged");
  const second = await http.next();
  expect(JSON.parse(second.text).versionInfo).toBe("3");
  expect({ most: http.mostOpen, count: http.received.length }).toEqual({ most: 1, count: 2 });
});

test("C-RST-08 the third poll still has the node", async () => {
  http = await scriptedHttp((received) => received.answer(304));
  const opened = open();
  pollOn(opened);
  opened.stream.send(request(CLUSTER), false);
  await until("three polls", () => http.received.length >= 3);
  expect(JSON.parse(http.received[2]?.text ?? "").node).toEqual({ id: "edge-7", cluster: "edge" });
});

describe("C-RST-15 between two polls lie the delay and up to as much again", () => {
  test("by chance", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1e6 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (d, c) => {
          const ms = pollDelayMs(d, c);
          return ms >= d && ms <= 2 * d;
        },
      ),
    );
    expect([pollDelayMs(100, 0), pollDelayMs(100, 0.5), pollDelayMs(1e12, 0)]).toEqual([100, 150, 2 ** 31 - 1]);
  });

  test("on the wire", async () => {
    http = await scriptedHttp((received) => received.answer(304));
    const chances = [0.5, 0, 0.25];
    const opened = open({ refreshDelayMs: 100 }, CLUSTER, {}, () => chances.shift() ?? 0);
    pollOn(opened);
    opened.stream.send(request(CLUSTER), false);
    await until("three polls", () => http.received.length >= 3);
    const [first, second, third] = http.received.map(({ atMs }) => atMs) as [number, number, number];
    expect(second - first).toBeGreaterThanOrEqual(149);
    expect(third - second).toBeGreaterThanOrEqual(99);
    expect(chances.length).toBeLessThanOrEqual(1);
  });
});

/** What becomes of a poll that is answered with these bytes, one after the other, on a connection that stays open. */
async function answeredWith(...parts: readonly string[]): Promise<unknown> {
  http = await scriptedHttp();
  const raw = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => {
      for (const part of parts) socket.write(part);
    });
  });
  raw.listen(0, "127.0.0.1");
  await once(raw, "listening");
  const { port } = raw.address() as AddressInfo;
  const { stream, listener } = open({ requestTimeoutMs: 300 }, CLUSTER, { target: `127.0.0.1:${port}` });
  stream.send(request(CLUSTER), false);
  const { status } = await listener.next("ended");
  raw.close();
  const place = `http://127.0.0.1:${port}/v3/discovery:clusters: `;
  expect(listener.kinds).toEqual(["opened", "ended"]);
  return [status.code, status.message.replace(place, "")];
}

describe("a server that answers what is no answer", () => {
  test("C-RST-17 another protocol", async () => {
    const switching = "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: other\r\n\r\n";
    expect(await answeredWith(switching)).toEqual([
      ...[statusCode.UNAVAILABLE, "the connection was closed without an answer"],
    ]);
  });

  test("C-RST-16 a body without a length that does not end, though it could be whole", async () => {
    expect(await answeredWith("HTTP/1.1 200 OK\r\n\r\n", '{"resources":[]}')).toEqual([
      ...[statusCode.DEADLINE_EXCEEDED, "no answer within 300 ms"],
    ]);
  });

  test("a reason that a terminal would act on, or very long", async () => {
    const reason = `\u0007bad\u001b[31m ${"x".repeat(1_000)}`;
    expect(await answeredWith(`HTTP/1.1 500 ${reason}\r\ncontent-length: 0\r\n\r\n`)).toEqual([
      ...[statusCode.UNKNOWN, `HTTP status 500 bad [31m ${"x".repeat(291)}`],
    ]);
  });
});

test("C-RST-16 a server that hangs is a failure when the time is over", async () => {
  http = await scriptedHttp();
  const { stream, listener } = open({ requestTimeoutMs: 100 });
  stream.send(request(CLUSTER), false);
  const received = await http.next();
  const { status } = await listener.next("ended");
  expect(status).toEqual({
    code: statusCode.DEADLINE_EXCEEDED,
    message: `http://127.0.0.1:${http.port}/v3/discovery:clusters: no answer within 100 ms`,
  });
  expect(received.headers["x-envoy-expected-rq-timeout-ms"]).toBe("100");
});

describe("C-RST-17 anything else than 200 and 304 is a failure", () => {
  test.each([
    [
      503,
      { code: 14, message: "no snapshot yet" },
      statusCode.UNAVAILABLE,
      "HTTP status 503 Service Unavailable: no snapshot yet",
    ],
    [404, "not here\n", statusCode.UNIMPLEMENTED, "HTTP status 404 Not Found: not here"],
    [401, "", statusCode.UNAUTHENTICATED, "HTTP status 401 Unauthorized"],
    [500, "<html>oh</html>", statusCode.UNKNOWN, "HTTP status 500 Internal Server Error"],
    [204, undefined, statusCode.UNKNOWN, "HTTP status 204 No Content"],
  ])("%i", async (httpStatus, body, code, text) => {
    http = await scriptedHttp((received) => received.answer(httpStatus, body));
    const { stream, listener } = open();
    stream.send(request(CLUSTER), false);
    const { status } = await listener.next("ended");
    const message = `http://127.0.0.1:${http.port}/v3/discovery:clusters: ${text}`;
    expect(status).toEqual({ code, message });
    stream.send(request(CLUSTER), true);
    expect(listener.kinds).toEqual(["opened", "ended"]);
  });

  test("nobody is there, then somebody", async () => {
    http = await scriptedHttp((received) => received.answer(200, answerOf("a")));
    transport = createRestTransport({ api: testApi(), node: () => nodeBytes });
    const gone = await scriptedHttp();
    await gone.close();
    const servers = [server(gone.port), server(http.port)] as const;
    const source = restSource(servers);
    const [first, second] = [fakeListener(), fakeListener()];
    transport.open({ source, server: servers[0], onlyType: CLUSTER }, first).send(request(CLUSTER), false);
    expect((await first.next("ended")).status.code).toBe(statusCode.UNAVAILABLE);
    transport.open({ source, server: servers[1], onlyType: CLUSTER }, second).send(request(CLUSTER), false);
    expect(namesIn((await second.next("response")).bytes)).toEqual(["a"]);
  });

  test("an answer that is cut off", async () => {
    http = await scriptedHttp(({ response }) => {
      response.writeHead(200, { "content-length": "100" });
      response.write('{"versionInfo":', () => response.destroy());
    });
    const { stream, listener } = open();
    stream.send(request(CLUSTER), false);
    expect((await listener.next("ended")).status.code).toBe(statusCode.UNAVAILABLE);
  });

  test("B-GRP-08 an answer that is too large", async () => {
    http = await scriptedHttp((received) => received.answer(200, answerOf("a".repeat(2_000))));
    const { stream, listener } = open({}, CLUSTER, { maxResponseBytes: 1_000 });
    stream.send(request(CLUSTER), false);
    const { status } = await listener.next("ended");
    expect(status.code).toBe(statusCode.RESOURCE_EXHAUSTED);
    expect(status.message).toContain("expected at most 1000 bytes");
  });

  test("a target that is none", async () => {
    http = await scriptedHttp();
    const { listener } = open({}, CLUSTER, { target: "xds://what" });
    expect((await listener.next("ended")).status.code).toBe(statusCode.INVALID_ARGUMENT);
  });
});

describe("C-RST-18 a body that cannot be read changes nothing, and the next poll follows", () => {
  test.each([
    ["a page", "<html>", /expected JSON/],
    ["nothing", "", /expected JSON, got nothing/],
    ["half of it", '{"versionInfo": "1', /the end is missing/],
    ["another message", { resources: "none" }, /resources: expected/],
    ["another object", { error: "try again" }, /^error: expected a field/],
    ["a wrong field", { resources: [{ "@type": CLUSTER, name: 1 }] }, /resources\[0\]\.name: expected/],
    ["no UTF-8", Buffer.from([0x22, 0xff, 0x22]), /UTF-8/],
  ])("%s", async (_, body, problem) => {
    http = await scriptedHttp((received) => received.answer(200, body));
    const { stream, listener } = open();
    stream.send(request(CLUSTER), false);
    expect((await listener.next("unreadable")).problem).toMatch(problem);
    await listener.next("due");
    stream.send(request(CLUSTER), false);
    await listener.next("unreadable");
  });

  test("what is told holds nothing of the body", async () => {
    http = await scriptedHttp((received) => received.answer(200, '{"secret": hunter2'));
    const { stream, listener } = open();
    stream.send(request(CLUSTER), false);
    expect((await listener.next("unreadable")).problem).not.toContain("hunter2");
  });

  test("any bytes", async () => {
    http = await scriptedHttp();
    const opened = open({ refreshDelayMs: 0 });
    pollOn(opened);
    opened.stream.send(request(CLUSTER), false);
    const json = fc.json().map((text) => Buffer.from(text));
    const bytes = fc.uint8Array().map((array) => Buffer.from(array));
    await fc.assert(
      fc.asyncProperty(fc.oneof(json, bytes), async (body) => {
        (await http.next()).answer(200, body);
      }),
      { numRuns: 200 },
    );
    await http.next();
    expect(opened.listener.kinds).not.toContain("ended");
  });
});

describe("C-RST-20 a change of interest does not wait", () => {
  test("in place of a poll that is held", async () => {
    http = await scriptedHttp();
    const { stream, listener } = open({ refreshDelayMs: 60_000 });
    stream.send(request(CLUSTER, { names: ["a"] }), false);
    const held = await http.next();
    stream.send(request(CLUSTER, { names: ["a", "b"] }), true);
    const second = await http.next();
    expect(JSON.parse(second.text).resourceNames).toEqual(["a", "b"]);
    await until("the first was given up", () => held.isAborted);
    second.answer(200, answerOf("a", "b"));
    expect(namesIn((await listener.next("response")).bytes)).toEqual(["a", "b"]);
    expect(listener.kinds).toEqual(["opened", "response"]);
  });

  test("in the delay", async () => {
    http = await scriptedHttp((received) => received.answer(304));
    const { stream, listener } = open({ refreshDelayMs: 60_000 });
    stream.send(request(CLUSTER), false);
    await listener.next("unchanged");
    stream.send(request(CLUSTER, { names: ["a"] }), true);
    await listener.next("unchanged");
    expect(http.received).toHaveLength(2);
  });

  test("C-CLI-07 but until an answer is judged", async () => {
    http = await scriptedHttp((received) => received.answer(200, answerOf("a")));
    const { stream, listener } = open({ refreshDelayMs: 60_000 });
    let finish: (() => void) | undefined;
    listener.judge = () =>
      new Promise((resolve) => {
        finish = resolve;
      });
    stream.send(request(CLUSTER), false);
    await listener.next("response");
    stream.send(request(CLUSTER, { names: ["b"] }), true);
    // Whatever was sent before this has arrived with it.
    await fetch(`http://127.0.0.1:${http.port}/other`).then((response) => response.text());
    expect(http.received.map(({ path }) => path)).toEqual(["/v3/discovery:clusters", "/other"]);
    finish?.();
    await listener.next("response");
    expect(http.received.length).toBe(3);
  });
});

test("what is closed says nothing any more, and leaves no connection", async () => {
  http = await scriptedHttp();
  const { stream, listener } = open();
  stream.send(request(CLUSTER), false);
  const received = await http.next();
  stream.close();
  await until("the connection is closed", () => received.response.socket?.destroyed !== false);
  expect(listener.kinds).toEqual(["opened"]);
});

test("connections are kept, and one that was closed meanwhile is made anew", async () => {
  http = await scriptedHttp();
  const connections: number[] = [];
  const raw = createServer((socket) => {
    const connection = connections.push(0) - 1;
    socket.on("error", () => undefined);
    socket.on("data", () => {
      const count = (connections[connection] ?? 0) + 1;
      connections[connection] = count;
      // The third request on the first connection finds it closed.
      if (connection === 0 && count === 3) socket.destroy();
      else socket.write("HTTP/1.1 304 Not Modified\r\nconnection: keep-alive\r\n\r\n");
    });
  });
  raw.listen(0, "127.0.0.1");
  await once(raw, "listening");
  const opened = open({}, CLUSTER, { target: `127.0.0.1:${(raw.address() as AddressInfo).port}` });
  pollOn(opened);
  opened.stream.send(request(CLUSTER), false);
  await until("four polls", () => opened.listener.kinds.filter((kind) => kind === "unchanged").length >= 4);
  opened.stream.close();
  raw.close();
  expect(connections[0]).toBe(3);
  expect(connections.length).toBe(2);
});
