import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server } from "node:net";
import { contentDigest } from "@xdskit/envoy-api";
import { createBodyEncoder } from "@xdskit/envoy-api/internal";
import { afterEach, expect, test } from "vitest";
import { Hub } from "../../hub/hub.ts";
import { defaultLimits } from "../../limits.ts";
import { describePeer } from "../peer.ts";
import { Http1Server } from "./http1-server.ts";
import { type RestHandler, RestServer } from "./rest-server.ts";

let server: Server;
afterEach(() => server.close());

interface StartOptions {
  readonly headMs: number;
  readonly bodyMs: number;
  readonly maxBytes?: number;
  readonly maxBlockedMs?: number;
}

/** How long the path that answers takes. */
const LATER_MS = 300;

/** A server with a path that never answers and one that answers later, with clients that may take so long. */
async function start({ headMs, bodyMs, maxBytes = 1_000, maxBlockedMs = 60_000 }: StartOptions): Promise<number> {
  const limits = { ...defaultLimits, maxMessageMs: bodyMs, maxBlockedMs };
  const handlers = new Map<string, RestHandler>([
    ["/v3/wait", () => undefined],
    ["/v3/later", (exchange) => void setTimeout(() => exchange.respond(200, {}, Buffer.from("later\n")), LATER_MS)],
  ]);
  const rest = new RestServer({ handlers, maxRequestBytes: maxBytes });
  const http1 = new Http1Server({ rest, limits, times: { headMs } });
  const hub = new Hub({
    digest: contentDigest,
    traits: () => undefined,
    nodeMapping: () => ["base"],
    encoder: createBodyEncoder({ controlPlane: "" }),
    limits,
    telemetry: { report: () => undefined },
  });
  server = createServer((socket) => http1.accept(socket, describePeer(socket), { hub }));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

/** Everything that comes back until the server closes. */
async function untilClosed(port: number, texts: readonly string[], everyMs = 5): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  let answer = "";
  socket.on("data", (chunk) => {
    answer += String(chunk);
  });
  // What it still sends may meet a socket that is gone already.
  socket.on("error", () => undefined);
  const closed = new Promise((resolve) => socket.once("close", resolve));
  let next = 0;
  const writing = setInterval(() => {
    const text = texts[next++];
    if (text !== undefined && socket.writable) socket.write(text);
  }, everyMs);
  await closed;
  clearInterval(writing);
  return answer;
}

test("a client that sends headers byte by byte is closed, however busy it is", async () => {
  const port = await start({ headMs: 100, bodyMs: 60_000 });
  const trickle = Array.from({ length: 10_000 }, () => "a");
  expect(await untilClosed(port, ["POST /v3/wait HTTP/1.1\r\nx: ", ...trickle])).toBe("");
});

test("a client that sends nothing is closed", async () => {
  const port = await start({ headMs: 50, bodyMs: 60_000 });
  expect(await untilClosed(port, [])).toBe("");
});

test("a body that does not arrive is 408, and the connection is closed", async () => {
  const port = await start({ headMs: 60_000, bodyMs: 50 });
  const head = "POST /v3/wait HTTP/1.1\r\ncontent-length: 100\r\n\r\n";
  expect(await untilClosed(port, [head, ...Array.from({ length: 90 }, () => "x")])).toMatch(/^HTTP\/1.1 408 /);
});

test("a poll that is held is not closed, whatever time the client had for its headers", async () => {
  const port = await start({ headMs: 300, bodyMs: 300 });
  const socket = connect(port, "127.0.0.1");
  socket.write("POST /v3/wait HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}");
  const end = await Promise.race([
    once(socket, "close").then(() => "closed"),
    new Promise((resolve) => setTimeout(resolve, 900, "held")),
  ]);
  expect(end).toBe("held");
  socket.destroy();
});

test("a client whose answers wait for the first of them reads them all, however long that takes", async () => {
  const port = await start({ headMs: LATER_MS, bodyMs: 60_000, maxBlockedMs: LATER_MS / 3 });
  const later = "POST /v3/later HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}";
  const answer = await untilClosed(port, [`${later}${later}GET /v3/none HTTP/1.1\r\n\r\n`]);
  expect(answer.match(/HTTP\/1.1 \d+/g)).toEqual(["HTTP/1.1 200", "HTTP/1.1 200", "HTTP/1.1 404"]);
});

test("a body in too many small chunks is refused before its end", async () => {
  const port = await start({ headMs: 10_000, bodyMs: 10_000, maxBytes: 100_000 });
  const socket = connect(port, "127.0.0.1").on("error", () => undefined);
  let answer = "";
  socket.on("data", (text: Buffer) => {
    answer += text.toString();
  });
  const head =
    "POST /v3/wait HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n";
  socket.write(head + "1\r\n \r\n".repeat(1_001));
  await once(socket, "close");
  expect(answer).toMatch(
    /^HTTP\/1.1 429 .*a request in more than 1000 fragments of fewer than 32 bytes on average \(maxSmallFragments\)/s,
  );
});
