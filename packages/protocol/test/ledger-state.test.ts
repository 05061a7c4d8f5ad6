import { LedgerState } from "@xdskit/protocol/internal";
import { describe, expect, test } from "vitest";
import { added, change, entry, MINUTE, origin, placement, versionsOf, Writer } from "./support/records.ts";
import { CLUSTER, ENDPOINTS } from "./support/resources.ts";
import { Work } from "./support/work.ts";

const trips = [{ fuse: "resources-removed", message: "2 of 2 gone" }];
const stale = { layer: "base", type: CLUSTER, name: "a", version: "2" };

function started(): { readonly state: LedgerState; readonly writer: Writer } {
  const state = LedgerState.empty();
  const writer = new Writer(state);
  writer.revision([change("a", undefined, "1"), change("b", undefined, "1")], placement("edge"));
  return { state, writer };
}

test("a revision puts changes and a placement in force and records the writer of its layers", () => {
  const { state, writer } = started();
  writer.append({
    kind: "revision",
    origin: { writer: "api" },
    changes: [change("x", undefined, "1", { layer: "node/x" })],
  });
  expect(versionsOf(state)).toEqual({ "base Cluster a": "1", "base Cluster b": "1", "node/x Cluster x": "1" });
  expect([state.number, state.time, state.placement]).toEqual([2, 2 * MINUTE, placement("edge")]);
  expect(["directory", "api", "other"].map((name) => state.layersOf(name))).toEqual([["base"], ["node/x"], []]);
});

test.each([
  [
    "a kind of a newer version",
    { kind: "wave-released", number: 2, time: 1 },
    'the record after 1 cannot be read: its kind "wave-released" is not known',
  ],
  ["a gap", { kind: "unpinned", number: 3, time: 1, pins: [] }, "a record has the number 3, where 2 is next"],
  ["a repetition", { kind: "unpinned", number: 1, time: 1, pins: [] }, "a record has the number 1, where 2 is next"],
  [
    "a decision on what is not held",
    { kind: "approved", number: 2, time: 1, of: 1 },
    "2 is a decision on 1, which is not held",
  ],
  [
    "a rollback to the future",
    { kind: "rolled-back", number: 2, time: 1, to: 2, changes: [], pins: [] },
    "2 goes back to 2, which was never reached",
  ],
  [
    "an entry without a version",
    {
      kind: "live",
      number: 2,
      time: 1,
      origin,
      changes: [{ layer: "base", type: CLUSTER, name: "a", after: { size: 1 } }],
    },
    "the record after 1 cannot be read: its changes[0] is malformed",
  ],
])("%s is refused with a reason and changes nothing", (_, record, reason) => {
  const { state } = started();
  const before = state.toSnapshot();
  expect(state.apply(record as never)).toEqual({ applied: false, reason });
  expect(state.toSnapshot()).toEqual(before);
});

test("a snapshot of another form is refused", () => {
  expect(() => LedgerState.fromSnapshot({ ...LedgerState.empty().toSnapshot(), form: 2 as 1 })).toThrow(RangeError);
});

