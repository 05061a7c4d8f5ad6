import { createServer as createHttp2Server, type ServerHttp2Stream } from "node:http2";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { Server, ServerCredentials, type ServerDuplexStream } from "@grpc/grpc-js";
import { discoveryMethods, encodeSotwResponse } from "@xdskit/envoy-api/internal";
import { statusCode } from "@xdskit/protocol/internal";
import { describe, expect, test } from "vitest";
import { systemTls } from "../src/config/config-defaults.ts";
import { Cluster, createXdsClient, type XdsClient } from "../src/index.ts";
import { Connections } from "../src/transport/grpc/connection.ts";
import { createGrpcTransport } from "../src/transport/grpc/grpc-transport.ts";
import type { Transport } from "../src/transport/transport.ts";
import { atEnd, folder } from "./support/ends.ts";
import { fakeListener } from "./support/fake-listener.ts";
import { read, serve, serveWith, start } from "./support/own-server.ts";
import { startScriptedGrpc } from "./support/scripted-grpc.ts";
import { CLUSTER, grpcSource, nodeBytes, request, server, testApi } from "./support/sources.ts";
import { until } from "./support/until.ts";

function transport(encodeNode = (): Uint8Array => nodeBytes): Transport<ReturnType<typeof grpcSource>> {
  const made = createGrpcTransport({ api: testApi(), encodeNode, connections: new Connections() });
  atEnd(() => made.close());
  return made;
}

/** A server that sends so many responses and reads nothing, until it is told to. */
async function floodFrom(
  responses: number,
  nonce: string,
): Promise<{ readonly port: number; read(): void; readonly hasRead: () => number }> {
  const peer = new Server();
  let hasRead = 0;
  let readAll = (): void => {};
  const flood = (call: ServerDuplexStream<Buffer, Uint8Array>): void => {
    call.on("error", () => {});
    readAll = () => void call.on("data", () => hasRead++);
    for (let i = 0; i < responses; i++) call.write(encodeSotwResponse({ typeUrl: CLUSTER, nonce }));
  };
  for (const { path } of discoveryMethods) {
    const same = (bytes: Uint8Array): Buffer => Buffer.from(bytes);
    peer.register(path, flood, same, same, "bidi");
  }
  const port = await new Promise<number>((resolve, reject) => {
    const bound = (error: Error | null, given: number): void => (error ? reject(error) : resolve(given));
    peer.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), bound);
  });
  atEnd(() => peer.forceShutdown());
  return { port, read: () => readAll(), hasRead: () => hasRead };
}

