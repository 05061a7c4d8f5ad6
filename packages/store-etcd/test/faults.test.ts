import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LedgerStore } from "@xdskit/server";
import type { AppendResult } from "@xdskit/server/ledger-store";
import { openEtcdStore } from "@xdskit/store-etcd";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { describeWith } from "../../../test/e2e/support/peers.ts";
import { add, appended, texts } from "../../server/test/ledger/support/describe-ledger-store.ts";
import { cluster, endpoints, openReplica } from "../../server/test/ledger/support/replica.ts";
import { clusterOf, EtcdMember, etcdTool, startCluster } from "./support/etcd.ts";

/** Resolves when the outage of a store begins or ends. */
async function outageIs(store: LedgerStore, isAway: boolean): Promise<void> {
  while ((store.outage !== undefined) !== isAway) {
    await new Promise<void>((resolve) => {
      const end = store.onOutage?.(() => {
        end?.();
        resolve();
      });
    });
  }
}

/** The member that leads. */
function leaderOf(members: readonly EtcdMember[]): EtcdMember {
  const leader = members.find((member) => {
    const [status] = JSON.parse(member.ctl("endpoint", "status", "--write-out", "json")) as {
      Status: { header: { member_id: number }; leader: number };
    }[];
    return status !== undefined && status.Status.header.member_id === status.Status.leader;
  });
  if (leader === undefined) throw new Error("expected one of the members to lead");
  return leader;
}

