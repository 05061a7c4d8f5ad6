import { setTimeout as elapsed } from "node:timers/promises";
import { createServer, type ManagementServer, type ReplicasAnswer } from "@xdskit/server";
import { afterEach, expect, test, vi } from "vitest";
import { type RawCall, RawPeer, until } from "../support/raw-peer.ts";
import { ADS_DELTA, CLUSTER, cluster, deltaRequest, testApi } from "../support/test-server.ts";
import { SharedLedger } from "./support/shared-ledger.ts";

const CLIENTS = 40;
/** In which a server looks twice at how many connections the others have. */
const LOOKS_MS = 2_500;
const servers: ManagementServer[] = [];
const peers: RawPeer[] = [];

afterEach(async () => {
  vi.restoreAllMocks();
  for (const peer of peers.splice(0)) await peer.close();
  for (const server of servers.splice(0)) await server.close();
});

async function start(ledger: SharedLedger, balancesConnections?: boolean) {
  const limits = { maxConnectionAgeGraceMs: 20 };
  const server = createServer({
    ...{ api: testApi(), limits, admin: { port: 0 } },
    ledger: { store: ledger.connect(), ...(balancesConnections === false && { balancesConnections }) },
  });
  servers.push(server);
  const moved: number[] = [];
  server.on("connections-moved", (event) => moved.push(event.moved));
  const { address, adminAddress } = await server.listen();
  return { server, address, admin: `127.0.0.1:${adminAddress?.port}`, moved };
}

async function connect(address: { readonly host: string; readonly port: number }): Promise<RawCall> {
  const peer = await RawPeer.connect(address);
  peers.push(peer);
  const call = peer.open(ADS_DELTA);
  call.send(deltaRequest(CLUSTER));
  await call.next();
  return call;
}

/** Makes all clocks of the process go on at once. */
function clock(): (ms: number) => void {
  const now = performance.now.bind(performance);
  let ahead = 0;
  vi.spyOn(performance, "now").mockImplementation(() => now() + ahead);
  return (ms) => {
    ahead += ms;
  };
}

async function full(balances?: boolean) {
  const ledger = new SharedLedger();
  const goOn = clock();
  const one = await start(ledger, balances);
  await one.server.publish({ layers: new Map([["base", [cluster("a")]]]), origin: { writer: "directory" } });
  const calls: RawCall[] = [];
  for (let client = 0; client < CLIENTS; client++) calls.push(await connect(one.address));
  const ended: number[] = [];
  for (const [client, call] of calls.entries()) void call.status.then(() => ended.push(client));
  const other = await start(ledger, balances);
  return { one, other, calls, ended, goOn };
}

/** Lets the server see for long enough that nobody comes to the other by itself, while every connection is younger than a minute. */
async function see({ one, goOn }: Awaited<ReturnType<typeof full>>): Promise<void> {
  while ((await listening(one.admin)) < 2) await elapsed(20);
  goOn(6_000);
  await elapsed(LOOKS_MS);
  goOn(30_000);
  await elapsed(LOOKS_MS);
}

test("the oldest connections go to a server that has none, and no young one does", async () => {
  const scene = await full();
  const { one, other, calls, ended, goOn } = scene;
  await see(scene);
  expect([one.moved, ended]).toEqual([[], []]);
  goOn(30_000);
  await until("four have gone", () => ended.length >= 4, 20_000);
  expect(ended.slice(0, 4)).toEqual([0, 1, 2, 3]);
  expect(await calls[0]?.status).toMatchObject({
    code: 14,
    message: "another server has fewer connections; connect anew",
  });
  expect(other.moved).toEqual([]);
  const text = await (await fetch(`http://${one.admin}/metrics`)).text();
  const moved = one.moved.reduce((sum, count) => sum + count, 0);
  expect(text).toContain(`xds_server_store_moved_connections_total ${moved}`);
}, 40_000);

test("nobody is asked to go where that is turned off", async () => {
  const scene = await full(false);
  await see(scene);
  scene.goOn(30_000);
  await elapsed(LOOKS_MS);
  expect([scene.one.moved, scene.ended]).toEqual([[], []]);
}, 40_000);

/** How many servers have told where they listen. */
async function listening(admin: string): Promise<number> {
  const { replicas } = (await (await fetch(`http://${admin}/api/v1/replicas`)).json()) as ReplicasAnswer;
  return replicas.filter(({ address }) => address !== undefined).length;
}
