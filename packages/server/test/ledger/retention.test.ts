import { formatTypeUrl } from "@xdskit/protocol";
import { type Entry, type EntryChange, type LedgerRecord, LedgerState } from "@xdskit/protocol/internal";
import { describe, expect, test } from "vitest";
import { DirectoryLedgerStore } from "../../src/ledger/directory-store.ts";
import { MemoryLedgerStore } from "../../src/ledger/memory-store.ts";
import { Compactor, DEFAULT_RETENTION, keptOf, recordsOf } from "../../src/ledger/retention.ts";
import type { LedgerStore } from "../../src/ledger/store.ts";
import { Slices } from "../../src/slices.ts";
import { bytesOf } from "./support/describe-ledger-store.ts";
import { MemoryFiles } from "./support/memory-files.ts";

const CLUSTER = formatTypeUrl("envoy.config.cluster.v3.Cluster");
const ENDPOINTS = formatTypeUrl("envoy.config.endpoint.v3.ClusterLoadAssignment");
const DAY_MS = 24 * 60 * 60_000;

const entry = (version: string, name: string): Entry => ({ version, body: `${name}-${version}`, size: 1 });
function change(name: string, before: string | undefined, after: string | undefined, type = CLUSTER): EntryChange {
  const at = (version: string | undefined): Entry | undefined =>
    version === undefined ? undefined : entry(version, name);
  return { layer: "base", type, name, before: at(before), after: at(after) };
}

const origin = { writer: "api" };
/** A day lies between two records. */
const timeOf = (number: number): number => number * DAY_MS;
const revision = (number: number, ...changes: readonly EntryChange[]): LedgerRecord => ({
  kind: "revision",
  number,
  time: timeOf(number),
  origin,
  changes,
});
const live = (number: number, ...changes: readonly EntryChange[]): LedgerRecord => ({
  kind: "live",
  number,
  time: timeOf(number),
  origin,
  changes,
});

function fold(records: readonly LedgerRecord[]): LedgerState {
  const state = LedgerState.empty();
  for (const record of records) expect(state.apply(record).applied).toBe(true);
  return state;
}

async function* each(records: readonly LedgerRecord[]): AsyncIterable<LedgerRecord> {
  for (const record of records) yield await Promise.resolve(record);
}

describe("what a ledger keeps of the past", () => {
  const trips = [{ fuse: "resources-removed", message: "half of the clusters" }];
  const past: readonly LedgerRecord[] = [
    revision(1, change("a", undefined, "1")),
    live(2, change("e", undefined, "1", ENDPOINTS)),
    revision(3, change("a", "1", "2")),
    { kind: "held", number: 4, time: timeOf(4), origin, changes: [change("b", undefined, "1")], trips },
    { kind: "rejected", number: 5, time: timeOf(5), of: 4 },
    {
      kind: "rolled-back",
      number: 6,
      time: timeOf(6),
      to: 1,
      changes: [change("a", "2", "1")],
      pins: [{ layer: "base", type: CLUSTER, name: "a", version: "2" }],
    },
    live(7, change("e", "1", "2", ENDPOINTS)),
    revision(8, change("c", undefined, "1")),
    { kind: "held", number: 9, time: timeOf(9), origin, changes: [change("d", undefined, "1")], trips },
    revision(10, change("c", "1", "2")),
  ];
  // A revision from elsewhere leaves what is held.
  const records = past.map(
    (record): LedgerRecord =>
      record.kind === "held" && record.number === 9 ? { ...record, origin: { writer: "directory" } } : record,
  );
  const kept = async (retention: Partial<typeof DEFAULT_RETENTION>, now = timeOf(10)) => {
    const {
      records: numbers,
      bodies,
      completeAfter,
    } = await keptOf(
      each(records),
      fold(records).toSnapshot(),
      { ...DEFAULT_RETENTION, ...retention },
      { now, completeAfter: 0, slices: new Slices() },
    );
    return { completeAfter, numbers: [...numbers], bodies: [...bodies].toSorted() };
  };
  const inForce = ["a-1", "c-2", "d-1", "e-2"];

  test("is every revision and decision within its limits, and the bodies before and after them, but no live data", async () => {
    expect(await kept({})).toEqual({
      completeAfter: 0,
      numbers: [1, 3, 4, 5, 6, 8, 9, 10],
      bodies: ["a-1", "a-2", "b-1", "c-1", "c-2", "d-1", "e-2"],
    });
  });

  test("is always the newest, the held one, and a rollback whose pins are in force", async () => {
    const least = { completeAfter: 9, numbers: [6, 9, 10], bodies: [...inForce, "a-2", "c-1"].toSorted() };
    expect([await kept({ revisions: 1 }), await kept({}, timeOf(100))]).toEqual([least, least]);
  });

  test("is so many, and of so many days", async () => {
    const { numbers, completeAfter } = await kept({ revisions: 3 });
    expect([numbers, completeAfter]).toEqual([[6, 8, 9, 10], 6]);
    expect((await kept({ days: 2 })).numbers).toEqual([6, 8, 9, 10]);
  });

  test("has with a decision what it was about", async () => {
    expect((await kept({ days: 5 })).numbers).toEqual([4, 5, 6, 8, 9, 10]);
  });
});

