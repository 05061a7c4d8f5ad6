import { setTimeout as delay, setImmediate as turn } from "node:timers/promises";
import { decodeDeltaResponse, decodeSotwResponse, encodeDeltaRequest } from "@xdskit/envoy-api/internal";
import type { Resource } from "@xdskit/protocol";
import { createServer, type ManagementServer, type ManagementServerOptions, type PublishResult } from "@xdskit/server";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type RawCall, RawPeer, until, within } from "../support/raw-peer.ts";
import {
  ADS_DELTA,
  ADS_SOTW,
  CLUSTER,
  cluster,
  deltaRequest,
  node,
  sotwRequest,
  testApi,
} from "../support/test-server.ts";
import { LedgerConnection, SharedLedger } from "./support/shared-ledger.ts";

interface Served {
  readonly server: ManagementServer;
  readonly connection: LedgerConnection;
  readonly peer: RawPeer;
  readonly events: string[];
  /** The address of its admin API, if it has one. */
  readonly admin: string;
  publish(resources: readonly Resource[]): Promise<PublishResult>;
}

let ledger: SharedLedger;
const all: Served[] = [];

async function serve(
  options: ManagementServerOptions["ledger"] = {},
  connection: LedgerConnection = ledger.connect(),
  more: ManagementServerOptions = {},
): Promise<Served> {
  const server = createServer({ api: testApi(), ...more, ledger: { ...options, store: connection } });
  const events: string[] = [];
  server.on("ledger-role", ({ role }) => events.push(role));
  server.on("store-away", ({ reason }) => events.push(reason));
  server.on("store-back", () => events.push("back"));
  server.on("client-unchecked", ({ reason }) => events.push(`unchecked: ${reason}`));
  const { address, adminAddress } = await server.listen();
  const peer = await RawPeer.connect(address);
  const served: Served = {
    ...{ server, connection, peer, events, admin: `127.0.0.1:${adminAddress?.port}` },
    publish: (resources) => server.publish({ layers: new Map([["base", resources]]), origin: { writer: "directory" } }),
  };
  all.push(served);
  return served;
}

beforeEach(() => {
  ledger = new SharedLedger();
});
afterEach(async () => {
  for (const { server, peer } of all.splice(0)) {
    await peer.close();
    await server.close();
  }
});

/** Subscribes to all clusters as a client that has a version already, or none. */
function subscribe({ peer }: Served, version?: string): RawCall {
  const call = peer.open(ADS_SOTW);
  call.send(sotwRequest(CLUSTER, [], undefined, version));
  return call;
}

async function received(
  call: RawCall,
): Promise<{ readonly names: string; readonly version: string; readonly nonce: string }> {
  const { versionInfo, nonce, resources } = decodeSotwResponse(await call.next());
  const known = new Map(
    Array.from({ length: 200 }, (_, n) => [Buffer.from(cluster("a", `${n}`).bytes).toString("hex"), `${n}`]),
  );
  const names = resources.map(({ value }) => known.get(Buffer.from(value).toString("hex")) ?? "?").join(",");
  return { names, version: versionInfo, nonce };
}

const state = (n: number): readonly Resource[] => [cluster("a", `${n}`)];

