import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decodeSotwResponse } from "@xdskit/envoy-api/internal";
import { createServer, type Limits, type ManagementServer } from "@xdskit/server";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { Authority, type IssuedCertificate } from "../support/authority.ts";
import { framed } from "../support/http2-frames.ts";
import { type RawCall, RawPeer, until, within } from "../support/raw-peer.ts";
import { ADS_SOTW, CLUSTER, cluster, put, sotwRequest, testApi } from "../support/test-server.ts";

const WITHIN_MS = 30_000;

let files: string;
let authority: Authority;
let [one, same, other]: IssuedCertificate[] = [];
let server: ManagementServer;
let address: { readonly host: string; readonly port: number };
const peers: RawPeer[] = [];
const hits: string[] = [];

beforeAll(() => {
  files = mkdtempSync(join(tmpdir(), "xdskit-tls-"));
  authority = new Authority("authority");
  const own = authority.issue("IP:127.0.0.1,DNS:localhost");
  for (const [name, content] of Object.entries({ ...own, ca: authority.cert }))
    writeFileSync(join(files, name), content);
  [one, same, other] = ["one", "one", "other"].map((name) => authority.issue(`URI:spiffe://prod/${name}`));
});
afterAll(() => {
  authority[Symbol.dispose]();
  rmSync(files, { recursive: true });
});
afterEach(async () => {
  await Promise.all(peers.splice(0).map((peer) => peer.close()));
  await server.close();
  hits.length = 0;
});

async function start(limits: Partial<Limits>): Promise<void> {
  const [cert, key, ca] = ["cert", "key", "ca"].map((name) => join(files, name)) as [string, string, string];
  server = createServer({ api: testApi(), limits, tls: { cert, key, ca } });
  server.on("limit-hit", ({ limit }) => hits.push(limit));
  server.commit(put(cluster("a")));
  ({ address } = await server.listen());
}

async function connect(certificate: IssuedCertificate | undefined): Promise<RawPeer> {
  const peer = await RawPeer.connect(address, { ca: authority.cert, cert: certificate?.cert, key: certificate?.key });
  peers.push(peer);
  return peer;
}

/** Opens a stream that is served. */
async function served(peer: RawPeer): Promise<RawCall> {
  const call = peer.open(ADS_SOTW);
  call.send(sotwRequest(CLUSTER));
  expect(decodeSotwResponse(await call.next(WITHIN_MS)).resources).toHaveLength(1);
  return call;
}

test("maxConnectionsPerIdentity counts certificates of one identity together, whatever the address allows", async () => {
  await start({ maxConnectionsPerIdentity: 2, maxConnectionsPerPeer: 1 });
  await served(await connect(one));
  await served(await connect(same));
  const tooMany = await connect(one);
  await until("it is closed", () => tooMany.isGone, WITHIN_MS);
  expect(hits).toEqual(["maxConnectionsPerIdentity"]);
  await served(await connect(other));
});

test("maxStreamsPerIdentity: one too many ends with RESOURCE_EXHAUSTED, another identity goes on", async () => {
  await start({ maxStreamsPerIdentity: 2, maxStreamsPerPeer: 1 });
  const peer = await connect(one);
  await served(peer);
  await served(await connect(same));
  const tooMany = await within("the status", peer.open(ADS_SOTW).status, WITHIN_MS);
  expect(tooMany).toMatchObject({ code: 8, message: /2 streams are open from this identity.*maxStreamsPerIdentity/ });
  await served(await connect(other));
  expect(hits).toEqual(["maxStreamsPerIdentity"]);
});

test("maxSubscriptionsPerIdentity: the stream that goes above it ends, the others and another identity go on", async () => {
  await start({ maxSubscriptionsPerIdentity: 5, maxSubscriptionsPerPeer: 1 });
  const asks = (peer: RawPeer, names: readonly string[]) => {
    const call = peer.open(ADS_SOTW);
    call.send(sotwRequest(CLUSTER, names));
    return call;
  };
  await asks(await connect(one), ["a", "b", "c"]).next(WITHIN_MS);
  const tooMany = asks(await connect(same), ["a", "d", "e"]);
  const status = await within("the status", tooMany.status, WITHIN_MS);
  expect(status).toMatchObject({ code: 8, message: /this identity hold 6 names; at most 5/ });
  expect(hits).toEqual(["maxSubscriptionsPerIdentity"]);
  await asks(await connect(other), ["a", "b", "c"]).next(WITHIN_MS);
  await asks(await connect(same), ["a", "d"]).next(WITHIN_MS);
  expect(hits).toEqual(["maxSubscriptionsPerIdentity"]);
});

test("maxReceivedBytesPerIdentity: who holds too much ends, another identity goes on", async () => {
  await start({ maxReceivedBytesPerIdentity: 1_000, maxReceivedBytesPerPeer: 1 });
  const call = (await connect(one)).open(ADS_SOTW);
  call.stream.write(framed(Buffer.alloc(3_000)).subarray(0, 2_000));
  const status = await within("the status", call.status, WITHIN_MS);
  expect(status).toMatchObject({ code: 8, message: /maxReceivedBytesPerIdentity/ });
  await served(await connect(other));
});

test("maxRequestsPerSecondPerIdentity: requests above it wait, then are served; another identity does not wait", async () => {
  await start({ maxRequestsPerSecondPerIdentity: 50 });
  let received = 0;
  let receivedBefore: number | undefined;
  server.on("request-received", () => {
    received++;
  });
  server.on("limit-hit", () => {
    receivedBefore ??= received;
  });
  const flood = (await connect(one)).open(ADS_SOTW);
  for (let at = 0; at < 120; at++) flood.send(sotwRequest(CLUSTER));
  await until("some wait", () => hits.length > 0, WITHIN_MS);
  expect(receivedBefore).toBeLessThan(120);
  await served(await connect(other));
  await until("all are served", () => received === 121, WITHIN_MS);
  expect(new Set(hits)).toEqual(new Set(["maxRequestsPerSecondPerIdentity"]));
  flood.cancel();
});

test("a client that goes on while it is slowed down ends with RESOURCE_EXHAUSTED", async () => {
  await start({ maxRequestsPerSecondPerIdentity: 1 });
  const flood = (await connect(one)).open(ADS_SOTW);
  const message = sotwRequest(CLUSTER, ["n".repeat(100_000)]);
  for (let at = 0; at < 20; at++) flood.send(message);
  const status = await within("the status", flood.status, WITHIN_MS);
  expect(status).toMatchObject({ code: 8, message: /maxRequestsPerSecondPerIdentity/ });
  await served(await connect(other));
});
