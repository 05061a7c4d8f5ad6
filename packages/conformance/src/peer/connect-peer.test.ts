import { createServer, type Http2Server, type ServerHttp2Stream } from "node:http2";
import { type AddressInfo, createServer as createTcpServer, type Server } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { connectPeer, type PeerOptions, type WirePeer } from "./connect-peer.ts";
import { FrameReader, frameMessage } from "./frame.ts";

const opened: { close(): unknown }[] = [];

afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

async function listen(server: Http2Server | Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  opened.push(server);
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A gRPC server that does with each stream what the test says. */
async function serve(answer: (stream: ServerHttp2Stream) => void): Promise<string> {
  const server = createServer();
  server.on("stream", (stream) => {
    stream.on("error", () => {});
    answer(stream);
  });
  return listen(server);
}

async function connect(address: string, options: Partial<PeerOptions> = {}): Promise<WirePeer> {
  const peer = await connectPeer({ address, ...options });
  opened.push(peer);
  return peer;
}

function echo(stream: ServerHttp2Stream): void {
  stream.respond(
    { ":status": 200, "content-type": "application/grpc", "x-served-by": "echo" },
    { waitForTrailers: true },
  );
  stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
  stream.pipe(stream);
}

async function collect(messages: AsyncIterable<Uint8Array>): Promise<string[]> {
  const texts: string[] = [];
  for await (const message of messages) texts.push(Buffer.from(message).toString());
  return texts;
}

describe("a stream of the peer", () => {
  test("carries messages of any size both ways and ends with the server's status", async () => {
    const stream = (await connect(await serve(echo))).open("/a.B/C");
    const large = "x".repeat(200_000);
    for (const text of ["one", "", large]) stream.send(Buffer.from(text));
    stream.end();
    expect(await collect(stream.messages)).toEqual(["one", "", large]);
    expect(await stream.status).toEqual({ code: 0, message: "" });
    expect((await stream.headers)["x-served-by"]).toBe("echo");
  });

  test("says what path, headers and time limit it was opened with", async () => {
    let seen: unknown;
    const address = await serve((stream) => {
      stream.respond({ ":status": 200, "grpc-status": "0" }, { endStream: true });
    });
    const server = opened.at(-1) as Http2Server;
    server.on("stream", (_stream, headers) => {
      seen = [headers[":path"], headers["te"], headers["grpc-timeout"], headers["authorization"]];
    });
    const stream = (await connect(address)).open("/a.B/C", { timeoutMs: 5_000, metadata: { authorization: "t" } });
    await stream.status;
    expect(seen).toEqual(["/a.B/C", "trailers", "5000m", "t"]);
  });

  test("decodes the message of an error, in trailers or in headers alone", async () => {
    const address = await serve((stream) =>
      stream.respond(
        { ":status": 200, "grpc-status": "3", "grpc-message": "no%20such %E2%9C%93" },
        { endStream: true },
      ),
    );
    const stream = (await connect(address)).open("/a.B/C");
    expect(await collect(stream.messages)).toEqual([]);
    expect(await stream.status).toEqual({ code: 3, message: "no such ✓" });
  });

  test("takes an HTTP error for what it is", async () => {
    const address = await serve((stream) => stream.respond({ ":status": 404 }, { endStream: true }));
    expect((await (await connect(address)).open("/a.B/C").status).code).toBe(12);
  });

  test("is CANCELLED when this side gives up, and the server sees the reset", async () => {
    let tell: (code: number) => void = () => {};
    const reset = new Promise<number>((resolve) => {
      tell = resolve;
    });
    const address = await serve((stream) => {
      stream.respond({ ":status": 200 });
      stream.on("close", () => tell(stream.rstCode));
    });
    const stream = (await connect(address)).open("/a.B/C");
    await stream.headers;
    stream.cancel();
    expect((await stream.status).code).toBe(1);
    expect(await reset).toBe(8);
  });

  test("ends with DEADLINE_EXCEEDED when its time is over", async () => {
    const address = await serve((stream) => stream.respond({ ":status": 200 }));
    const stream = (await connect(address)).open("/a.B/C", { timeoutMs: 20 });
    expect(await collect(stream.messages)).toEqual([]);
    expect((await stream.status).code).toBe(4);
  });

  test("is UNAVAILABLE when the connection is lost, and when there is none any more", async () => {
    const address = await serve((stream) => {
      stream.respond({ ":status": 200 });
      stream.session?.destroy();
    });
    const peer = await connect(address);
    expect((await peer.open("/a.B/C").status).code).toBe(14);
    await peer.closed;
    expect((await peer.open("/a.B/C").status).code).toBe(14);
  });

  test("refuses a message above its limit", async () => {
    const stream = (await connect(await serve(echo), { maxMessageBytes: 10 })).open("/a.B/C");
    stream.send(Buffer.from("12345678901"));
    expect(await collect(stream.messages)).toEqual([]);
    expect(await stream.status).toEqual({ code: 13, message: "a message of 11 bytes, at most 10 are taken" });
  });

  test("slows the server down when it is not read", async () => {
    let written = 0;
    let stalled: () => void = () => {};
    const isStalled = new Promise<void>((resolve) => {
      stalled = resolve;
    });
    const message = frameMessage(new Uint8Array(100_000));
    const address = await serve((stream) => {
      stream.respond({ ":status": 200 });
      const pump = (): void => {
        while (stream.write(message)) written++;
        stalled();
      };
      pump();
    });
    const peer = await connect(address, { windowBytes: 65_535 });
    const stream = peer.open("/a.B/C");
    await isStalled;
    await peer.ping();
    expect(written).toBeLessThan(10);
    stream.cancel();
  });
});

describe("a connection", () => {
  test("answers pings and tells that the server asked it to leave", async () => {
    const server = createServer();
    server.on("session", (session) => setTimeout(() => session.goaway(0), 5));
    const peer = await connect(await listen(server));
    expect(await peer.leaving).toBe(0);
  });

  test("fails in time when nobody listens, and when somebody does not speak HTTP/2", async () => {
    const silent = await listen(createTcpServer());
    await expect(connectPeer({ address: silent, connectTimeoutMs: 50 })).rejects.toThrow(/no HTTP\/2 server answered/);
    await expect(connectPeer({ address: "127.0.0.1:1" })).rejects.toThrow(/ECONNREFUSED/);
  });
});

describe("framing", () => {
  test("finds the same messages however the bytes are cut", () => {
    const texts = ["a", "", "bcd", "e".repeat(300)];
    const bytes = Buffer.concat(texts.map((text) => frameMessage(Buffer.from(text))));
    for (const size of [1, 2, 5, 7, 64, bytes.length]) {
      const reader = new FrameReader(1_000);
      const found: string[] = [];
      for (let at = 0; at < bytes.length; at += size) {
        for (const message of reader.push(bytes.subarray(at, at + size))) found.push(Buffer.from(message).toString());
      }
      expect(found).toEqual(texts);
    }
  });

  test("does not take compressed messages", () => {
    const reader = new FrameReader(1_000);
    expect(() => [...reader.push(Uint8Array.of(1, 0, 0, 0, 0))]).toThrow(/compressed/);
  });
});
