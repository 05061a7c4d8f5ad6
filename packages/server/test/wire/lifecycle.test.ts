import { decodeSotwResponse } from "@xdskit/envoy-api/internal";
import { type ManagementServer, XdsError } from "@xdskit/server";
import { afterEach, describe, expect, test } from "vitest";
import { RawPeer, until, within } from "../support/raw-peer.ts";
import { startTcpLine } from "../support/tcp-line.ts";
import {
  ADS_SOTW,
  CLUSTER,
  cluster,
  countStreams,
  put,
  sotwRequest,
  startWorld,
  type World,
} from "../support/test-server.ts";

let world: World;
afterEach(() => world.close());

describe("before there is something to serve", () => {
  test("T-B9 a stream ends with UNAVAILABLE and says why", async () => {
    world = await startWorld({}, []);
    const call = (await world.connect()).open(ADS_SOTW);
    call.send(sotwRequest(CLUSTER));
    expect(await within("the status", call.status)).toMatchObject({
      code: 14,
      message: /no configuration has been loaded/,
    });
  });

  test("an empty commit is something", async () => {
    world = await startWorld({}, []);
    world.server.commit({ changes: [] });
    const call = (await world.connect()).open(ADS_SOTW);
    call.send(sotwRequest(CLUSTER));
    expect(decodeSotwResponse(await call.next()).resources).toEqual([]);
  });

  test("serveEmpty serves nothing, willingly", async () => {
    world = await startWorld({ serveEmpty: true }, []);
    const call = (await world.connect()).open(ADS_SOTW);
    call.send(sotwRequest(CLUSTER));
    expect(decodeSotwResponse(await call.next()).resources).toEqual([]);
    world.server.commit(put(cluster("a")));
    call.send(sotwRequest(CLUSTER, [], "1", ""));
    expect(decodeSotwResponse(await call.next()).resources).toHaveLength(1);
  });
});

describe("S-GRP-06 draining", () => {
  test("S-GRP-06 GOAWAY at once, then streams end with UNAVAILABLE, one after the other, then connections", async () => {
    world = await startWorld();
    const peers = await Promise.all(Array.from({ length: 5 }, () => world.connect()));
    const calls = peers.map((peer) => peer.open(ADS_SOTW));
    for (const call of calls) {
      call.send(sotwRequest(CLUSTER));
      await call.next();
    }
    const endedAt: number[] = [];
    const from = performance.now();
    for (const call of calls) void call.status.then(() => endedAt.push(performance.now() - from));
    const drained = world.server.drain({ graceMs: 300 });
    await until("everybody heard GOAWAY", () => peers.every(({ goaways }) => goaways > 0));
    for (const call of calls) {
      expect(await within("the status", call.status)).toMatchObject({ code: 14, message: /shutting down/ });
    }
    await within("the drain", drained);
    await until("connections are closed", () => peers.every(({ isGone }) => isGone));
    expect(endedAt.at(-1)).toBeGreaterThan(200);
    await expect(world.connect()).rejects.toThrow();
  });

  test("takes no new streams on the connections there are, and tells nobody to wait", async () => {
    world = await startWorld();
    const streams = countStreams(world.server);
    const peer = await world.connect();
    const first = peer.open(ADS_SOTW);
    first.send(sotwRequest(CLUSTER));
    await first.next();
    const drained = world.server.drain({ graceMs: 200 });
    const second = peer.open(ADS_SOTW);
    second.send(sotwRequest(CLUSTER));
    await within("the drain", drained);
    // Without a status there are no headers, which would say when to come again.
    expect(await within("the refusal", second.status)).toMatchObject({ code: -1 });
    await until("GOAWAY", () => peer.goaways > 0);
    expect(streams.opened).toBe(1);
  });

  test("is over at once when the server is closed meanwhile, by close or by another drain", async () => {
    for (const end of ["close", "drain"] as const) {
      world = await startWorld();
      const calls = await Promise.all([1, 2, 3].map(async () => (await world.connect()).open(ADS_SOTW)));
      for (const call of calls) {
        call.send(sotwRequest(CLUSTER));
        await call.next();
      }
      const drained = world.server.drain({ graceMs: 600_000 });
      await (end === "close" ? world.server.close() : world.server.drain({ graceMs: 0 }));
      await within("the drain", drained);
      await world.close();
    }
  });

  test("without anybody there it is over at once", async () => {
    world = await startWorld();
    await within("the drain", world.server.drain(), 500);
  });
});