test("C-CLI-07 a server that floods and does not read is not read any more, until it does", async () => {
  const nonce = "n".repeat(10_000);
  const flood = await floodFrom(1_000, nonce);
  const one = server(flood.port);
  const listener = fakeListener();
  let answered = 0;
  listener.judge = () => {
    answered++;
    stream.send(request(CLUSTER, { nonce }), false);
    return Promise.resolve();
  };
  const stream = transport().open({ source: grpcSource([one]), server: one, onlyType: undefined }, listener);
  await listener.next("opened");
  stream.send(request(CLUSTER), false);
  let before = -1;
  while (answered === 0 || answered > before) {
    before = answered;
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
  expect(answered).toBeLessThan(300);
  flood.read();
  await until("all is answered", () => flood.hasRead() === 1_001);
  expect(answered).toBe(1_000);
});

test("a mistake of ours while a response is read ends its stream, and is not swallowed", async () => {
  const peer = await startScriptedGrpc();
  atEnd(() => peer.close());
  const one = server(peer.port);
  const listener = fakeListener();
  listener.judge = () => Promise.reject(new Error("a mistake"));
  transport().open({ source: grpcSource([one]), server: one, onlyType: undefined }, listener);
  (await peer.call(0)).send(encodeSotwResponse({ typeUrl: CLUSTER }));
  expect((await listener.next("ended")).status).toEqual({ code: statusCode.INTERNAL, message: "Error: a mistake" });
});

test("a request that cannot be encoded ends its stream, and nothing else", async () => {
  const peer = await startScriptedGrpc();
  atEnd(() => peer.close());
  const one = server(peer.port);
  const listener = fakeListener();
  const broken = transport(() => {
    throw new Error("not a node");
  });
  const stream = broken.open({ source: grpcSource([one]), server: one, onlyType: undefined }, listener);
  await listener.next("opened");
  stream.send({ ...request(CLUSTER), node: testNode }, false);
  expect((await listener.next("ended")).status).toEqual({
    code: statusCode.INVALID_ARGUMENT,
    message: "the request cannot be encoded: not a node",
  });
  const call = await peer.call(0);
  await until("the server sees it end", () => call.isOver);
});

const testNode = { id: "n" } as NonNullable<ReturnType<typeof request>["node"]>;

test("C-MSC-07 a node that cannot be written is refused, and the one before stays", async () => {
  const { port } = await serve(read({ "@type": CLUSTER, name: "a", type: "STATIC", connectTimeout: "1s" }));
  const client = await start({ server: `127.0.0.1:${port}` });
  const circle: Record<string, unknown> = {};
  circle["circle"] = circle;
  expect(() => client.changeNode({ metadata: circle })).toThrow(
    "changeNode: node.metadata.circle: expected a JSON value, got a circular reference",
  );
  expect((await client.get(Cluster, "a")).name).toBe("a");
});

test.each([Number.POSITIVE_INFINITY, 2 ** 31])("a time of %d ms is as long as a timer can wait", async (timeoutMs) => {
  const { port } = await serve();
  const client = await start({ server: `127.0.0.1:${port}`, limits: { initialFetchTimeoutMs: 0 } });
  const closing = new Promise((resolve) => setTimeout(resolve, 100)).then(() => client.close());
  await expect(client.get(Cluster, "later", { timeoutMs })).rejects.toMatchObject({ code: "CLOSED" });
  await closing;
});

test("a connection may take longer to come up than a timer can wait", async () => {
  const peer = await startScriptedGrpc();
  atEnd(() => peer.close());
  const one = server(peer.port, { connectTimeoutMs: 2 ** 31, keepalive: { intervalMs: 2 ** 40, timeoutMs: 2 ** 40 } });
  const listener = fakeListener();
  transport().open({ source: grpcSource([one]), server: one, onlyType: undefined }, listener);
  await listener.next("opened");
  await peer.call(0);
  expect(listener.kinds).toEqual(["opened"]);
});

describe("a server that takes connections and says nothing", () => {
  test.each([
    ["in the clear", undefined],
    ["over TLS", systemTls],
  ])("is left by those who gave up, %s", async (_, tls) => {
    const sockets = new Set<Socket>();
    let taken = 0;
    const silent = createServer((socket) => {
      taken++;
      sockets.add(socket);
      socket.on("error", () => {}).on("close", () => sockets.delete(socket));
      socket.resume();
    });
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    atEnd(() => void silent.close());
    const { port } = silent.address() as AddressInfo;
    const one = server(port, { connectTimeoutMs: 100, tls });
    const grpc = transport();
    for (let i = 1; i <= 3; i++) {
      const listener = fakeListener();
      grpc.open({ source: grpcSource([one]), server: one, onlyType: undefined }, listener);
      expect((await listener.next("ended")).status.code).toBe(statusCode.UNAVAILABLE);
      await until("it was left", () => taken >= i && sockets.size === 0);
    }
    const before = taken;
    const closed = grpc.open({ source: grpcSource([one]), server: one, onlyType: undefined }, fakeListener());
    await until("it is tried", () => taken > before);
    closed.close();
    await until("it was left", () => sockets.size === 0);
  });
});

describe("where a server is", () => {
  const found = async (target: string, rest: boolean): Promise<string> => {
    const client = await start({ server: target, transport: { rest }, limits: { connectTimeoutMs: 20_000 } });
    return (await client.get(Cluster, "a")).name;
  };
  const a = read({ "@type": CLUSTER, name: "a", type: "STATIC", connectTimeout: "1s" });

  test.each([false, true])("an address of IPv6, REST: %s", async (rest) => {
    const { port } = await serveWith({ listen: { host: "::1", port: 0 } }, a);
    expect(await found(`[::1]:${port}`, rest)).toBe("a");
    expect(await found(`ipv6:[::1]:${port}`, rest)).toBe("a");
  });

  test.each([false, true])("a socket of the file system, REST: %s", async (rest) => {
    const { port } = await serve(a);
    const path = join(folder(), "xds.sock");
    const bridge = createServer((socket) => {
      const onward = connect(port, "127.0.0.1");
      socket.pipe(onward).pipe(socket);
      for (const end of [socket, onward]) end.on("error", () => {});
    });
    await new Promise<void>((resolve) => bridge.listen(path, resolve));
    atEnd(() => void bridge.close());
    expect(await found(`unix:${path}`, rest)).toBe("a");
    expect(await found(`unix://${path}`, rest)).toBe("a");
  });
});

describe("a signal", () => {
  test("that is aborted while a client is made: there is none", async () => {
    const ending = new AbortController();
    const making = createXdsClient({
      api: testApi(),
      server: "127.0.0.1:1",
      cache: { path: join(folder(), "cache") },
      signal: ending.signal,
    });
    ending.abort(new Error("enough"));
    await expect(making).rejects.toThrow("enough");
  });

  test("that outlives its clients does not hold them", async () => {
    const { signal, counts } = countedSignal();
    const clients: XdsClient[] = [];
    for (let i = 0; i < 5; i++) clients.push(await start({ server: "127.0.0.1:1", signal }));
    expect(counts()).toBe(5);
    await Promise.all(clients.map((client) => client.close()));
    expect(counts()).toBe(0);
  });
});

/** Who listens to a signal. */
function countedSignal(): { readonly signal: AbortSignal; readonly counts: () => number } {
  const { signal } = new AbortController();
  const listeners = new Set<unknown>();
  const { addEventListener, removeEventListener } = signal;
  signal.addEventListener = (...args: Parameters<typeof addEventListener>): void => {
    listeners.add(args[1]);
    addEventListener.apply(signal, args);
  };
  signal.removeEventListener = (...args: Parameters<typeof removeEventListener>): void => {
    listeners.delete(args[1]);
    removeEventListener.apply(signal, args);
  };
  return { signal, counts: () => listeners.size };
}

/** A server that does with each call what no gRPC library would. */
async function rawGrpc(answer: (stream: ServerHttp2Stream) => void): Promise<number> {
  const peer = createHttp2Server();
  peer.on("session", (session) => atEnd(() => session.destroy()));
  peer.on("stream", (stream) => {
    stream.on("error", () => {});
    stream.resume();
    answer(stream);
  });
  await new Promise<void>((resolve) => peer.listen(0, "127.0.0.1", resolve));
  atEnd(() => void peer.close());
  return (peer.address() as AddressInfo).port;
}

const grpcHeaders = { ":status": 200, "content-type": "application/grpc" };

test.each([
  [
    "ends at once, without an error",
    (stream: ServerHttp2Stream) => stream.respond({ ...grpcHeaders, "grpc-status": "0" }, { endStream: true }),
    { code: statusCode.OK, message: "xds: the server ended the stream" },
  ],
  [
    "ends at once, without a status",
    (stream: ServerHttp2Stream) => {
      stream.respond(grpcHeaders);
      stream.end();
    },
    { code: statusCode.OK, message: "the server ended the stream without a status" },
  ],
  [
    "is not gRPC, and ends without a status",
    (stream: ServerHttp2Stream) => {
      stream.respond({ ":status": 404 });
      stream.end("not here");
    },
    { code: statusCode.UNIMPLEMENTED, message: "Received HTTP status code 404" },
  ],
  [
    "breaks off with its connection",
    (stream: ServerHttp2Stream) => {
      stream.respond(grpcHeaders);
      stream.session?.destroy();
    },
    { code: statusCode.UNAVAILABLE, message: "xds: Connection dropped" },
  ],
  [
    "is said to be compressed, without how",
    (stream: ServerHttp2Stream) => {
      stream.respond(grpcHeaders);
      stream.write(Buffer.from([1, 0, 0, 0, 1, 0]));
    },
    { code: statusCode.INTERNAL, message: "xds: a message that cannot be read" },
  ],
])("C-FBK-01 an answer that %s has a status that says so", async (_, answer, status) => {
  const one = server(await rawGrpc(answer));
  const listener = fakeListener();
  transport().open({ source: grpcSource([one]), server: one, onlyType: undefined }, listener);
  expect((await listener.next("ended")).status).toEqual(status);
});

test("C-FBK-01 what a server sends before it ends the stream without a status is taken, and the stream is opened again", async () => {
  const { bytes } = read({ "@type": CLUSTER, name: "a", type: "STATIC", connectTimeout: "1s" });
  const resources = [{ typeUrl: CLUSTER, value: bytes }];
  let calls = 0;
  const closed: number[] = [];
  const port = await rawGrpc((stream) => {
    const call = ++calls;
    stream.on("close", () => closed.push(call));
    stream.respond(grpcHeaders);
    for (const nonce of ["n1", "n2"]) {
      const message = encodeSotwResponse({ typeUrl: CLUSTER, versionInfo: nonce, nonce, resources });
      const head = Buffer.alloc(5);
      head.writeUInt32BE(message.length, 1);
      stream.write(Buffer.concat([head, message]));
    }
    stream.end();
  });
  const accepted: string[] = [];
  const client = await start({
    server: `127.0.0.1:${port}`,
    onReport: (report) => report.kind === "response-accepted" && accepted.push(report.version),
  });
  const watch = client.watch(Cluster);
  await until("the third stream is closed", () => closed.includes(3));
  expect(accepted.slice(0, 4)).toEqual(["n1", "n2", "n1", "n2"]);
  expect([...watch.current.keys()]).toEqual(["a"]);
});