describe("a held change", () => {
  const gone = [change("a", "1", undefined), change("b", "1", undefined)];

  test("is not in force until it is approved, which has its effect", () => {
    const { state, writer } = started();
    writer.append({ kind: "held", origin, changes: gone, placement: placement(), trips });
    expect([versionsOf(state), state.held?.number]).toEqual([{ "base Cluster a": "1", "base Cluster b": "1" }, 2]);
    expect(writer.append({ kind: "approved", of: 2 })).toEqual({
      applied: true,
      effect: { changes: gone, placement: placement() },
    });
    expect([versionsOf(state), state.held, state.placement]).toEqual([{}, undefined, placement()]);
  });

  test("is dropped by a rejection, and cannot be approved afterwards", () => {
    const { state, writer } = started();
    writer.append({ kind: "held", origin, changes: gone, trips });
    writer.append({ kind: "rejected", of: 2 });
    expect(state.held).toBe(undefined);
    expect(writer.append({ kind: "approved", of: 2 })).toEqual({
      applied: false,
      reason: "4 is a decision on 2, which is not held",
    });
  });

  test("makes place for a newer one, held or in force, of the same writer", () => {
    const { state, writer } = started();
    writer.append({ kind: "held", origin, changes: gone, trips });
    writer.append({ kind: "held", origin, changes: gone.slice(1), trips });
    expect(state.held?.number).toBe(3);
    writer.revision([change("c", undefined, "1")]);
    expect(state.held).toBe(undefined);
  });

  test("stays while another writer publishes elsewhere, and goes when that takes one of its places", () => {
    const { state, writer } = started();
    const api = { writer: "api" };
    writer.append({ kind: "held", origin, changes: gone, trips });
    writer.append({ kind: "revision", origin: api, changes: [change("x", undefined, "1", { layer: "node/x" })] });
    expect(state.held?.number).toBe(2);
    writer.append({ kind: "revision", origin: api, changes: [change("a", "1", "2")] });
    expect(state.held).toBe(undefined);
  });

  test("loses the live data that came since", () => {
    const { state, writer } = started();
    const live = { type: ENDPOINTS };
    writer.append({ kind: "live", origin, changes: [change("a", undefined, "1", live)] });
    writer.append({ kind: "held", origin, changes: [...gone, change("a", "1", undefined, live)], trips });
    writer.append({ kind: "live", origin, changes: [change("a", "1", "2", live)] });
    expect(state.held?.changes).toEqual(gone);
    writer.append({ kind: "approved", of: 3 });
    expect(versionsOf(state)).toEqual({ "base ClusterLoadAssignment a": "2" });
  });

  test("is dropped by a rollback", () => {
    const { state, writer } = started();
    writer.append({ kind: "held", origin, changes: gone, trips });
    writer.append({ kind: "rolled-back", to: 1, changes: [], pins: [] });
    expect(state.held).toBe(undefined);
  });
});

describe("a pin", () => {
  function pinned(): { readonly state: LedgerState; readonly writer: Writer } {
    const { state, writer } = started();
    writer.revision([change("a", "1", "2")]);
    writer.append({ kind: "rolled-back", to: 1, changes: [change("a", "2", "1")], pins: [stale] });
    return { state, writer };
  }

  test("forbids the version that was taken back", () => {
    const { state } = pinned();
    expect(state.pins).toEqual([stale]);
    expect(state.pinAgainst(change("a", "1", "2"))).toEqual(stale);
    expect(state.pinAgainst(change("a", "1", "3"))).toBe(undefined);
    expect(state.pinAgainst(change("b", "1", "2"))).toBe(undefined);
  });

  test("ends when the entry changes, or is unpinned, or its change is approved", () => {
    const changed = pinned();
    changed.writer.revision([change("a", "1", "3")]);
    const unpinned = pinned();
    unpinned.writer.append({ kind: "unpinned", pins: [stale] });
    const approved = pinned();
    approved.writer.append({ kind: "held", origin, changes: [change("a", "1", "2")], trips });
    expect(approved.state.pins).toEqual([stale]);
    approved.writer.append({ kind: "approved", of: 4 });
    expect([changed, unpinned, approved].map(({ state }) => state.pins)).toEqual([[], [], []]);
  });

  test("of an older version stays when the next one is taken back too", () => {
    const { state, writer } = pinned();
    writer.append({ kind: "rolled-back", to: 1, changes: [], pins: [{ ...stale, version: "3" }] });
    expect(state.pins).toEqual([stale, { ...stale, version: "3" }]);
  });

  test("ends when a later rollback brings its version back", () => {
    const { state, writer } = pinned();
    writer.append({ kind: "rolled-back", to: 2, changes: [change("a", "1", "2")], pins: [{ ...stale, version: "1" }] });
    expect(state.pins).toEqual([{ ...stale, version: "1" }]);
  });
});

test("the placement of every number can be told, until it is let go of", () => {
  const { state, writer } = started();
  for (let i = 0; i < 150; i++) writer.revision([], placement(`g${i}`));
  expect([state.placementAt(151), state.placementAt(52), state.placementAt(51)]).toEqual([
    placement("g149"),
    placement("g50"),
    "unknown",
  ]);
});

