import { setTimeout as delay, setImmediate as turn } from "node:timers/promises";
import { decodeDeltaResponse, decodeSotwResponse } from "@xdskit/envoy-api/internal";
import type { Resource } from "@xdskit/protocol";
import { createServer, type ManagementServer, type ManagementServerOptions, type PublishResult } from "@xdskit/server";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { StoreFreshness } from "../../src/ledger/freshness.ts";
import { type RawCall, RawPeer, until, within } from "../support/raw-peer.ts";
import {
  ADS_DELTA,
  ADS_SOTW,
  CLUSTER,
  cluster,
  deltaRequest,
  ENDPOINTS,
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

test("a server that is closed while its ledger opens leaves no timer behind", async () => {
  const started = vi.spyOn(globalThis, "setInterval");
  const cleared = vi.spyOn(globalThis, "clearInterval");
  onTestFinished(() => void vi.restoreAllMocks());
  const server = createServer({ api: testApi(), ledger: { store: ledger.connect() } });
  const published = server.publish({ layers: new Map(), origin: { writer: "directory" } });
  await server.close();
  await published;
  const timers = started.mock.results.map(({ value }: { readonly value: unknown }) => value);
  const ended = cleared.mock.calls.map(([timer]): unknown => timer);
  expect(timers.length).toBeGreaterThan(0);
  expect(timers.filter((timer) => !ended.includes(timer))).toEqual([]);
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
    const { version } = await received(subscribe(one));
    one.connection.cut();
    expect(await one.publish(state(2))).toEqual({ kind: "unavailable", reason: "the engine is away" });
    expect((await received(subscribe(one))).names).toBe("1");
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
    const arrived = new Promise<void>((resolve) => other.server.on("request-received", () => resolve()));
    const call = subscribe(other);
    await arrived;
    // An answer would be made in one of the next turns.
    for (let turns = 0; turns < 10; turns++) await turn();
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

describe("while the store is away, a client from another server", () => {
  /** Two servers that had 1 and 2; the second is cut off, and the first serves 3. */
  async function apart(): Promise<{ readonly one: Served; readonly other: Served; readonly versions: Versions }> {
    const [one, other] = [await serve(), await serve()];
    await one.publish(state(1));
    const first = await received(subscribe(one));
    await one.publish(state(2));
    await until("the other has it", () => other.server.ledger?.number === 2);
    const second = await received(subscribe(other));
    other.connection.cut();
    await one.publish(state(3));
    const third = await received(subscribe(one));
    return { one, other, versions: { known: [first.version, second.version], unknown: third.version } };
  }

  test("waits with a version that is unknown, until the store is back", async () => {
    const { other, versions } = await apart();
    const call = await arrivesAt(other, () => subscribe(other, versions.unknown));
    expect([call.waiting, other.events]).toEqual([0, ["the engine is away"]]);
    other.connection.mend();
    expect((await received(call)).names).toBe("3");
    expect(other.events).toEqual(["the engine is away", "back"]);
  });

  test("is served at once without a version, or with one that this one has or had", async () => {
    const { other, versions } = await apart();
    for (const version of [undefined, ...versions.known])
      expect((await received(subscribe(other, version))).names).toBe("2");
    expect(other.events).toEqual(["the engine is away", "unchecked: away", "unchecked: away"]);
  });

  test("may hang up while it waits, and is not counted", async () => {
    const { other, versions } = await apart();
    const call = await arrivesAt(other, () => subscribe(other, versions.unknown));
    const gone = new Promise<void>((resolve) => other.server.on("stream-closed", () => resolve()));
    call.cancel();
    await within("its end", gone);
    other.connection.mend();
    expect(other.events).toEqual(["the engine is away", "back"]);
  });

  test("waits in delta only if one of its pairs is unknown", async () => {
    const { other } = await apart();
    const [a1, a2, a3] = [1, 2, 3].map((n) => cluster("a", `${n}`));
    const brings = (...held: readonly (Resource | undefined)[]): RawCall => {
      const call = other.peer.open(ADS_DELTA);
      const pairs = held.map((one) => [one?.name ?? "", one?.version ?? ""] as const);
      call.send(deltaRequest(CLUSTER, ["*"], undefined, pairs));
      return call;
    };
    const puts = async (call: RawCall): Promise<readonly (string | undefined)[]> =>
      decodeDeltaResponse(await call.next()).resources.map(({ version }) => version);
    expect(await puts(brings(a1))).toEqual([a2?.version]);
    const calls = [
      await arrivesAt(other, () => brings(a3)),
      await arrivesAt(other, () => brings(a2, cluster("never", "1"))),
    ];
    expect(calls.map(({ waiting }) => waiting)).toEqual([0, 0]);
    other.connection.mend();
    expect(await Promise.all(calls.slice(1).map(puts))).toEqual([[a3?.version]]);
  });

  test("waits for all its types if one of them is unknown, whichever it asked for first", async () => {
    const { one, other, versions } = await apart();
    other.connection.mend();
    await until("the other has it", () => other.server.ledger?.number === 3);
    // The outage shows only in the answer, so both requests wait for that.
    const answered = gate();
    other.connection.delay = () => answered.opened;
    const call = await arrivesAt(other, () => subscribe(other, versions.known[0]));
    await arrivesAt(other, () => {
      call.send(sotwRequest(ENDPOINTS, ["a"], undefined, "unknown"));
      return call;
    });
    other.connection.cut({ isKnown: false });
    answered.open();
    await one.publish(state(4));
    await turns();
    expect(call.waiting).toBe(0);
    other.connection.mend();
    expect((await received(call)).names).toBe("4");
  });

  test("waits too where the store is another than it was, until that is adopted", async () => {
    const connection = ledger.connect();
    const one = await serve({}, connection, { admin: {} });
    for (const n of [1, 2]) await one.publish(state(n));
    connection.cut();
    await ledger.restore(1);
    connection.mend();
    await until("it is stopped", () => one.server.ledger?.store?.stop !== undefined);
    const call = await arrivesAt(one, () => subscribe(one, "unknown"));
    expect(call.waiting).toBe(0);
    await fetch(`http://${one.admin}/api/v1/store/adopt`, { method: "POST" });
    expect((await received(call)).names).toBe("1");
  });

  test("waits for a limited time", async () => {
    const connection = ledger.connect();
    connection.cut();
    const publisher = { store: connection, number: 0, stop: undefined, whenInForce: () => Promise.resolve() };
    const reasons: string[] = [];
    const freshness = new StoreFreshness(publisher, (reason) => reasons.push(reason), 1);
    const served = freshness.check({ bringsVersions: true, isKnown: () => false });
    await turns();
    expect(reasons).toEqual([]);
    await within("the end", served ?? Promise.reject(new Error("it does not wait")));
    expect(reasons).toEqual(["away"]);
  });
});

interface Versions {
  /** The oldest first. */
  readonly known: readonly string[];
  readonly unknown: string;
}

/** Sends a request, and gives the server the time to answer it. */
async function arrivesAt({ server: at }: Served, send: () => RawCall): Promise<RawCall> {
  const arrived = new Promise<void>((resolve) => at.on("request-received", () => resolve()));
  const call = send();
  await arrived;
  await turns();
  return call;
}

/** An answer would be made, and received, in one of these. */
async function turns(): Promise<void> {
  for (let count = 0; count < 20; count++) await turn();
}

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
      kind: fc.constantFrom("lag" as const, "keep-up" as const, "slow" as const, "fast" as const),
      server,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constantFrom("cut" as const, "mend" as const), server }),
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
      if ((await publish(state(published + 1))).kind === "applied") published++;
    } else if (one.kind === "lag") connection.lag();
    else if (one.kind === "keep-up") connection.keepUp();
    else if (one.kind === "slow") connection.delay = () => delay(5);
    else if (one.kind === "fast") connection.delay = () => Promise.resolve();
    else if (one.kind === "cut") connection.cut();
    else if (one.kind === "mend") connection.mend();
    else if (one.kind === "hop") {
      calls[one.client]?.cancel();
      await until("the server is ready", () => at(servers, one.server).server.ledger?.number !== 0);
      calls[one.client] = await arrivesAt(at(servers, one.server), () =>
        subscribe(at(servers, one.server), versions[one.client]),
      );
      // While the store is away it may wait, until a later step or the next hop.
      if (connection.outage === undefined) await take(one.client);
    }
    for (const client of [0, 1, 2]) while ((calls[client]?.waiting ?? 0) > 0) await take(client);
  }
  for (const { peer, server: ended } of all.splice(0)) {
    await peer.close();
    await ended.close();
  }
  return seen;
}

test("a history that cannot be read is an answer with status 503 and the reason", async () => {
  const one = await serve({}, ledger.connect(), { admin: {} });
  const faults: string[] = [];
  one.server.on("invariant-broken", ({ during }) => faults.push(during));
  await one.publish([cluster("a")]);
  await one.publish([cluster("a", "2")]);
  const paths = ["revisions", "revisions/2", "diff?from=1&to=2", "progress/2"];
  const ask = async (path: string): Promise<unknown> => {
    const response = await fetch(`http://${one.admin}/api/v1/${path}`);
    return [response.status, ((await response.json()) as { error?: string }).error];
  };
  one.connection.cut();
  for (const path of paths) expect(await ask(path)).toEqual([503, "the store is unreachable: the engine is away"]);
  one.connection.mend();
  one.connection.read = async function* () {
    yield { number: 2, id: "", text: await Promise.resolve("garbage{") };
  };
  const error = "the ledger cannot be read: record 2 is damaged: expected a record as JSON";
  for (const path of paths) expect(await ask(path)).toEqual([503, error]);
  expect(faults).toEqual([]);
});

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