describe("servers that share a store", () => {
  test("serve what one of them publishes, on their own clients' open streams", async () => {
    const [one, other] = [await serve({ publishes: "lease" }), await serve({ publishes: "never" })];
    await until("one publishes", () => one.server.ledger?.store?.role === "publisher");
    await one.publish(state(1));
    await until("the other has it", () => other.server.ledger?.number === 1);
    const call = subscribe(other);
    const first = await received(call);
    call.send(sotwRequest(CLUSTER, [], first.nonce, first.version));
    await one.publish(state(2));
    expect([first.names, (await received(call)).names]).toEqual(["1", "2"]);
    expect(other.server.ledger).toMatchObject({ number: 2, store: { role: "follower", head: 2, lag: 0 } });
    expect(await other.publish(state(3))).toMatchObject({ kind: "standby" });
  });

  test("take over from the publisher that goes, and roll nothing back", async () => {
    const [one, other] = [await serve({ publishes: "lease" }), await serve({ publishes: "lease" })];
    await until("one publishes", () => one.events.includes("publisher"));
    for (const n of [1, 2]) expect(await one.publish(state(n))).toMatchObject({ kind: "applied", number: n });
    await one.server.close();
    await until("the other publishes", () => other.events.includes("publisher"));
    // Its directory is an old checkout.
    expect(await other.publish(state(1))).toMatchObject({ kind: "held", trips: [{ fuse: "stale-source" }] });
    expect((await received(subscribe(other))).names).toBe("2");
    expect(await other.publish(state(3))).toMatchObject({ kind: "applied", number: 4 });
  });

  test("stay ready, and serve, while the engine is away", async () => {
    const one = await serve();
    await one.publish(state(1));
    one.connection.cut();
    expect(await one.publish(state(2))).toEqual({ kind: "unavailable", reason: "the engine is away" });
    const { version } = await received(subscribe(one));
    expect((await received(subscribe(one, version))).names).toBe("1");
    expect(one.server.ledger?.store).toMatchObject({ outage: { reason: "the engine is away" } });
    one.connection.mend();
    expect(one.events).toEqual(["the engine is away", "unchecked: away", "back"]);
    expect(await one.publish(state(2))).toMatchObject({ kind: "applied" });
    expect(one.server.ledger?.store?.outage).toBeUndefined();
  });
});

test("an operator has a server adopt a restored backup", async () => {
  const connection = ledger.connect();
  const one = await serve({}, connection, { admin: {} });
  for (const n of [1, 2]) await one.publish(state(n));
  connection.cut();
  await ledger.restore(1);
  connection.mend();
  await until("it is stopped", () => one.server.ledger?.store?.stop !== undefined);
  expect((await received(subscribe(one))).names).toBe("2");
  const answer = await fetch(`http://${one.admin}/api/v1/store/adopt`, { method: "POST" });
  expect([answer.status, await answer.json()]).toEqual([200, { result: "applied", number: 1 }]);
  expect((await received(subscribe(one))).names).toBe("1");
});

/** One server has two states, of which the other saw the first only: the store is away there. */
async function oneIsCutOff(): Promise<{ readonly one: Served; readonly other: Served; readonly versions: string[] }> {
  const [one, other] = [await serve(), await serve()];
  await one.publish(state(1));
  await until("the other has it", () => other.server.ledger?.number === 1);
  const versions = [(await received(subscribe(one))).version];
  other.connection.cut();
  await one.publish(state(2));
  versions.push((await received(subscribe(one))).version);
  return { one, other, versions };
}

/** Resolves when a request has come, and an answer to it would have been made. */
async function cameTo({ server }: Served, call: () => RawCall): Promise<RawCall> {
  const came = gate();
  const stop = server.on("request-received", () => came.open());
  const opened = call();
  await came.opened;
  stop();
  for (let turns = 0; turns < 10; turns++) await turn();
  return opened;
}

