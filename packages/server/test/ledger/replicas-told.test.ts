import { expect, test } from "vitest";
import { describeReplicas, replicasOf } from "../../src/admin/describe-replicas.ts";
import { MemoryLedgerStore } from "../../src/ledger/memory-store.ts";
import {
  formatReplica,
  parseReplica,
  type ReplicaFacts,
  type ReplicaState,
  Replicas,
  readReplicas,
} from "../../src/ledger/replicas.ts";
import type { StoreMembers } from "../../src/ledger/store.ts";

/** A replica whose clock and state the test sets, and how often it told something. */
function scene() {
  const store = new MemoryLedgerStore();
  const told: string[] = [];
  let now = Date.parse("2026-01-01T00:00:00Z");
  let counts = { nodes: 0, deployed: 0, connections: 0 };
  let facts: Omit<ReplicaFacts, "members"> = {
    ...{ address: "10.0.0.1:18000", role: "follower", number: 1, head: 1, stoppedSince: undefined },
  };
  let isAway = false;
  let isCountable = true;
  const counted: number[] = [];
  const members: ReplicaFacts["members"] = {
    async announce(id, text) {
      if (isAway) throw new Error("the engine is away");
      told.push(text);
      await store.members.announce(id, text);
    },
    list: () => store.members.list(),
  };
  const replicas = new Replicas({
    version: "1.2.3",
    facts: () => ({ ...facts, members }),
    sessions: { count: () => (isCountable ? Promise.resolve(counts) : Promise.reject(new Error("a worker failed"))) },
    onCounted: (told) => counted.push(told.connections),
    now: () => new Date(now),
  });
  return {
    ...{ store, told, replicas, counted },
    fail: (does: boolean) => {
      isCountable = !does;
    },
    count: (nodes: number, deployed: number) => {
      counts = { nodes, deployed, connections: nodes };
    },
    set: (changed: Partial<typeof facts>) => {
      facts = { ...facts, ...changed };
    },
    cut: (is: boolean) => {
      isAway = is;
    },
    /** Lets seconds pass, with a look at each. */
    async pass(seconds: number): Promise<void> {
      for (let i = 0; i < seconds; i++) {
        now += 1_000;
        await replicas.look();
      }
    },
    at: (seconds: number) => new Date(Date.parse("2026-01-01T00:00:00Z") + seconds * 1_000),
  };
}

test("a replica tells its record within a second, its nodes within five, and nothing while nothing changes", async () => {
  const { told, pass, set, count } = scene();
  const numbers = (): readonly (readonly [number, number])[] =>
    told.map((text) => {
      const { number, nodes } = JSON.parse(text) as ReplicaState;
      return [number, nodes];
    });
  await pass(30);
  expect(numbers()).toEqual([[1, 0]]);
  for (let i = 1; i <= 10; i++) {
    count(i, i);
    await pass(1);
  }
  expect(numbers().length).toBe(3);
  for (let i = 2; i <= 1_000; i++) set({ number: i, head: i });
  await pass(1);
  expect(numbers().slice(3)).toEqual([[1_000, 10]]);
});

test("a replica that could not tell does so once the engine is there", async () => {
  const { told, pass, cut } = scene();
  cut(true);
  await pass(5);
  expect(told).toEqual([]);
  cut(false);
  await pass(1);
  expect(told).toHaveLength(1);
});

test("what cannot be counted is told as it was, and counted again five seconds later", async () => {
  const { replicas, counted, count, fail, pass } = scene();
  count(3, 2);
  await pass(1);
  fail(true);
  count(4, 4);
  await pass(5);
  expect(counted).toEqual([3]);
  fail(false);
  await pass(5);
  expect([counted, (await replicas.own()).nodes]).toEqual([[3, 4], 4]);
});

test("all replicas are listed with what they lack, and since when", async () => {
  const { store, replicas, pass, set, at } = scene();
  await pass(1);
  set({ head: 4 });
  await pass(3);
  const other: ReplicaState = {
    ...{ id: "other", name: "b", address: undefined, version: "2", role: "publisher", startedAt: at(0), number: 4 },
    ...{ numberSince: at(2), behindSince: undefined, stoppedSince: at(3), nodes: 7, deployed: 5, connections: 7 },
  };
  await store.members.announce("other", formatReplica(other));
  await store.members.announce("newer", '{"form":2}');
  await store.members.announce("damaged", "{");
  const [own] = (await replicas.list()).replicas;
  const all = [{ ...own, behindSince: at(2), numberSince: at(1) }, other];
  expect(await replicas.list()).toEqual({ replicas: all, lost: [] });
  expect(parseReplica("other", formatReplica(other))).toEqual(other);
  const answer = await replicasOf(store);
  expect([answer.head, answer.replicas.map(({ id, lag, lagSince }) => [id === "other", lag, lagSince])]).toEqual([
    4,
    expect.arrayContaining([
      [true, 0, undefined],
      [false, 3, at(2).toISOString()],
    ]),
  ]);
});

test("a replica that is only kept is lost, unless it was started again on the same host and port", async () => {
  const { at } = scene();
  const state = (id: string, name: string, address: string | undefined, startedAt: number): ReplicaState => ({
    ...{ id, name, address, version: "1", role: "follower", startedAt: at(startedAt), number: 4, numberSince: at(2) },
    ...{ behindSince: undefined, stoppedSince: undefined, nodes: 7, deployed: 5, connections: 7 },
  });
  const [a, b, c, d] = [
    state("a", "xds-0", "10.0.0.1:18000", 10),
    state("b", "xds-1", "10.0.0.2:18000", 10),
    state("c", "xds-0", "10.0.0.9:18000", 5),
    state("d", "xds-0", "10.0.0.1:18001", 5),
  ];
  const told = (...states: readonly ReplicaState[]) =>
    Promise.resolve(new Map(states.map((one) => [one.id, formatReplica(one)])));
  const members: StoreMembers = {
    announce: () => Promise.resolve(),
    list: () => told(a),
    listKept: () => told(a, b, c, d),
  };
  expect(await readReplicas(members)).toEqual({ replicas: [a], lost: [b, d] });
  expect(await readReplicas(members, "b")).toEqual({ replicas: [a], lost: [d] });
  expect(describeReplicas({ replicas: [a], lost: [d, b] }, 4).lost).toEqual([
    {
      ...{ id: "d", name: "xds-0", address: "10.0.0.1:18001", version: "1", role: "follower" },
      ...{ startedAt: at(5).toISOString(), number: 4, nodes: 7 },
    },
    {
      ...{ id: "b", name: "xds-1", address: "10.0.0.2:18000", version: "1", role: "follower" },
      ...{ startedAt: at(10).toISOString(), number: 4, nodes: 7 },
    },
  ]);
});
