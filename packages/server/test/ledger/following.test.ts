import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { cluster, endpoints, openReplica, type Replica, secret } from "./support/replica.ts";
import { type LedgerConnection, SharedLedger } from "./support/shared-ledger.ts";

let ledger: SharedLedger;
const replicas: Replica[] = [];

async function replica(connection: LedgerConnection = ledger.connect(), options = {}): Promise<Replica> {
  const opened = await openReplica(connection, options);
  replicas.push(opened);
  return opened;
}

const reaches = (one: Replica, number: number): Promise<void> =>
  vi.waitFor(() => expect(one.publisher.number).toBe(number), { interval: 1 });

beforeEach(() => {
  ledger = new SharedLedger();
});
afterEach(async () => {
  for (const { publisher } of replicas.splice(0)) await publisher.close();
});

describe("a follower", () => {
  test("puts in force what another server publishes, in order, and judges nothing", async () => {
    const [writer, follower] = [await replica(), await replica()];
    await writer.publish(cluster("a"));
    await writer.publish(cluster("a", "2"), cluster("b"));
    await reaches(follower, 2);
    expect(follower.states).toEqual(["a=", "a=2 b="]);
    expect(follower.recorded).toEqual(["1 revision 1", "2 revision 2"]);
    expect(follower.judged).toEqual([]);
    expect(writer.judged).toEqual([0, 1]);
  });

  test("shows what is held and what is decided, and may decide", async () => {
    const [writer, follower] = [await replica(), await replica()];
    const many = Array.from({ length: 20 }, (_, i) => cluster(`c${i}`));
    await writer.publish(...many);
    expect(await writer.publish(...many.slice(15))).toMatchObject({ kind: "held", number: 2 });
    await reaches(follower, 2);
    expect(follower.publisher.held).toMatchObject({ number: 2, trips: [{ fuse: "resources-removed" }] });
    expect(follower.states).toHaveLength(1);
    expect(await follower.publisher.approve(2, { author: "ann" })).toMatchObject({ kind: "applied", number: 3 });
    await reaches(writer, 3);
    expect(writer.states.at(-1)).toBe("c15= c16= c17= c18= c19=");
    expect(follower.states.at(-1)).toBe(writer.states.at(-1));
    expect([writer.publisher.held, follower.publisher.held]).toEqual([undefined, undefined]);
  });

  test("on standby knows how its files differ from what is in force, also by endpoints alone", async () => {
    const [writer, standby] = [await replica(), await replica(undefined, { mayPublish: () => false })];
    const why = "the files differ from what is in force: this server is on standby, without the lease to publish them";
    await writer.publish(cluster("a"), endpoints("a", "1"));
    await reaches(standby, 1);
    expect(await standby.publish(cluster("a"), endpoints("a", "1"))).toMatchObject({ kind: "standby" });
    expect(await standby.publisher.sourceDifference()).toBeUndefined();
    await standby.publish(cluster("a"), endpoints("a", "2"));
    expect(await standby.publisher.sourceDifference()).toBe(why);
    await writer.publish(cluster("a"), endpoints("a", "2"));
    await reaches(standby, 2);
    expect(await standby.publisher.sourceDifference()).toBeUndefined();
    await writer.publish(cluster("b"));
    await vi.waitFor(async () => expect(await standby.publisher.sourceDifference()).toBe(why), { interval: 1 });
  });

  test("that starts late reads the snapshot and what came after it", async () => {
    const writer = await replica();
    for (const text of ["1", "2", "3"]) await writer.publish(cluster("a", text));
    const late = await replica();
    expect(late.states).toEqual(["a=3"]);
    expect(late.recorded).toEqual(["resumed 3 1 0"]);
  });

  test("behind a compaction takes the difference at once", async () => {
    const connection = ledger.connect();
    const [writer, follower] = [await replica(), await replica(connection)];
    await writer.publish(cluster("a"), endpoints("a", "1"));
    await reaches(follower, 1);
    connection.lag();
    await writer.publish(cluster("a"), endpoints("a", "2"));
    await writer.publish(cluster("a"), cluster("b"), endpoints("a", "3"));
    const { store } = ledger;
    const state = await stateOf(store);
    await store.compact(
      { head: store.head, text: state },
      { completeAfter: 0, records: new Set([1]), bodies: new Set(state.match(/[0-9a-f]{32}/g)) },
    );
    connection.keepUp();
    await reaches(follower, 4);
    expect(follower.states.slice(1)).toEqual(["a/eds=3 a= b="]);
    expect(follower.publisher.stop).toBeUndefined();
  });

  test("keeps silent about a Secret that the store does not have", async () => {
    const [writer, follower] = [await replica(), await replica()];
    await writer.publish(cluster("a"), secret("key", "k"));
    await reaches(follower, 1);
    expect(follower.publisher.missing).toMatchObject([{ layer: "base", name: "key" }]);
    expect(follower.states.at(-1)).toBe("a=");
    // Its own copy of the source has it.
    expect(await follower.publish(cluster("a"), secret("key", "k"))).toMatchObject({ kind: "unchanged", number: 1 });
    expect(follower.publisher.missing).toEqual([]);
    expect(follower.states.at(-1)).toBe("a= key/sds=k");
  });

  test("stops at a record of a kind that it does not know, and says so once", async () => {
    const [writer, follower] = [await replica(), await replica()];
    await writer.publish(cluster("a"));
    await reaches(follower, 1);
    const { store } = ledger;
    await store.append(store.head, { records: ['{"kind":"wave","number":2,"time":1}'], bodies: new Map() });
    ledger.moved();
    await vi.waitFor(() => expect(follower.publisher.stop).toMatchObject({ why: "unknown-record" }));
    expect(follower.problems).toEqual([
      'record 2 cannot be understood: the record after 1 cannot be read: its kind "wave" is not known; nothing after it is applied',
    ]);
    expect(await follower.publish(cluster("b"))).toMatchObject({ kind: "refused" });
    expect([follower.publisher.number, follower.states]).toEqual([1, ["a="]]);
  });

  test("stops before a record that it cannot put in force", async () => {
    const writer = await replica();
    const follower = await replica(ledger.connect(), { refuses: (name: string) => name === "b" });
    await writer.publish(cluster("a"));
    await writer.publish(cluster("a"), cluster("b"));
    await vi.waitFor(() => expect(follower.publisher.stop).toMatchObject({ why: "not-applicable" }));
    expect([follower.publisher.number, follower.states]).toEqual([1, ["a="]]);
  });

  test("does not apply a restored backup until it is adopted", async () => {
    const connection = ledger.connect();
    const [writer, follower] = [await replica(), await replica(connection)];
    for (const text of ["1", "2", "3"]) await writer.publish(cluster("a", text));
    await reaches(follower, 3);
    connection.cut();
    await ledger.restore(1);
    connection.mend();
    await vi.waitFor(() => expect(follower.publisher.stop).toMatchObject({ why: "other-history" }));
    expect(follower.states.at(-1)).toBe("a=3");
    expect(follower.problems.at(-1)).toContain("nothing of it is applied until it is adopted");
    // Another server goes on with the backup.
    const other = await replica();
    for (const text of ["4", "5", "6"]) await other.publish(cluster("a", text));
    expect(await follower.publish(cluster("a", "7"))).toMatchObject({ kind: "refused" });
    expect(follower.states.at(-1)).toBe("a=3");
    expect(await follower.publisher.adopt()).toBeUndefined();
    expect(follower.states.at(-1)).toBe("a=6");
    expect([follower.publisher.number, follower.publisher.stop]).toEqual([4, undefined]);
  });
});