describe("a client that comes to a server whose store is away", () => {
  test("waits with a version that this one never had, and gets what is newest once the store is back", async () => {
    const { other, versions } = await oneIsCutOff();
    const call = await cameTo(other, () => subscribe(other, versions[1]));
    expect(call.waiting).toBe(0);
    other.connection.mend();
    expect((await received(call)).names).toBe("2");
    expect(other.events).toEqual(["the engine is away", "back"]);
  });

  test("waits also while an older backup keeps the server from applying what is there", async () => {
    const { one, other, versions } = await oneIsCutOff();
    one.connection.cut();
    await ledger.restore(0);
    other.connection.mend();
    await until("it is stopped", () => other.server.ledger?.store?.stop !== undefined);
    const call = await cameTo(other, () => subscribe(other, versions[1]));
    expect(call.waiting).toBe(0);
    expect((await received(subscribe(other, versions[0]))).names).toBe("1");
  });

  test("is served at once with what this one has or had, or with nothing", async () => {
    const { one, other, versions } = await oneIsCutOff();
    other.connection.mend();
    await until("the other has the second", () => other.server.ledger?.number === 2);
    one.connection.cut();
    other.connection.cut();
    for (const version of [...versions, undefined]) expect((await received(subscribe(other, version))).names).toBe("2");
    expect(other.events.slice(2)).toEqual(["the engine is away", "unchecked: away", "unchecked: away"]);
  });

  test("waits on a delta stream if one of its versions is of no state here", async () => {
    const { one, other } = await oneIsCutOff();
    const open = (held: readonly Resource[]): RawCall => {
      const call = other.peer.open(ADS_DELTA);
      const initialResourceVersions = held.map(({ name, version }) => [name, version] as const);
      call.send(encodeDeltaRequest({ node: node("test"), typeUrl: CLUSTER, initialResourceVersions }));
      return call;
    };
    const waits = await cameTo(other, () => open(state(2)));
    const known = await cameTo(other, () => open([]));
    expect([waits.waiting, known.waiting]).toEqual([0, 1]);
    other.connection.mend();
    const [resource] = decodeDeltaResponse(await known.next()).resources;
    expect(resource?.version).toBe(state(1)[0]?.version);
    // It has the newest already: nothing but what confirms its subscription.
    const confirmed = decodeDeltaResponse(await waits.next());
    expect(confirmed.resources).toEqual([]);
    waits.send(deltaRequest(CLUSTER, [], confirmed.nonce));
    await one.publish(state(3));
    const [next] = decodeDeltaResponse(await waits.next()).resources;
    expect(next?.version).toBe(state(3)[0]?.version);
  });
});

describe("a client that comes from another server", () => {
  test("waits until this one has what the store has", async () => {
    const [one, other] = [await serve(), await serve()];
    await one.publish(state(1));
    await until("the other has it", () => other.server.ledger?.number === 1);
    other.connection.lag();
    await one.publish(state(2));
    const { version, names } = await received(subscribe(one));
    expect([names, other.server.ledger?.number]).toEqual(["2", 1]);
    expect((await received(subscribe(other, version))).names).toBe("2");
  });

  test("shares the question to the store with who comes meanwhile", async () => {
    const [one, other] = [await serve(), await serve()];
    await one.publish(state(1));
    const { version } = await received(subscribe(one));
    await until("the other has it", () => other.server.ledger?.number === 1);
    const before = other.connection.refreshes;
    const answered = gate();
    other.connection.delay = () => answered.opened;
    let arrived = 0;
    other.server.on("request-received", () => arrived++);
    const calls = Array.from({ length: 50 }, () => subscribe(other, version));
    await until("all wait", () => arrived === 50);
    answered.open();
    for (const call of calls) expect((await received(call)).names).toBe("1");
    // The one that was under way when most of them came, and the next.
    expect(other.connection.refreshes - before).toBe(2);
  });

  test("of which nothing is known waits while this one is known to be behind", async () => {
    const [one, other] = [await serve(), await serve()];
    await one.publish(state(1));
    await until("the other has it", () => other.server.ledger?.number === 1);
    const answered = gate();
    other.connection.delay = () => answered.opened;
    await one.publish(state(2));
    const call = await cameTo(other, () => subscribe(other));
    expect(call.waiting).toBe(0);
    answered.open();
    expect((await received(call)).names).toBe("2");
  });

  test("keeps the order of its requests, and may end its half of the call while it waits", async () => {
    const [one, other] = [await serve(), await serve()];
    await one.publish(state(1));
    const { version } = await received(subscribe(one));
    other.connection.delay = () => delay(10);
    const call = subscribe(other, version);
    call.end();
    expect((await received(call)).names).toBe("1");
    expect(await within("the end", call.status)).toMatchObject({ code: 0 });
  });
});

function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** A connection that answers with what it has seen, without asking the engine. */
class UnaskedConnection extends LedgerConnection {
  override refresh(): ReturnType<LedgerConnection["refresh"]> {
    return Promise.resolve(this.head);
  }
}

type Step =
  | { readonly kind: "publish" | "lag" | "keep-up" | "slow" | "fast" | "cut" | "mend"; readonly server: number }
  | Hop;

