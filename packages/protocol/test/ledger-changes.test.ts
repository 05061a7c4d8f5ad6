import { changesBetween, finish, LedgerState, type PlacedEntry, reverseTo, splitLive } from "@xdskit/protocol/internal";
import { describe, expect, test } from "vitest";
import { added, change, entry, origin, placement, versionsOf, Writer } from "./support/records.ts";
import { CLUSTER, ENDPOINTS, traits } from "./support/resources.ts";

const kindOf = (type: Parameters<typeof traits>[0]) => traits(type)?.kind ?? "opaque";
const live = { type: ENDPOINTS };
const trips = [{ fuse: "resources-removed", message: "gone" }];

function placed(name: string, version: string, layer = "base"): PlacedEntry {
  return { layer, type: CLUSTER, name, entry: entry(version) };
}

describe("changesBetween", () => {
  test("adds, changes and deletes in the named layers, and leaves the others alone", () => {
    const state = LedgerState.empty();
    new Writer(state).revision([...added(3), change("x", undefined, "1", { layer: "node/x" })]);
    expect(finish(changesBetween(state, [placed("c0", "1"), placed("c1", "2"), placed("new", "1")], ["base"]))).toEqual(
      [change("c1", "1", "2"), change("new", undefined, "1"), change("c2", "1", undefined)],
    );
  });

  test("sees a new body under an own version", () => {
    const state = LedgerState.empty();
    new Writer(state).revision(added(1));
    const desired = { ...placed("c0", "1"), entry: { ...entry("1"), body: "other" } };
    expect(finish(changesBetween(state, [desired], ["base"]))).toEqual([
      { layer: "base", type: CLUSTER, name: "c0", before: entry("1"), after: desired.entry },
    ]);
  });

  test("is empty where everything is as desired", () => {
    const state = LedgerState.empty();
    new Writer(state).revision(added(2));
    expect(finish(changesBetween(state, [placed("c1", "1"), placed("c0", "1")], ["base"]))).toEqual([]);
  });
});

test("a mixed change is split; a deletion of live data waits while something refers to it", () => {
  const changes = [
    change("a", "1", undefined),
    change("a", "1", undefined, live),
    change("b", "1", undefined, live),
    change("c", "1", "2", live),
  ];
  expect(finish(splitLive(changes, kindOf, ({ name }) => name !== "b"))).toEqual({
    stable: [changes[0]],
    live: [changes[2], changes[3]],
    waiting: [changes[1]],
  });
});

describe("reverseTo", () => {
  function history(): { readonly state: LedgerState; readonly writer: Writer } {
    const state = LedgerState.empty();
    const writer = new Writer(state);
    writer.revision([change("a", undefined, "1"), change("b", undefined, "1")], placement("edge"));
    writer.append({ kind: "live", origin, changes: [change("a", undefined, "1", live)] });
    writer.revision([change("a", "1", "2"), change("c", undefined, "1")], placement("inner"));
    writer.append({ kind: "held", origin, changes: [change("b", "1", undefined)], trips });
    writer.append({ kind: "live", origin, changes: [change("a", "1", "2", live)] });
    writer.append({ kind: "approved", of: 4 });
    return { state, writer };
  }

  test("brings a number back, with a pin for each entry that it takes back, and without live data", () => {
    const { state, writer } = history();
    const reversal = reverseTo(state, { to: 2, records: writer.records, completeAfter: 0, kindOf });
    expect(reversal).toEqual({
      kind: "reversal",
      changes: [change("a", "2", "1"), change("c", "1", undefined), change("b", undefined, "1")],
      placement: placement("edge"),
      pins: [
        { layer: "base", type: CLUSTER, name: "a", version: "2" },
        { layer: "base", type: CLUSTER, name: "c", version: "1" },
        { layer: "base", type: CLUSTER, name: "b", version: undefined },
      ],
      irretrievable: [],
    });
    if (reversal.kind === "reversal") writer.append({ ...reversal, kind: "rolled-back", to: 2 });
    expect([versionsOf(state), state.placement]).toEqual([
      { "base Cluster a": "1", "base Cluster b": "1", "base ClusterLoadAssignment a": "2" },
      placement("edge"),
    ]);
  });

  test("undoes what a rollback did, like any other change", () => {
    const { state, writer } = history();
    const before = versionsOf(state);
    const back = reverseTo(state, { to: 1, records: writer.records, completeAfter: 0, kindOf });
    if (back.kind === "reversal") writer.append({ ...back, kind: "rolled-back", to: 1 });
    const forth = reverseTo(state, { to: 6, records: writer.records, completeAfter: 0, kindOf });
    if (forth.kind === "reversal") writer.append({ ...forth, kind: "rolled-back", to: 6 });
    expect(versionsOf(state)).toEqual(before);
    expect(state.number).toBe(8);
  });

  test("needs no records of live data", () => {
    const { state, writer } = history();
    const records = writer.records.filter(({ kind }) => kind !== "live");
    expect(reverseTo(state, { to: 2, records, completeAfter: 0, kindOf })).toEqual(
      reverseTo(state, { to: 2, records: writer.records, completeAfter: 0, kindOf }),
    );
  });

  test("changes nothing at the newest number", () => {
    const { state, writer } = history();
    expect(reverseTo(state, { to: 6, records: writer.records, completeAfter: 0, kindOf })).toEqual({
      kind: "reversal",
      changes: [],
      pins: [],
      irretrievable: [],
    });
  });

  test("leaves an entry whose old body was not kept, because it holds a secret", () => {
    const state = LedgerState.empty();
    const writer = new Writer(state);
    const secret = { ...entry("1"), body: undefined };
    writer.revision([{ ...change("a", undefined, "1"), after: secret }]);
    writer.revision([{ ...change("a", "1", "2"), before: secret }, change("b", undefined, "1")]);
    expect(reverseTo(state, { to: 1, records: writer.records, completeAfter: 0, kindOf })).toEqual({
      kind: "reversal",
      changes: [change("b", "1", undefined)],
      pins: [{ layer: "base", type: CLUSTER, name: "b", version: "1" }],
      irretrievable: [{ layer: "base", type: CLUSTER, name: "a" }],
    });
  });

  test.each([
    ["a number of the future", 7, 0, "there is no revision 7: the newest is 6"],
    ["no number", 1.5, 0, "there is no revision 1.5: the newest is 6"],
    ["a number that is not kept", 1, 2, "revision 1 is not kept any more: the oldest is 2"],
    ["an approval of what is not kept", 5, 4, "what 6 approved is not kept any more"],
  ])("refuses %s", (_, to, dropped, reason) => {
    const { state, writer } = history();
    expect(reverseTo(state, { to, records: writer.records.slice(dropped), completeAfter: dropped, kindOf })).toEqual({
      kind: "refused",
      reason,
    });
  });
});
