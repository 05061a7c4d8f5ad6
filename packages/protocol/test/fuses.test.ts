import {
  defaultFuses,
  type FuseContext,
  type FuseSettings,
  finish,
  type JudgedNode,
  LedgerState,
  tripFuses,
} from "@xdskit/protocol/internal";
import { describe, expect, test } from "vitest";
import { added, change, entry, MINUTE, origin, placement, Writer } from "./support/records.ts";
import { CLUSTER, LISTENER, traits } from "./support/resources.ts";

const kindOf: FuseContext["kindOf"] = (type) => traits(type)?.kind ?? "opaque";
const listener = { type: LISTENER };

function stateWith(...changes: readonly ReturnType<typeof change>[]): { state: LedgerState; writer: Writer } {
  const state = LedgerState.empty();
  const writer = new Writer(state);
  writer.revision(changes);
  return { state, writer };
}

/** The deletion of so many of the resources of `added`. */
function gone(count: number, from = 0): ReturnType<typeof change>[] {
  return Array.from({ length: count }, (_, i) => change(`c${from + i}`, "1", undefined));
}

function nodes(count: number, node: Partial<JudgedNode> = {}): readonly JudgedNode[] {
  return Array.from({ length: count }, (_, i) => ({
    id: `n${i}`,
    before: ["base"],
    after: ["base"],
    isCutOff: false,
    ...node,
  }));
}

interface Case extends Partial<Pick<FuseContext, "time" | "nodes" | "views">> {
  readonly settings?: Partial<FuseSettings>;
}

function fusesOf(
  state: LedgerState,
  changes: readonly ReturnType<typeof change>[],
  given: Case = {},
): readonly string[] {
  const context = { time: state.time, kindOf, nodes: [], ...given };
  return finish(tripFuses({ changes }, state, context, { ...defaultFuses, ...given.settings })).map(({ fuse }) => fuse);
}

describe("resources-removed", () => {
  test.each([
    ["half of them", 40, 20, []],
    ["more than half", 40, 21, ["resources-removed"]],
    ["10, which is the floor", 11, 10, []],
    ["11 of 11", 11, 11, ["resources-removed"]],
  ])("%s", (_, of, count, fuses) => {
    expect(fusesOf(stateWith(...added(of)).state, gone(count))).toEqual(fuses);
  });

  test("says how many of what are gone from where", () => {
    const { state } = stateWith(...added(40));
    const context = { time: state.time, kindOf, nodes: [] };
    expect(finish(tripFuses({ changes: gone(30) }, state, context, defaultFuses))).toEqual([
      {
        fuse: "resources-removed",
        layer: "base",
        type: CLUSTER,
        message: "30 of 40 Cluster resources would be gone from layer base",
      },
    ]);
  });

  test("counts what went one by one within the hour, and no longer", () => {
    const { state, writer } = stateWith(...added(40));
    for (let i = 0; i < 20; i++) {
      expect(fusesOf(state, gone(1, i))).toEqual([]);
      writer.revision(gone(1, i));
    }
    expect(fusesOf(state, gone(1, 20))).toEqual(["resources-removed"]);
    expect(fusesOf(state, [...gone(1, 20), change("new", undefined, "1")])).toEqual([]);
    expect(fusesOf(state, [change("c30", "1", "2")])).toEqual([]);
    expect(fusesOf(state, gone(1, 20), { time: state.time + 70 * MINUTE })).toEqual([]);
  });

  test("judges each layer and type by itself", () => {
    const other = { layer: "group/edge" };
    const { state } = stateWith(...added(30), ...added(30, "1", other), ...added(30, "1", listener));
    const half = added(15).map(({ name }) => name);
    const changes = [{}, other, listener].flatMap((of) => half.map((name) => change(name, "1", undefined, of)));
    expect(fusesOf(state, changes)).toEqual([]);
  });

  test("counts no deletion that is approved, in whatever revision, for 15 minutes", () => {
    const { state, writer } = stateWith(...added(40));
    writer.append({ kind: "held", origin, changes: gone(30), trips: [] });
    writer.append({ kind: "approved", of: 2 });
    const approved = state.time;
    writer.revision(added(40).slice(0, 30));
    expect(fusesOf(state, gone(30))).toEqual([]);
    expect(fusesOf(state, gone(40))).toEqual([]);
    expect(fusesOf(state, gone(30), { time: approved + 15 * MINUTE })).toEqual(["resources-removed"]);
    writer.revision(gone(30));
    expect(fusesOf(state, gone(5, 30))).toEqual([]);
  });

  test("can be set, and off", () => {
    const { state } = stateWith(...added(40));
    expect(fusesOf(state, gone(5), { settings: { resourcesRemoved: 0.1, resourcesRemovedFloor: 4 } })).toEqual([
      "resources-removed",
    ]);
    expect(fusesOf(state, gone(40), { settings: { resourcesRemoved: "off" } })).toEqual([]);
  });
});