interface Hop {
  readonly kind: "hop";
  readonly server: number;
  readonly client: number;
}

const server = fc.nat({ max: 2 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("publish" as const), server }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("hop" as const), server, client: fc.nat({ max: 2 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom(...(["lag", "keep-up", "slow", "fast", "cut", "mend"] as const)),
      server,
    }),
  },
);

/** Plays steps on three servers with three clients; returns what each client got, in order. */
async function play(steps: readonly Step[], connect: () => LedgerConnection): Promise<readonly (readonly number[])[]> {
  const servers = [await serve({}, connect()), await serve({}, connect()), await serve({}, connect())];
  const seen: number[][] = [[], [], []];
  const calls: (RawCall | undefined)[] = [];
  const versions: (string | undefined)[] = [];
  const at = <T>(list: readonly T[], index: number): T => {
    const found = list[index];
    if (found === undefined) throw new Error(`there is no ${index}`);
    return found;
  };
  const take = async (client: number): Promise<void> => {
    const call = at(calls, client);
    if (call === undefined) return;
    const { names, version, nonce } = await received(call);
    at(seen, client).push(Number(names));
    versions[client] = version;
    call.send(sotwRequest(CLUSTER, [], nonce, version));
  };
  let published = 1;
  await at(servers, 0).publish(state(published));
  for (const one of steps) {
    const { connection, publish } = at(servers, one.server);
    if (one.kind === "publish") {
      const { kind } = await publish(state(published + 1));
      if (kind === "applied") published++;
    } else if (one.kind === "cut") connection.cut();
    else if (one.kind === "mend") connection.mend();
    else if (one.kind === "lag") connection.lag();
    else if (one.kind === "keep-up") connection.keepUp();
    else if (one.kind === "slow") connection.delay = () => delay(5);
    else if (one.kind === "fast") connection.delay = () => Promise.resolve();
    else if (one.kind === "hop") {
      const to = at(servers, one.server);
      calls[one.client]?.cancel();
      if (to.server.ledger?.number === 0) connection.mend();
      await until("the server is ready", () => to.server.ledger?.number !== 0);
      const call = await cameTo(to, () => subscribe(to, versions[one.client]));
      calls[one.client] = call;
      // While the store is away, it may have to wait for that.
      await until("it is answered", () => call.waiting > 0 || to.server.ledger?.store?.outage !== undefined);
    }
    for (const client of [0, 1, 2]) while ((calls[client]?.waiting ?? 0) > 0) await take(client);
  }
  for (const { connection } of servers) connection.mend();
  for (const [client, call] of calls.entries()) {
    if (call === undefined) continue;
    // Whoever waits is answered in the end.
    if ((seen[client]?.length ?? 0) === 0) await take(client);
  }
  for (const { peer, server: ended } of all.splice(0)) {
    await peer.close();
    await ended.close();
  }
  return seen;
}

/** The first client that got an older state than it had. */
function setBack(seen: readonly (readonly number[])[]): readonly number[] | undefined {
  return seen.find((states) => states.some((n, i) => n < (states[i - 1] ?? 0)));
}

describe("whatever the servers lag", () => {
  test("no client that hops between them is set back", async () => {
    const run = async (steps: readonly Step[]): Promise<void> => {
      ledger = new SharedLedger();
      expect(setBack(await play(steps, () => ledger.connect()))).toBeUndefined();
    };
    await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 30 }), run), { numRuns: 25 });
  }, 60_000);

  test("the check finds one where the store is not asked", async () => {
    const steps: readonly Step[] = [
      { kind: "hop", server: 1, client: 0 },
      { kind: "lag", server: 1 },
      { kind: "publish", server: 0 },
      { kind: "hop", server: 0, client: 0 },
      { kind: "hop", server: 1, client: 0 },
    ];
    const unasked = (): LedgerConnection => ledger.adopt(new UnaskedConnection(ledger));
    expect(setBack(await play(steps, unasked))).toEqual([1, 2, 1]);
    ledger = new SharedLedger();
    expect(setBack(await play(steps, () => ledger.connect()))).toBeUndefined();
  });
});
