import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decodeDeltaResponse } from "@xdskit/envoy-api/internal";
import { createServer, type ManagementServer, type TlsFiles } from "@xdskit/server";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { Authority } from "../support/authority.ts";
import { RawPeer, until } from "../support/raw-peer.ts";
import { ADS_DELTA, CLUSTER, cluster, deltaRequest, put, testApi } from "../support/test-server.ts";

const MAX_CONNECTIONS = 16;
/** A server has an eighth more sockets open than connections, so that one too many can be told. */
const MAX_SOCKETS = 18;

let files: string;
let authority: Authority;
let server: ManagementServer;
let address: { readonly host: string; readonly port: number };
const sockets: Socket[] = [];
const peers: RawPeer[] = [];
const hits: string[] = [];

beforeAll(() => {
  files = mkdtempSync(join(tmpdir(), "xdskit-tls-"));
  authority = new Authority("authority");
  const own = authority.issue("IP:127.0.0.1,DNS:localhost");
  for (const [name, content] of Object.entries(own)) writeFileSync(join(files, name), content);
});
afterAll(() => {
  authority[Symbol.dispose]();
  rmSync(files, { recursive: true });
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await Promise.all(peers.splice(0).map((peer) => peer.close()));
  await server.close();
  hits.length = 0;
});

describe.each(["plaintext", "TLS"])("%s: clients that connect and say nothing", (kind) => {
  const isTls = kind === "TLS";

  async function start(): Promise<void> {
    const tls: TlsFiles | undefined = isTls ? { cert: join(files, "cert"), key: join(files, "key") } : undefined;
    const limits = { maxConnections: MAX_CONNECTIONS };
    server = createServer({ api: testApi(), limits, ...(tls !== undefined && { tls }) });
    server.on("limit-hit", ({ limit }) => hits.push(limit));
    server.commit(put(cluster("a")));
    ({ address } = await server.listen());
  }

  async function speak(): Promise<RawPeer> {
    const peer = await RawPeer.connect(address, isTls ? { ca: authority.cert } : undefined);
    peers.push(peer);
    const call = peer.open(ADS_DELTA);
    call.send(deltaRequest(CLUSTER));
    expect(decodeDeltaResponse(await call.next()).resources.map(({ name }) => name)).toEqual(["a"]);
    return peer;
  }

  /** Connects so many, one after another. */
  async function connectSilently(count: number): Promise<readonly Socket[]> {
    const silent: Socket[] = [];
    for (let index = 0; index < count; index++) {
      const socket = connect(address.port, address.host).on("error", () => undefined);
      sockets.push(socket);
      silent.push(socket);
      socket.resume();
      await once(socket, "connect");
    }
    return silent;
  }

  const openOf = (silent: readonly Socket[]): boolean[] => silent.map((socket) => !socket.closed);

  test("make room for those that speak, the longest silent first", async () => {
    await start();
    const before = await speak();
    const silent = await connectSilently(40);
    const after = await speak();
    const staying = MAX_SOCKETS - 2;
    const expected = silent.map((_, index) => index >= silent.length - staying);
    await until("those in the way are closed", () => openOf(silent).filter(Boolean).length <= staying);
    expect([openOf(silent), before.isGone, after.isGone]).toEqual([expected, false, false]);
    expect(hits).toEqual(Array.from({ length: 40 - staying }, () => "maxConnections"));
  });

  test("are not counted any more once they are gone", async () => {
    await start();
    for (let round = 0; round < 3; round++) {
      for (const socket of await connectSilently(MAX_SOCKETS)) socket.destroy();
      const peer = await speak();
      await peer.close();
    }
    const last = await connectSilently(MAX_SOCKETS);
    await speak();
    await until("the first made room", () => last[0]?.closed === true);
    expect(openOf(last)).toEqual(last.map((_, index) => index > 0));
  });
});