describe("size-grown and size-shrunk", () => {
  const KIB = 1024;
  const sized = (name: string, before: number | undefined, after: number | undefined) => ({
    ...{ layer: "base", type: CLUSTER, name },
    before: before === undefined ? undefined : entry("1", before),
    after: after === undefined ? undefined : entry("2", after),
  });

  test.each([
    ["less than doubled", 20 * KIB, 40 * KIB - 1, []],
    ["doubled", 20 * KIB, 40 * KIB, ["size-grown"]],
    ["doubled within the floor", 16 * KIB, 32 * KIB, []],
    ["more than half", 40 * KIB, 20 * KIB + 1, []],
    ["halved", 40 * KIB, 20 * KIB, ["size-shrunk"]],
    ["halved within the floor", 32 * KIB, 16 * KIB, []],
  ])("%s", (_, before, after, fuses) => {
    const { state } = stateWith(sized("a", undefined, before));
    expect(fusesOf(state, [sized("a", before, after)])).toEqual(fuses);
  });

  test("the first resources of a layer are no growth", () => {
    expect(fusesOf(LedgerState.empty(), [sized("a", undefined, 1000 * KIB)])).toEqual([]);
  });

  test("shrinking step by step counts together", () => {
    const { state, writer } = stateWith(sized("a", undefined, 100 * KIB));
    writer.revision([sized("a", 100 * KIB, 60 * KIB)]);
    expect(fusesOf(state, [sized("a", 60 * KIB, 50 * KIB)])).toEqual(["size-shrunk"]);
    expect(fusesOf(state, [sized("a", 60 * KIB, 110 * KIB)])).toEqual([]);
  });

  test("can be set, and off", () => {
    const { state } = stateWith(sized("a", undefined, 40 * KIB));
    const grown = [sized("a", 40 * KIB, 50 * KIB)];
    expect(fusesOf(state, grown, { settings: { sizeGrown: 0.25, sizeFloor: 9 * KIB } })).toEqual(["size-grown"]);
    expect(fusesOf(state, [sized("a", 40 * KIB, 900 * KIB)], { settings: { sizeGrown: "off" } })).toEqual([]);
    expect(fusesOf(state, [sized("a", 40 * KIB, 1)], { settings: { sizeShrunk: "off" } })).toEqual([]);
  });
});

describe("no-listeners", () => {
  const last = [change("a", "1", undefined, listener)];

  test("holds what takes the last listener of a view of a connected node or a known group", () => {
    const { state } = stateWith(change("a", undefined, "1", listener));
    expect(fusesOf(state, last, { nodes: nodes(3) })).toEqual(["no-listeners"]);
    expect(fusesOf(state, last, { views: [["group/edge", "base"]] })).toEqual(["no-listeners"]);
    expect(fusesOf(state, last)).toEqual([]);
    expect(fusesOf(state, last, { nodes: nodes(3), settings: { lastListener: false } })).toEqual([]);
  });

  test("is about views, not layers", () => {
    const { state } = stateWith(
      change("a", undefined, "1", listener),
      change("b", undefined, "1", { ...listener, layer: "group/edge" }),
    );
    expect(fusesOf(state, last, { views: [["group/edge", "base"]] })).toEqual([]);
    expect(fusesOf(state, last, { views: [["base"]] })).toEqual(["no-listeners"]);
  });

  test("a listener in place of another is one, and a view that had none lost none", () => {
    const { state } = stateWith(change("a", undefined, "1", listener));
    const renamed = [...last, change("b", undefined, "1", listener)];
    expect(fusesOf(state, renamed, { nodes: nodes(3) })).toEqual([]);
    expect(fusesOf(state, last, { views: [["node/x"]] })).toEqual([]);
  });

  test("holds what moves a node to layers without listeners, and names the view once", () => {
    const { state } = stateWith(change("a", undefined, "1", listener));
    const context = { time: 0, kindOf, nodes: nodes(2, { after: ["lab"] }) };
    expect(finish(tripFuses({ changes: [] }, state, context, { ...defaultFuses, nodesMoved: "off" }))).toEqual([
      { fuse: "no-listeners", message: "2 connected nodes would have no listener (layers lab)" },
    ]);
  });

  test("does not count a deletion that is approved", () => {
    const { state, writer } = stateWith(change("a", undefined, "1", listener));
    writer.append({ kind: "held", origin, changes: last, trips: [] });
    writer.append({ kind: "approved", of: 2 });
    writer.revision([change("a", undefined, "1", listener)]);
    expect(fusesOf(state, last, { nodes: nodes(3) })).toEqual([]);
  });
});