describe("a ledger under live changes without end", () => {
  /** Each round changes one of ten assignments; a revision comes now and then. */
  async function run(store: LedgerStore, rounds: number): Promise<LedgerState> {
    const state = LedgerState.empty();
    const compactor = new Compactor({
      store,
      retention: { revisions: 5, days: 30 },
      onProblem: (message) => expect.unreachable(message),
    });
    for (let round = 0; round < rounds; round++) {
      const group: LedgerRecord[] = [];
      for (let i = 0; i < 500; i++) {
        const number = state.number + 1;
        const isRevision = number % 1_000 === 1;
        const name = isRevision ? "cluster" : `endpoints-${number % 10}`;
        const place = { layer: "base", type: isRevision ? CLUSTER : ENDPOINTS, name };
        const before = state.entry(place);
        const record: LedgerRecord = {
          kind: isRevision ? "revision" : "live",
          number,
          time: Date.now(),
          origin,
          changes: [{ ...place, before, after: entry(`${number}`, name) }],
        };
        expect(state.apply(record).applied).toBe(true);
        group.push(record);
      }
      const names = group.flatMap((record) =>
        "changes" in record ? record.changes.map(({ after }) => after?.body ?? "") : [],
      );
      const bodies = new Map(names.map((body) => [body, bytesOf(body)]));
      await store.append(store.head, { records: group.map((record) => JSON.stringify(record)), bodies });
      for (const record of group) compactor.count(record);
      await compactor.compactIfDue(state, new Slices());
      await compactor.settled();
    }
    return state;
  }

  async function expectWhole(store: LedgerStore, state: LedgerState): Promise<void> {
    const snapshot = await store.snapshot();
    expect(snapshot).toBeDefined();
    const again = LedgerState.fromSnapshot(JSON.parse(snapshot?.text ?? ""));
    for await (const record of recordsOf(store, again.number)) expect(again.apply(record).applied).toBe(true);
    expect(again.toSnapshot()).toEqual(state.toSnapshot());
    for (const { entry: placed } of state.entries())
      expect(Buffer.from((await store.body(placed.body ?? "")) ?? []).toString()).toBe(placed.body);
  }

  test("has a size on disk that does not grow", async () => {
    const files = new MemoryFiles();
    const store = await DirectoryLedgerStore.open(files, { onProblem: () => undefined });
    const sizes: number[] = [];
    files.before = ({ kind }) => {
      if (kind === "remove") sizes.push(files.size);
    };
    const state = await run(store, 50);
    await expectWhole(store, state);
    await store.close();
    // Numbers of five digits are longer than those of four.
    expect(sizes.length).toBeGreaterThan(10);
    expect(sizes.at(-1)).toBeLessThan((sizes[0] ?? 0) * 1.2);
    expect((await files.list()).length).toBe(4);
  });

  test("is read from its snapshot and what came since as what it is", async () => {
    const store = new MemoryLedgerStore();
    const state = await run(store, 60);
    await expectWhole(store, state);
    const before: number[] = [];
    const from = (await store.snapshot())?.head.number ?? 0;
    for await (const { number } of store.read(0)) if (number <= from) before.push(number);
    const revisions = Array.from({ length: 30 }, (_, i) => i * 1_000 + 1).filter((number) => number <= from);
    expect(before).toEqual(revisions.slice(-5));
  });
});

test("a first load is not compacted; what replaces as much of it is", async () => {
  const store = new MemoryLedgerStore();
  const state = LedgerState.empty();
  const onProblem = (message: string): void => expect.unreachable(message);
  const compactor = new Compactor({ store, retention: DEFAULT_RETENTION, onProblem });
  const add = async (before: string | undefined, after: string): Promise<number | undefined> => {
    const changes = Array.from({ length: 12_000 }, (_, i) => change(`cluster-${i}`, before, after));
    const record = revision(state.number + 1, ...changes);
    expect(state.apply(record).applied).toBe(true);
    await store.append(store.head, { records: [JSON.stringify(record)], bodies: new Map() });
    compactor.count(record);
    await compactor.compactIfDue(state, new Slices());
    await compactor.settled();
    return (await store.snapshot())?.head.number;
  };
  expect([await add(undefined, "1"), await add("1", "2")]).toEqual([undefined, 2]);
});