describeWith("etcd", "a ledger in an etcd of three members", () => {
  let members: readonly EtcdMember[] = [];
  let stores: LedgerStore[] = [];
  let ledgers = 0;

  const addresses = (): readonly string[] => members.map(({ endpoint }) => endpoint);
  const open = async (timeoutMs = 8_000): Promise<LedgerStore> => {
    const store = await openEtcdStore({ endpoints: addresses(), prefix: `ledger-${ledgers}`, timeoutMs });
    stores.push(store);
    return store;
  };

  beforeAll(async () => {
    members = await startCluster();
  });
  afterAll(async () => {
    await Promise.all(members.map((member) => member.end()));
  });
  beforeEach(() => {
    ledgers++;
  });
  afterEach(async () => {
    await Promise.all(stores.map((store) => store.close()));
    stores = [];
  });

  test("takes appends after the leader is killed, and loses none that it acknowledged", async () => {
    const store = await open();
    await add(store, ["a"], ["A"]);
    const leader = leaderOf(members);
    await leader.kill();
    expect((await add(store, ["b"], ["B"])).number).toBe(2);
    await leader.start(clusterOf(members));
    expect([await texts(store), await store.body("A"), await store.body("B")]).toEqual([
      ["a", "b"],
      Buffer.from("A"),
      Buffer.from("B"),
    ]);
  });

  test("takes appends while the member that it was connected to is stopped", async () => {
    const store = await open();
    await add(store, ["a"]);
    const [first] = members;
    first?.signal("SIGSTOP");
    try {
      expect((await add(store, ["b"])).number).toBe(2);
    } finally {
      first?.signal("SIGCONT");
    }
    expect(await texts(store)).toEqual(["a", "b"]);
  });

  // A call that waits there for its time does not reach the leader that others have elected within a second.
  test("is told at once by a member that has no leader", async () => {
    const [member, ...others] = members as [EtcdMember, ...EtcdMember[]];
    const store = await openEtcdStore({ endpoints: [member.endpoint], prefix: `ledger-${ledgers}`, timeoutMs: 3_000 });
    stores.push(store);
    await add(store, ["a"], ["A"]);
    await Promise.all(others.map((other) => other.kill()));
    await expect(store.refresh?.()).rejects.toThrow("etcd: no leader");
    await Promise.all(others.map((other) => other.start(clusterOf(members))));
    await store.refresh?.();
  });

  test("is an outage without a majority, and goes on after it", async () => {
    const [writer, reader] = [await open(3_000), await open(3_000)];
    const head = await add(writer, ["a"]);
    const [first, second] = members;
    await Promise.all([first?.kill(), second?.kill()]);
    await Promise.all([outageIs(writer, true), outageIs(reader, true)]);
    expect((await writer.append(head, appended(["lost"]))).kind).toBe("unavailable");
    await expect(reader.refresh?.()).rejects.toThrow();
    expect([reader.head, reader.outage?.since]).toEqual([head, expect.any(Date)]);
    await Promise.all([first?.start(clusterOf(members)), second?.start(clusterOf(members))]);
    await Promise.all([outageIs(writer, false), outageIs(reader, false)]);
    await writer.refresh?.();
    const next = await add(writer, ["b"]);
    await reader.whenPast(next.number - 1, AbortSignal.timeout(20_000));
    expect([reader.head, (await texts(reader)).at(-1)]).toEqual([next, "b"]);
  });

  // By the time of day, it went on for an hour.
  test("is an outage within its time, whatever becomes of the clock meanwhile", async () => {
    const store = await open(1_000);
    const head = await add(store, ["a"]);
    await Promise.all(members.map((member) => member.kill()));
    const { now } = Date;
    const began = performance.now();
    const isUnderWay = (): boolean => performance.now() - began > 300;
    const clock = vi.spyOn(Date, "now").mockImplementation(() => now() - (isUnderWay() ? 3_600_000 : 0));
    try {
      expect((await store.append(head, appended(["lost"]))).kind).toBe("unavailable");
      expect(performance.now() - began).toBeLessThan(5_000);
    } finally {
      clock.mockRestore();
      await Promise.all(members.map((member) => member.start(clusterOf(members))));
    }
  });

  test("gives each number to one of the writers that race, while the leader is killed", async () => {
    const writers = await Promise.all([open(), open(), open()]);
    const won: (readonly [number, string])[] = [];
    let unknown = 0;
    const race = async (store: LedgerStore, name: number): Promise<void> => {
      for (let turn = 0; turn < 40; turn++) {
        const text = `${name}:${turn}`;
        const result: AppendResult = await store.append(store.head, appended([text], [text]));
        if (result.kind === "appended") won.push([result.head.number, text]);
        if (result.kind === "unavailable") unknown++;
      }
    };
    const leader = leaderOf(members);
    const races = Promise.all(writers.map(race));
    await writers[0]?.whenPast(5, AbortSignal.timeout(20_000));
    await leader.kill();
    await races;
    await leader.start(clusterOf(members));
    const store = await open();
    const records: (readonly [number, string])[] = [];
    for await (const { number, text } of store.read(0)) records.push([number, text]);
    const kept = new Map(records);
    expect(records.map(([number]) => number)).toEqual(records.map((_, i) => i + 1));
    expect(won.filter(([number, text]) => kept.get(number) !== text)).toEqual([]);
    // An append whose outcome is unknown may have been made.
    expect(records.length - won.length).toBeLessThanOrEqual(unknown);
    for (const [, text] of records) expect(await store.body(text)).toEqual(Buffer.from(text));
  });

  test("has a lease that one holds at a time, and that guards appends", async () => {
    const [one, other] = [await open(), await open()];
    const { signal } = new AbortController();
    const held = await one.lease?.("source").acquire(signal);
    const waiting = other.lease?.("source").acquire(signal);
    const head = (await one.append(one.head, { ...appended(["a"]), lease: held })) as { readonly kind: string };
    expect(head.kind).toBe("appended");
    await held?.release();
    const next = await waiting;
    expect([held?.lost.aborted, next?.lost.aborted, next?.token === held?.token]).toEqual([true, false, false]);
    await one.refresh?.();
    expect(await one.append(one.head, { ...appended(["b"]), lease: held })).toEqual({ kind: "lease-lost" });
    await other.refresh?.();
    expect((await other.append(other.head, { ...appended(["c"]), lease: next })).kind).toBe("appended");
    expect(await texts(other)).toEqual(["a", "c"]);
  });

  test("aborts a lease before etcd gives it to another one", async () => {
    const [one, other] = [await open(), await open()];
    const held = await one.lease?.("source").acquire(new AbortController().signal);
    // Without its lease in etcd, as after an outage for longer than its time to live.
    for (const line of members[0]?.ctl("lease", "list").split("\n") ?? [])
      if (/^[0-9a-f]{10,}$/.test(line)) members[0]?.ctl("lease", "revoke", line);
    const next = await other.lease?.("source").acquire(new AbortController().signal);
    if (held?.lost.aborted === false) await once(held.lost, "abort");
    expect([next?.lost.aborted, await one.append(one.head, { ...appended(["a"]), lease: held })]).toEqual([
      false,
      { kind: "lease-lost" },
    ]);
  });
});