test("a restored backup that went on is another history, though it is longer", async () => {
  const connection = ledger.connect();
  const [writer, follower] = [await replica(), await replica(connection)];
  for (const text of ["1", "2", "3"]) await writer.publish(cluster("a", text));
  await reaches(follower, 3);
  connection.cut();
  await ledger.restore(1);
  const other = await replica();
  for (const text of ["4", "5", "6", "7"]) await other.publish(cluster("a", text));
  connection.mend();
  await vi.waitFor(() => expect(follower.publisher.stop).toMatchObject({ why: "other-history" }));
  expect(follower.states).toEqual(["a=1", "a=2", "a=3"]);
});

describe("servers that publish at the same time", () => {
  test("lose nothing: who is second plans again upon what the first one wrote", async () => {
    const [one, other] = [await replica(), await replica()];
    const change = (at: Replica, name: string) =>
      at.publisher.publish({ changes: [{ layer: "base", puts: [cluster(name)] }], origin: { writer: "api" } });
    const results = await Promise.all([change(one, "a"), change(other, "b"), change(one, "c"), change(other, "d")]);
    expect(results.map(({ kind }) => kind)).toEqual(["applied", "applied", "applied", "applied"]);
    await Promise.all([reaches(one, 4), reaches(other, 4)]);
    expect([one.states.at(-1), other.states.at(-1)]).toEqual(["a= b= c= d=", "a= b= c= d="]);
    expect([...one.problems, ...other.problems]).toEqual([]);
  });

  test("with an old copy of the source roll nothing back", async () => {
    const [one, other] = [await replica(), await replica()];
    await other.publish(cluster("a", "1"));
    await one.publish(cluster("a", "2"));
    await one.publish(cluster("a", "3"));
    expect(await other.publish(cluster("a", "2"))).toMatchObject({ kind: "held", trips: [{ fuse: "stale-source" }] });
    expect(await other.publish(cluster("a", "3"))).toMatchObject({ kind: "unchanged" });
    expect(await other.publish(cluster("a", "4"))).toMatchObject({ kind: "applied" });
  });

  test("need the lease where there is one", async () => {
    const connection = ledger.connect();
    const lease = await connection.lease("source").acquire(new AbortController().signal);
    const writer = await replica(connection, { mayPublish: () => lease });
    const follower = await replica(ledger.connect(), { mayPublish: () => false });
    expect(await writer.publish(cluster("a"))).toMatchObject({ kind: "applied" });
    expect(await follower.publish(cluster("b"))).toMatchObject({ kind: "standby" });
    // It was stopped, and does not know that it lost the lease.
    connection.expireLeases();
    expect(await writer.publish(cluster("b"))).toMatchObject({ kind: "refused" });
    expect(ledger.store.head.number).toBe(1);
  });
});