test("the hour's maximum follows the records' time, less what was approved to go", () => {
  const { state, writer } = started();
  const { type } = stale;
  writer.revision(added(98));
  writer.revision([change("c0", "1", undefined)]);
  expect([state.amount("base", type).count, state.highest("base", type, writer.time).count]).toEqual([99, 100]);
  writer.append({
    kind: "held",
    origin,
    changes: added(50)
      .slice(1)
      .map(({ name }) => change(name, "1", undefined)),
    trips,
  });
  writer.append({ kind: "approved", of: 4 });
  expect([state.amount("base", type), state.highest("base", type, writer.time).count]).toEqual([
    { count: 50, bytes: 500 },
    51,
  ]);
  expect(state.highest("base", type, writer.time + 70 * MINUTE).count).toBe(50);
});

test("an approval covers its deletions for 15 minutes", () => {
  const { state, writer } = started();
  writer.append({ kind: "held", origin, changes: [change("a", "1", undefined)], trips });
  writer.append({ kind: "approved", of: 2 });
  const at = writer.time;
  const b = { layer: "base", type: CLUSTER, name: "b" };
  expect([state.covers(stale, at), state.covers(stale, at + 15 * MINUTE - 1)]).toEqual([true, true]);
  expect([state.covers(stale, at + 15 * MINUTE), state.covers(b, at)]).toEqual([false, false]);
});

test("the work of a record is by what it changes, not by what there is", () => {
  const workIn = (entries: number): number => {
    const state = LedgerState.empty();
    const writer = new Writer(state);
    writer.revision(added(entries));
    writer.append({ kind: "held", origin: { writer: "api" }, changes: [change("z", undefined, "1")], trips });
    return new Work().of(() => {
      writer.revision([change("c1", "1", "2"), change("c2", "1", undefined)]);
      writer.append({
        kind: "rolled-back",
        to: 1,
        changes: [change("c1", "2", "1")],
        pins: [{ ...stale, name: "c1" }],
      });
    });
  };
  expect(workIn(100_000)).toBe(workIn(100));
});

test("100,000 entries name their layer and type once", () => {
  const state = LedgerState.empty();
  new Writer(state).revision(added(100_000));
  const snapshot = JSON.stringify(state.toSnapshot());
  expect([snapshot.split('"base"').length - 1, snapshot.split(CLUSTER).length - 1]).toEqual([2, 1]);
});

describe("deleted live data", () => {
  const endpoints = { type: ENDPOINTS };
  const live = (...changes: readonly ReturnType<typeof change>[]) => ({ kind: "live", origin, changes }) as const;
  const places = (state: LedgerState): readonly string[] =>
    state.deletedLive.map(({ name, number, entry }) => `${name} ${entry.version} by ${number}`);

  test("is remembered in the order of its deletion until it is there again, also from a snapshot", () => {
    const { state, writer } = started();
    writer.append(live(...["x", "y", "z"].map((name) => change(name, undefined, "1", endpoints))));
    writer.append(live(change("y", "1", undefined, endpoints), change("x", "1", undefined, endpoints)));
    writer.append(live(change("z", "1", undefined, endpoints)));
    expect(places(state)).toEqual(["y 1 by 3", "x 1 by 3", "z 1 by 4"]);
    writer.append(live(change("y", undefined, "2", endpoints)));
    const back = change("x", undefined, "1", endpoints);
    writer.append({ kind: "rolled-back", to: 1, changes: [back, change("a", "1", undefined)], pins: [] });
    expect(places(state)).toEqual(["z 1 by 4"]);
    expect(LedgerState.fromSnapshot(state.toSnapshot()).deletedLive).toEqual(state.deletedLive);
  });

  test("is forgotten beyond 4,096 and beyond 16 MiB, the oldest first", () => {
    const { state, writer } = started();
    const many = Array.from({ length: 4_097 }, (_, index) => change(`e${index}`, "1", undefined, endpoints));
    writer.append(live(...many));
    expect([state.deletedLive.length, places(state)[0]]).toEqual([4_096, "e1 1 by 2"]);
    const large = { ...change("large", "1", undefined, endpoints), before: entry("1", 16 * 1024 * 1024 - 10) };
    writer.append(live(large));
    expect(places(state)).toEqual(["e4096 1 by 2", "large 1 by 3"]);
  });
});
