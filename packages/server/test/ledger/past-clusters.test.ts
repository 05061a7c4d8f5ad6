import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decodeSotwResponse } from "@xdskit/envoy-api/internal";
import { createServer, type ManagementServer, type ManagementServerOptions } from "@xdskit/server";
import { afterEach, beforeEach, expect, test } from "vitest";
import { RawPeer } from "../support/raw-peer.ts";
import { ADS_SOTW, CLUSTER, cluster, sotwRequest, testApi } from "../support/test-server.ts";
import { compact } from "./support/publishing.ts";
import { SharedLedger } from "./support/shared-ledger.ts";

interface Served {
  readonly server: ManagementServer;
  readonly peer: RawPeer;
  /** How many clients it could not protect. */
  unprotected: number;
  publish(...names: readonly string[]): Promise<unknown>;
  close(): Promise<void>;
}

const NAMES = ["a", "b", "c", "d", "stays"];
const nameOf = new Map(NAMES.map((name) => [Buffer.from(cluster(name, "1").bytes).toString("hex"), name]));
let ledger: SharedLedger;
let directory: string;
const all = new Set<Served>();

async function serve(more: ManagementServerOptions = {}): Promise<Served> {
  const fuses = { resourcesRemoved: "off", sizeShrunk: "off", sizeGrown: "off" } as const;
  const server = createServer({ api: testApi(), ...more, ledger: { store: ledger.connect(), fuses } });
  const { address } = await server.listen();
  const peer = await RawPeer.connect(address);
  const served: Served = {
    ...{ server, peer, unprotected: 0 },
    publish: (...names) =>
      server.publish({
        layers: new Map([["base", names.map((name) => cluster(name, "1"))]]),
        origin: { writer: "directory" },
      }),
    async close() {
      all.delete(served);
      await peer.close();
      await server.close();
    },
  };
  server.on("client-unprotected", () => served.unprotected++);
  all.add(served);
  return served;
}

/** What a client is sent first that comes with a version, or without one. */
async function first(
  { peer }: Served,
  version?: string,
): Promise<{ readonly names: string; readonly version: string }> {
  const call = peer.open(ADS_SOTW);
  call.send(sotwRequest(CLUSTER, [], undefined, version));
  const { versionInfo, resources } = decodeSotwResponse(await call.next());
  call.cancel();
  const names = resources.map(({ value }) => nameOf.get(Buffer.from(value).toString("hex")) ?? "?");
  return { names: names.sort().join(), version: versionInfo };
}

/** Publishes states one after the other; resolves with their versions. */
async function versionsOf(server: Served, states: readonly (readonly string[])[]): Promise<readonly string[]> {
  const versions: string[] = [];
  for (const names of states) {
    await server.publish(...names);
    versions.push((await first(server)).version);
  }
  return versions;
}

beforeEach(() => {
  ledger = new SharedLedger();
  directory = mkdtempSync(join(tmpdir(), "xds-past-"));
});
afterEach(async () => {
  for (const one of [...all]) await one.close();
  rmSync(directory, { recursive: true, force: true });
});

const STATES = [
  ["stays", "a"],
  ["stays", "b"],
  ["stays", "c"],
  ["stays", "d"],
];

test("S-ORD-05: a server that was just started knows the versions of the states before the newest one", async () => {
  const versions = await versionsOf(await serve(), STATES);
  const fresh = await serve();
  const names: string[] = [];
  for (const version of versions) names.push((await first(fresh, version)).names);
  expect({ names, unprotected: fresh.unprotected }).toEqual({
    names: ["a,d,stays", "b,d,stays", "c,d,stays", "d,stays"],
    unprotected: 0,
  });
});

test("S-ORD-05: so does one that goes on from its state directory, with what others published meanwhile", async () => {
  const before = await serve({ stateDir: directory });
  const other = await serve();
  const versions = [...(await versionsOf(before, STATES.slice(0, 1)))];
  await before.close();
  versions.push(...(await versionsOf(other, STATES.slice(1))));
  for (let starts = 0; starts < 2; starts++) {
    const after = await serve({ stateDir: directory });
    const names: string[] = [];
    for (const version of versions) names.push((await first(after, version)).names);
    expect({ names, unprotected: after.unprotected }).toEqual({
      names: ["a,d,stays", "b,d,stays", "c,d,stays", "d,stays"],
      unprotected: 0,
    });
    await after.close();
  }
});

test("S-ORD-05: a client of a state that the server does not go back to is unprotected, and counted", async () => {
  const one = await serve();
  const [oldest = ""] = await versionsOf(one, STATES.slice(0, 1));
  for (let n = 0; n < 65; n++) await one.publish("stays", n % 2 === 0 ? "b" : "c");
  const [newest = ""] = await versionsOf(one, STATES.slice(2, 3));
  await one.publish("stays", "d");
  const fresh = await serve();
  expect([(await first(fresh, newest)).names, fresh.unprotected]).toEqual(["c,d,stays", 0]);
  expect([(await first(fresh, oldest)).names, fresh.unprotected]).toEqual(["d,stays", 1]);
});

test("S-ORD-05: the states behind a snapshot are known, those before it are not", async () => {
  const one = await serve();
  const versions = [...(await versionsOf(one, STATES.slice(0, 2)))];
  await compact(ledger.connect());
  versions.push(...(await versionsOf(one, STATES.slice(2))));
  const fresh = await serve();
  const names: string[] = [];
  for (const version of versions) names.push((await first(fresh, version)).names);
  expect({ names, unprotected: fresh.unprotected }).toEqual({
    names: ["d,stays", "b,d,stays", "c,d,stays", "d,stays"],
    unprotected: 1,
  });
});