describe("while the engine is away", () => {
  test("live data of the source is sent, and nothing else; back, all of it is recorded", async () => {
    const connection = ledger.connect();
    const [one, other] = [await replica(connection), await replica()];
    await one.publish(cluster("a"), endpoints("a", "1"));
    connection.cut();
    const next = [cluster("a", "2"), endpoints("a", "2")];
    expect(await one.publish(...next)).toEqual({ kind: "unavailable", reason: "the engine is away" });
    expect(one.states.at(-1)).toBe("a/eds=2 a=");
    expect(await one.publisher.rollback(1)).toMatchObject({ kind: "unavailable" });
    await other.publisher.publish({ changes: [{ layer: "dns", puts: [cluster("d")] }], origin: { writer: "api" } });
    connection.mend();
    await reaches(one, 2);
    expect(one.states.at(-1)).toBe("a/eds=2 a= d=");
    expect(await one.publish(...next)).toMatchObject({ kind: "applied", number: 4 });
    await reaches(other, 4);
    expect(other.states.at(-1)).toBe("a/eds=2 a=2 d=");
    expect(one.states.at(-1)).toBe(other.states.at(-1));
  });

  test("an append that finds it out loses nothing", async () => {
    const connection = ledger.connect();
    const one = await replica(connection);
    await one.publish(cluster("a"), endpoints("a", "1"));
    let isAway = true;
    connection.delay = () => (isAway ? Promise.reject(new Error("timeout")) : Promise.resolve());
    for (const text of ["2", "3", "2"])
      expect(await one.publish(cluster("a", text), endpoints("a", text))).toEqual({
        kind: "unavailable",
        reason: expect.stringContaining("timeout"),
      });
    expect(one.states.slice(1)).toEqual(["a/eds=2 a=", "a/eds=3 a=", "a/eds=2 a="]);
    isAway = false;
    expect(await one.publish(cluster("a", "2"), endpoints("a", "2"))).toMatchObject({ kind: "applied", number: 3 });
    expect(one.states.at(-1)).toBe("a/eds=2 a=2");
  });

  test("live data that the source took back is taken back when the engine is there", async () => {
    const connection = ledger.connect();
    const one = await replica(connection);
    await one.publish(cluster("a"), endpoints("a", "1"));
    connection.cut();
    await one.publish(cluster("a"), endpoints("a", "2"), endpoints("b", "2"));
    connection.mend();
    expect(await one.publish(cluster("a"), endpoints("a", "1"))).toMatchObject({ kind: "unchanged", number: 1 });
    expect(one.states.at(-1)).toBe("a/eds=1 a=");
  });

  test("live data gives way to what is recorded where another server publishes then", async () => {
    const connection = ledger.connect();
    let mayPublish = true;
    const one = await replica(connection, { mayPublish: () => mayPublish });
    await one.publish(cluster("a"), endpoints("a", "1"));
    connection.cut();
    await one.publish(cluster("a"), endpoints("a", "2"));
    mayPublish = false;
    connection.mend();
    await vi.waitFor(() => expect(one.states.at(-1)).toBe("a/eds=1 a="));
  });
});

async function stateOf(store: SharedLedger["store"]): Promise<string> {
  const { readLedger } = await import("../../src/ledger/reading.ts");
  return JSON.stringify((await readLedger(store)).state.toSnapshot());
}