test("S-CON-03 an old connection is asked to go, and its streams end", async () => {
  world = await startWorld({ limits: { maxConnectionAgeMs: 100, maxConnectionAgeGraceMs: 50 } });
  const peer = await world.connect();
  const call = peer.open(ADS_SOTW);
  call.send(sotwRequest(CLUSTER));
  await call.next();
  await until("GOAWAY", () => peer.goaways > 0);
  expect(await within("the status", call.status)).toMatchObject({ code: 14, message: /maxConnectionAgeMs/ });
  await until("the connection is closed", () => peer.isGone);
});

test("S-CON-02 forty quick PINGs are answered, without GOAWAY", async () => {
  world = await startWorld();
  const peer = await world.connect();
  const call = peer.open(ADS_SOTW);
  call.send(sotwRequest(CLUSTER));
  await call.next();
  for (let i = 0; i < 40; i++) {
    await within("a PONG", new Promise<void>((resolve) => void peer.session.ping(() => resolve())));
  }
  expect({ goaways: peer.goaways, isGone: peer.isGone }).toEqual({ goaways: 0, isGone: false });
});

test("S-CON-03 a client that does not answer PINGs is dropped, and its state freed", async () => {
  world = await startWorld({ limits: { keepaliveMs: 50, keepaliveTimeoutMs: 100 } });
  const streams = countStreams(world.server);
  const closed: string[] = [];
  world.server.on("connection-closed", ({ reason }) => closed.push(reason));
  const alive = (await world.connect()).open(ADS_SOTW);
  alive.send(sotwRequest(CLUSTER));
  await alive.next();
  const line = await startTcpLine(world.address);
  const dead = await RawPeer.connect(line.address);
  const call = dead.open(ADS_SOTW);
  call.send(sotwRequest(CLUSTER));
  await call.next();
  line.cut();
  await until("the connection is dropped", () => closed.length > 0);
  expect(closed).toEqual(["no answer to a PING for 100 ms"]);
  await until("its stream is freed", () => streams.open === 1);
  await line.close();
});

test("a port that is taken is said so", async () => {
  world = await startWorld();
  const second = startWorld({ listen: world.address });
  await expect(second).rejects.toMatchObject({
    name: "XdsError",
    code: "LISTEN_FAILED",
    message: expect.stringMatching(/^cannot listen at 127\.0\.0\.1:\d+: .*EADDRINUSE/),
  });
  await expect(second).rejects.toBeInstanceOf(XdsError);
});

test("a server starts once, and closes as often as you like", async () => {
  world = await startWorld();
  await expect(world.server.listen()).rejects.toMatchObject({ code: "SERVER_STATE" });
  await world.server.close();
  await world.server.close();
});

describe("a closed server changes nothing, and says so", () => {
  const changes: Readonly<Record<string, (server: ManagementServer) => unknown>> = {
    commit: (server) => server.commit(put(cluster("b"))),
    set: (server) => server.set("base", []),
    update: (server) => server.update(() => undefined),
    setNodeMapping: (server) => server.setNodeMapping(() => ["other"]),
    setAccess: (server) => server.setAccess(undefined),
    setClientOverrides: (server) => server.setClientOverrides([]),
    setLoadReporting: (server) => server.setLoadReporting({ intervalMs: 5_000 }),
  };
  const records: Readonly<Record<string, (server: ManagementServer) => Promise<unknown>>> = {
    publish: (server) => server.publish({ origin: { writer: "test" }, changes: [] }),
    approve: (server) => server.approve(1),
    reject: (server) => server.reject(1),
    rollback: (server) => server.rollback(1),
  };
  const closed = expect.objectContaining({
    ...{ name: "XdsError", code: "SERVER_STATE" },
    message: "expected an open server, got one that is closed",
  });

  test.each(Object.entries(changes))("%s", async (_, change) => {
    world = await startWorld();
    await world.server.close();
    expect(() => change(world.server)).toThrow(closed);
    expect(world.server.revision).toBe(1);
  });

  test.each(Object.entries(records))("%s", async (_, record) => {
    world = await startWorld({ ledger: {} }, []);
    await world.server.close();
    await expect(record(world.server)).rejects.toEqual(closed);
  });
});