describeWith("etcd", "a ledger in etcd", () => {
  let member: EtcdMember;
  let store: LedgerStore | undefined;
  const open = async (
    options: { readonly prefix?: string; readonly timeoutMs?: number } = {},
  ): Promise<LedgerStore> => {
    store = await openEtcdStore({ endpoints: [member.endpoint], ...options });
    return store;
  };

  afterEach(async () => {
    await store?.close();
    await member.end();
  });

  test("that is full is unavailable with the reason, and loses nothing", async () => {
    member = await EtcdMember.start(["--quota-backend-bytes", String(4 * 1024 * 1024)]);
    const ledger = await open();
    await add(ledger, ["a"], ["A"]);
    const kept = ["a"];
    // How much fits is not certain: etcd compares its size on disk, which is that of its last batch, with the quota.
    const fill = async (): Promise<AppendResult> => {
      const text = `filler ${kept.length}`;
      const bodies = new Map([[text, new Uint8Array(2 * 1024 * 1024)]]);
      const result = await ledger.append(ledger.head, { records: [text], bodies });
      if (result.kind !== "appended") return result;
      kept.push(text);
      return fill();
    };
    const refused = await fill();
    const head = ledger.head;
    const full = { kind: "unavailable", reason: expect.stringMatching(/^etcd is full: its quota is used up/) };
    expect([refused, await ledger.append(head, appended(["c"], ["C"]))]).toEqual([full, full]);
    expect([await texts(ledger), await ledger.body("A"), ledger.head, ledger.outage]).toEqual([
      kept,
      Buffer.from("A"),
      head,
      undefined,
    ]);
  });

  test("that was full goes on once there is room and the alarm is disarmed", async () => {
    member = await EtcdMember.start(["--quota-backend-bytes", String(4 * 1024 * 1024)]);
    const ledger = await open();
    await add(ledger, ["a"], ["A"]);
    const stranger = await openEtcdStore({ endpoints: [member.endpoint], prefix: "stranger" });
    let refused: AppendResult | undefined;
    while (refused?.kind !== "unavailable") {
      const bodies = new Map([[`filler ${stranger.head.number}`, new Uint8Array(2 * 1024 * 1024)]]);
      refused = await stranger.append(stranger.head, { records: ["filler"], bodies });
    }
    await stranger.close();
    expect((await ledger.append(ledger.head, appended(["b"], ["B"]))).kind).toBe("unavailable");
    member.ctl("del", "stranger/", "--prefix");
    const [status] = JSON.parse(member.ctl("endpoint", "status", "--write-out", "json")) as {
      Status: { header: { revision: number } };
    }[];
    member.ctl("compaction", String(status?.Status.header.revision), "--physical");
    member.ctl("defrag");
    member.ctl("alarm", "disarm");
    await add(ledger, ["b"], ["B"]);
    expect([await texts(ledger), await ledger.body("A"), await ledger.body("B")]).toEqual([
      ...[["a", "b"], Buffer.from("A"), Buffer.from("B")],
    ]);
  });

  test("is compacted by one process at a time, and by the next one when that is gone", async () => {
    member = await EtcdMember.start();
    const ledger = await open();
    const head = await add(ledger, ["a"], ["A"]);
    const compact = (): Promise<void> =>
      ledger.compact({ head, text: "a" }, { completeAfter: 1, records: new Set(), bodies: new Set(["A"]) });
    member.ctl("put", "xdskit/leases/compaction", "another process");
    await expect(compact()).rejects.toThrow("another process compacts the ledger");
    expect([await ledger.snapshot(), await texts(ledger)]).toEqual([undefined, ["a"]]);
    member.ctl("del", "xdskit/leases/compaction");
    await compact();
    expect([await ledger.snapshot(), await texts(ledger)]).toEqual([{ head, text: "a" }, []]);
  });

  test("is compacted by the server that publishes, and its followers go on", async () => {
    member = await EtcdMember.start();
    const [ours, theirs] = [await open(), await openEtcdStore({ endpoints: [member.endpoint] })];
    const [publisher, follower] = [await openReplica(ours), await openReplica(theirs)];
    const names = Array.from({ length: 2_500 }, (_, i) => `c${i}`);
    const base = cluster("a");
    for (let i = 0; i < 8; i++) await publisher.publish(base, ...names.map((name) => endpoints(name, `${i}`)));
    await vi.waitFor(async () => expect(await theirs.snapshot()).toBeDefined(), { timeout: 20_000 });
    const { number } = ours.head;
    await vi.waitFor(() => expect(follower.publisher.number).toBe(number), { timeout: 20_000 });
    const kept: number[] = [];
    for await (const record of theirs.read(0)) kept.push(record.number);
    // The live records up to the snapshot are gone, the revision is not.
    const { head } = (await theirs.snapshot()) ?? { head: ours.head };
    expect(kept.filter((one) => one <= head.number)).toEqual([1]);
    expect(follower.states.at(-1)).toBe(publisher.states.at(-1));
    expect([publisher.problems, follower.problems]).toEqual([[], []]);
    await Promise.all([publisher.publisher.close(), follower.publisher.close()]);
  }, 60_000);

  test("of which an old backup was restored has the head of the backup", async () => {
    member = await EtcdMember.start();
    const ledger = await open({ timeoutMs: 2_000 });
    const old = await add(ledger, ["a"], ["A"]);
    const backup = join(mkdtempSync(join(tmpdir(), "xdskit-backup-")), "backup");
    member.ctl("snapshot", "save", backup);
    for (const text of ["b", "c", "d"]) await add(ledger, [text]);
    await member.kill();
    await outageIs(ledger, true);
    rmSync(member.data, { recursive: true });
    const url = `${member.name}=${member.peerUrl}`;
    const as = ["--name", member.name, "--initial-cluster", url, "--initial-advertise-peer-urls", member.peerUrl];
    etcdTool("etcdutl", "snapshot", "restore", backup, "--data-dir", member.data, ...as);
    await member.start();
    await outageIs(ledger, false);
    expect([await ledger.refresh?.(), ledger.head, await texts(ledger)]).toEqual([old, old, ["a"]]);
    rmSync(join(backup, ".."), { recursive: true });
  });

  test("whose head goes back without an outage is another history at once, and followed again once it is adopted", async () => {
    member = await EtcdMember.start();
    const writer = await openReplica(await open());
    for (const text of ["1", "2", "3"]) await writer.publish(cluster("a", text));
    const followed = await openEtcdStore({ endpoints: [member.endpoint] });
    const follower = await openReplica(followed);
    const operator = await openEtcdStore({ endpoints: [member.endpoint] });
    expect((await operator.clear(operator.head)).kind).toBe("appended");
    await vi.waitFor(() => expect(follower.publisher.stop).toMatchObject({ why: "other-history" }), {
      timeout: 10_000,
    });
    const other = await openReplica(operator);
    await other.publish(cluster("a", "4"));
    expect(follower.states.at(-1)).toBe("a=3");
    expect(await follower.publisher.adopt()).toBeUndefined();
    await other.publish(cluster("a", "5"));
    await vi.waitFor(() => expect(follower.states.at(-1)).toBe("a=5"), { timeout: 5_000 });
    await Promise.all([writer, follower, other].map(({ publisher }) => publisher.close()));
  });

  test("with another epoch is an outage, and is not written", async () => {
    member = await EtcdMember.start();
    const ledger = await open();
    const head = await add(ledger, ["a"]);
    member.ctl("del", "xdskit/", "--prefix");
    const other = await openEtcdStore({ endpoints: [member.endpoint] });
    const reason = "etcd has another ledger than before: its epoch is another one";
    expect(await ledger.append(head, appended(["b"]))).toEqual({ kind: "unavailable", reason });
    expect([ledger.outage?.reason, ledger.head, await other.refresh?.()]).toEqual([
      reason,
      head,
      { number: 0, id: "" },
    ]);
    await other.close();
  });

  test("is read and watched across etcd's own compaction", async () => {
    member = await EtcdMember.start();
    const ledger = await open();
    const many = Array.from({ length: 60 }, (_, i) => `record ${i + 1}`);
    for (const text of many) await add(ledger, [text]);
    const other = await openEtcdStore({ endpoints: [member.endpoint] });
    const read: string[] = [];
    for await (const { text } of other.read(0)) {
      read.push(text);
      if (read.length !== 3) continue;
      await add(ledger, ["later"]);
      const [status] = JSON.parse(member.ctl("endpoint", "status", "--write-out", "json")) as {
        Status: { header: { revision: number } };
      }[];
      member.ctl("compaction", String(status?.Status.header.revision), "--physical");
    }
    expect(read).toEqual(many);
    await member.kill();
    await member.start();
    const head = await add(ledger, ["last"]);
    await other.whenPast(head.number - 1, AbortSignal.timeout(20_000));
    expect(other.head).toEqual(head);
    await other.close();
  });

  test("has ledgers that know nothing of each other", async () => {
    member = await EtcdMember.start();
    const [one, other] = [
      await open({ prefix: "a" }),
      await openEtcdStore({ endpoints: [member.endpoint], prefix: "ab" }),
    ];
    await add(one, ["a"], ["A"]);
    const head = await add(one, ["b"]);
    await one.compact({ head, text: "ab" }, { completeAfter: 0, records: new Set(), bodies: new Set() });
    expect([await one.body("A"), await texts(other), await other.body("A")]).toEqual([undefined, [], undefined]);
    await other.close();
  });

  test("takes 20,000 bodies in one append, and leaves none of an append that lost behind", async () => {
    member = await EtcdMember.start();
    const ledger = await open();
    const bodies = new Map(Array.from({ length: 20_000 }, (_, i) => [`body-${i}`, Buffer.from(`content ${i}`)]));
    const result = await ledger.append(ledger.head, { records: ["many"], bodies });
    expect(result.kind).toBe("appended");
    for (const i of [0, 9_999, 19_999]) expect(await ledger.body(`body-${i}`)).toEqual(Buffer.from(`content ${i}`));
    const other = await openEtcdStore({ endpoints: [member.endpoint] });
    const [won, lost] = await Promise.all([
      other.append(ledger.head, appended(["won"])),
      ledger.append(ledger.head, { records: ["lost"], bodies: new Map([["orphan", new Uint8Array(2_000_000)]]) }),
    ]);
    expect([won.kind, lost.kind]).toEqual(["appended", "conflict"]);
    const head = await add(ledger, ["next"]);
    await ledger.compact({ head, text: "all" }, { completeAfter: 0, records: new Set(), bodies: new Set(["body-1"]) });
    const keys = member
      .ctl("get", "xdskit/", "--prefix", "--keys-only")
      .split("\n")
      .filter((line) => line !== "");
    expect(keys.map((key) => key.replace(/[0-9a-f]{24}/, "blob"))).toEqual([
      "xdskit/bodies/body-1",
      "xdskit/chunks/blob/0000000000000000",
      "xdskit/epoch",
      "xdskit/head",
      "xdskit/snapshot",
    ]);
    await other.close();
  });
});