describe.each([
  ["nodes-moved", { after: ["group/edge", "base"] }, 20, 10, "nodesMoved"],
  ["nodes-cut-off", { isCutOff: true }, 40, 2, "nodesCutOff"],
  ["nodes-cut-off", { after: undefined }, 40, 2, "nodesCutOff"],
] as const)("%s by %o", (fuse, node, connected, most, setting) => {
  const trips = (count: number, settings: Partial<FuseSettings> = {}): readonly string[] =>
    fusesOf(LedgerState.empty(), [], { nodes: [...nodes(count, node), ...nodes(connected - count)], settings });

  test(`${most} of ${connected} are fine, one more is not`, () => {
    expect([trips(most), trips(most + 1)]).toEqual([[], [fuse]]);
  });

  test("can be set, and off", () => {
    expect(trips(2, { [setting]: 0.01 })).toEqual([fuse]);
    expect(trips(connected, { [setting]: "off" })).toEqual([]);
  });
});

test("one node alone may always move", () => {
  const moved = nodes(1, { after: ["group/edge", "base"] });
  expect(fusesOf(LedgerState.empty(), [], { nodes: moved })).toEqual([]);
  expect(fusesOf(LedgerState.empty(), [], { nodes: moved, settings: { nodesMovedFloor: 0 } })).toEqual(["nodes-moved"]);
});

describe("pinned", () => {
  const context = { time: 0, kindOf, nodes: [] };

  test("holds a change that brings back what a rollback took back, however much else is in it", () => {
    const { state, writer } = stateWith(change("a", undefined, "1"), change("b", undefined, "1"));
    writer.revision([change("a", "1", "2"), change("b", "1", undefined)]);
    const pins = [
      { layer: "base", type: CLUSTER, name: "a", version: "2" },
      { layer: "base", type: CLUSTER, name: "b", version: undefined },
    ];
    writer.append({ kind: "rolled-back", to: 1, changes: [change("a", "2", "1"), change("b", undefined, "1")], pins });
    const changes = [change("a", "1", "2"), change("b", "1", undefined), change("c", undefined, "1")];
    expect(finish(tripFuses({ changes }, state, context, defaultFuses))).toEqual([
      {
        fuse: "pinned",
        layer: "base",
        type: CLUSTER,
        message: 'Cluster "a" (base): version 2 was rolled back',
      },
      {
        fuse: "pinned",
        layer: "base",
        type: CLUSTER,
        message: 'Cluster "b" (base): its deletion was rolled back',
      },
    ]);
    expect(fusesOf(state, [change("a", "1", "3"), change("c", undefined, "1")])).toEqual([]);
  });

  test("names some of what a rollback took back, and how much more there is", () => {
    const names = Array.from({ length: 1_000 }, (_, index) => `c${index}`);
    const { state, writer } = stateWith(...names.map((name) => change(name, undefined, "1")));
    writer.revision(names.map((name) => change(name, "1", "2")));
    const pins = names.map((name) => ({ layer: "base", type: CLUSTER, name, version: "2" }));
    writer.append({ kind: "rolled-back", to: 1, changes: names.map((name) => change(name, "2", "1")), pins });
    const changes = names.map((name) => change(name, "1", "2"));
    expect(finish(tripFuses({ changes }, state, context, defaultFuses)).map(({ message }) => message)).toEqual([
      ...[0, 1, 2, 3, 4].map((index) => `Cluster "c${index}" (base): version 2 was rolled back`),
      "and 995 more",
    ]);
  });

  test("holds a node mapping that was taken back, until it changes or is unpinned", () => {
    const state = LedgerState.empty();
    const writer = new Writer(state);
    writer.revision([], placement("edge"));
    writer.revision([], placement("wrong"));
    writer.append({ kind: "rolled-back", to: 1, changes: [], placement: placement("edge"), pins: [] });
    const trips = (...groups: readonly string[]) =>
      finish(tripFuses({ changes: [], placement: placement(...groups) }, state, context, defaultFuses));
    expect([trips("wrong"), trips("other")]).toEqual([
      [{ fuse: "pinned", message: "this node mapping was rolled back" }],
      [],
    ]);
    writer.append({ kind: "unpinned", pins: [], placement: true });
    expect(trips("wrong")).toEqual([]);
  });
});
