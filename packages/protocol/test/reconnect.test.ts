import { describe, expect, test } from "vitest";
import { Conversation, says } from "./support/conversation.ts";
import { CLUSTER, LISTENER, plain, ROUTE, resource, routeTo } from "./support/resources.ts";
import { firstOf, holding, rememberedOf, swapped } from "./support/returning.ts";

describe("a client with a stream for each type of which that of its routes alone ends", () => {
  function inSync(): Conversation {
    const talk = new Conversation();
    talk.put(plain("old"), routeTo("old"), resource(LISTENER, "l", "1", { references: [{ type: ROUTE, name: "r" }] }));
    talk.open(1, "delta", CLUSTER);
    talk.open(2, "delta", LISTENER);
    talk.open(3, "delta", ROUTE);
    talk.subscribe(1, CLUSTER, [], firstOf());
    talk.ack(1, CLUSTER);
    talk.subscribe(2, LISTENER, [], firstOf());
    talk.ack(2, LISTENER);
    talk.subscribe(3, ROUTE, ["r"], firstOf());
    talk.ack(3, ROUTE);
    return talk;
  }

  test("S-ORD-05 keeps the Clusters that those use for as long as the stream may take to come back", () => {
    const talk = inSync();
    talk.close(3);
    talk.change({ puts: [plain("new"), routeTo("new")], deletes: [{ type: CLUSTER, name: "old" }] });
    expect(says(talk.turns())).toEqual([["new@1"]]);
    expect(says(talk.ack(1, CLUSTER))).toEqual([]);
    expect([...talk.timers.values()]).toEqual([30_000]);
    expect(says(talk.pass(30_000))).toEqual([["-old"]]);
  });

  test("S-ORD-05 keeps them until it is back and has accepted what takes their place", () => {
    const talk = inSync();
    talk.close(3);
    talk.change({ puts: [plain("new"), routeTo("new")], deletes: [{ type: CLUSTER, name: "old" }] });
    talk.turns();
    talk.ack(1, CLUSTER);
    talk.open(4, "delta", ROUTE);
    expect(says(talk.subscribe(4, ROUTE, ["r"], { ...firstOf(), initialVersions: holding(routeTo("old")) }))).toEqual([
      ["r@new"],
    ]);
    talk.ack(4, ROUTE);
    for (const timer of talk.timers.keys()) talk.fire(timer);
    expect(says(talk.turns())).toEqual([["-old"]]);
  });

  test("has them removed at once when it gave its routes up, because no Listener has them any more", () => {
    const talk = inSync();
    talk.delete(LISTENER, "l");
    talk.turns();
    talk.ack(2, LISTENER);
    talk.close(3);
    talk.delete(CLUSTER, "old");
    expect(says(talk.turns())).toEqual([["-old"]]);
    expect(talk.timers.size).toBe(0);
  });
});

const unprotected = (talk: Conversation): number =>
  talk.reports.filter((report) => report.kind === "client-unprotected").length;

describe("a delta client that comes back with a Cluster that is gone", () => {
  test("is told so when it has accepted what it asked for, and had time to ask for more", () => {
    const talk = swapped();
    talk.open(1, "delta");
    expect(says(talk.subscribe(1, CLUSTER, [], { ...firstOf(), initialVersions: holding(plain("old")) }))).toEqual([
      ["new@1"],
    ]);
    expect(says(talk.subscribe(1, ROUTE, ["r"], { initialVersions: holding(routeTo("old")) }))).toEqual([]);
    expect(says(talk.ack(1, CLUSTER))).toEqual([["r@new"]]);
    expect([...talk.machine.streams()][0]?.types[0]).toMatchObject({
      pendingRemovals: ["old"],
      wait: { for: "return" },
    });
    expect(says(talk.pass(1_000))).toEqual([]);
    expect(says(talk.ack(1, ROUTE))).toEqual([["-old"]]);
  });

  test("is given a second to ask for what uses it", () => {
    const talk = swapped();
    talk.open(1, "delta");
    talk.subscribe(1, CLUSTER, [], { ...firstOf(), initialVersions: holding(plain("old"), plain("new")) });
    talk.ack(1, CLUSTER);
    expect([...talk.timers.values()]).toEqual([1_000]);
    expect(says(talk.pass(1_000))).toEqual([["-old"]]);
  });

  test("is given half a minute where each of its streams comes back by itself", () => {
    const talk = swapped();
    talk.open(1, "delta", CLUSTER);
    talk.subscribe(1, CLUSTER, [], { ...firstOf(), initialVersions: holding(plain("old"), plain("new")) });
    talk.ack(1, CLUSTER);
    expect([...talk.timers.values()]).toEqual([30_000]);
  });

  test.each([
    ["a stream of its own", CLUSTER, 30_000],
    ["an aggregated stream", undefined, 1_000],
  ])("is given no more on %s where changes come more often than that", (_, onlyType, grace) => {
    const talk = swapped();
    talk.open(1, "delta", onlyType);
    talk.subscribe(1, CLUSTER, [], { ...firstOf(), initialVersions: holding(plain("old"), plain("new")) });
    talk.ack(1, CLUSTER);
    const [timer] = [...talk.timers].filter(([, ms]) => ms === grace).map(([number]) => number);
    talk.put(plain("newer"));
    expect(says(talk.turns())).toEqual([["newer@1"]]);
    talk.ack(1, CLUSTER);
    expect(talk.timers).toEqual(new Map([[timer, grace]]));
    expect(says(talk.pass(grace))).toEqual([["-old"]]);
  });

  test("keeps what goes before the stream of its routes is back", () => {
    const talk = new Conversation();
    talk.put(plain("old"), routeTo("old"));
    talk.open(1, "delta", CLUSTER);
    talk.subscribe(1, CLUSTER, [], { ...firstOf(), initialVersions: holding(plain("old")) });
    talk.ack(1, CLUSTER);
    talk.change({ puts: [plain("new"), routeTo("new")], deletes: [{ type: CLUSTER, name: "old" }] });
    expect(says(talk.turns())).toEqual([["new@1"]]);
  });

  test("waits no longer than it has to for what it does not hold itself", () => {
    const talk = swapped();
    talk.open(1, "delta");
    expect(says(talk.subscribe(1, CLUSTER, [], firstOf()))).toEqual([["new@1"]]);
    expect(says(talk.subscribe(1, ROUTE, ["r"]))).toEqual([["r@new"]]);
  });
});

describe("a client that comes back and does not ask for Clusters yet, for one warms", () => {
  test("is not sent a changed route before it does", () => {
    const talk = swapped();
    talk.open(1, "delta");
    expect(says(talk.subscribe(1, ROUTE, ["r"], { ...firstOf(), initialVersions: holding(routeTo("old")) }))).toEqual(
      [],
    );
    expect([...talk.machine.streams()][0]?.types[0]?.wait).toEqual({ for: "cluster", name: "new" });
    expect(says(talk.subscribe(1, CLUSTER, [], { initialVersions: holding(plain("old"), plain("new")) }))).toEqual([
      [],
      ["r@new"],
    ]);
  });

  test("is sent the route after a second if it does not withhold what it says of Clusters, as Envoy does", () => {
    const talk = swapped();
    talk.open(1, "delta");
    const held = { initialVersions: holding(routeTo("old")) };
    expect(says(talk.subscribe(1, ROUTE, ["r"], { ...firstOf("of my own"), ...held }))).toEqual([]);
    expect([...talk.timers.values()]).toEqual([1_000]);
    expect(says(talk.pass(1_000))).toEqual([["r@new"]]);
  });

  test("is sent a Listener that names none", () => {
    const talk = swapped();
    talk.put(resource(LISTENER, "l", "1", { references: [{ type: ROUTE, name: "r" }] }));
    talk.open(1, "delta");
    expect(
      says(talk.subscribe(1, LISTENER, [], { ...firstOf(), initialVersions: holding(resource(LISTENER, "l", "0")) })),
    ).toEqual([["l@1"]]);
  });

  test("is sent the route if it asks for Clusters by name, for then it asks for them after the route", () => {
    const talk = swapped();
    talk.open(1, "sotw");
    expect(says(talk.subscribe(1, ROUTE, ["r"], { ...firstOf("gRPC Go"), versionInfo: "before" }))).toEqual([
      ["r@new"],
    ]);
  });

  test("is protected if it asks for them within half a minute, and after that as well", () => {
    const talk = swapped();
    talk.open(1, "delta");
    talk.subscribe(1, ROUTE, ["r"], { ...firstOf(), initialVersions: holding(routeTo("old")) });
    const [ofClusters, ...others] = [...talk.timers];
    expect([ofClusters?.[1], others]).toEqual([30_000, []]);
    expect(says(talk.subscribe(1, CLUSTER, [], { initialVersions: holding(plain("old")) }))).toEqual([["new@1"]]);
    // What it is given to ask for Clusters is no part of what it is given to accept them.
    talk.fire(ofClusters?.[0] ?? 0);
    expect(says(talk.turns())).toEqual([]);
    expect(says(talk.ack(1, CLUSTER))).toEqual([["r@new"]]);
  });
});

test("routes wait for the stream of the Clusters when that alone breaks", () => {
  const talk = new Conversation();
  talk.put(plain("old"), routeTo("old"));
  talk.open(1, "delta", CLUSTER);
  talk.open(2, "delta", ROUTE);
  talk.subscribe(1, CLUSTER, [], firstOf());
  talk.ack(1, CLUSTER);
  expect(says(talk.subscribe(2, ROUTE, ["r"], firstOf()))).toEqual([["r@old"]]);
  talk.ack(2, ROUTE);
  talk.close(1);
  talk.put(plain("new"), routeTo("new"));
  expect(says(talk.turns())).toEqual([]);
  expect([...talk.timers.values()]).toEqual([30_000]);
  talk.open(3, "delta", CLUSTER);
  expect(says(talk.subscribe(3, CLUSTER, [], { ...firstOf(), initialVersions: holding(plain("old")) }))).toEqual([
    ["new@1"],
  ]);
  expect(says(talk.ack(3, CLUSTER))).toEqual([["r@new"]]);
});

describe("a State of the World client that comes back in the middle of a swap", () => {
  /** In sync with `old`; then a swap, whose union it accepts. Returns the version of the union. */
  function interrupted(talk: Conversation): string {
    talk.put(plain("old"), routeTo("old"));
    talk.open(1, "sotw");
    talk.subscribe(1, CLUSTER, [], firstOf());
    talk.ack(1, CLUSTER);
    talk.subscribe(1, ROUTE, ["r"]);
    talk.ack(1, ROUTE);
    talk.change({ puts: [plain("new"), routeTo("new")], deletes: [{ type: CLUSTER, name: "old" }] });
    const [union] = talk.turns();
    expect(union?.says).toEqual(["new@1", "old@1"]);
    talk.close(1);
    return union?.version ?? "";
  }

  function comeBack(talk: Conversation, version: string): void {
    talk.open(2, "sotw");
    const [again] = talk.subscribe(2, CLUSTER, [], { ...firstOf(), versionInfo: version });
    expect(again).toMatchObject({ says: ["new@1", "old@1"], version });
    // Both are there already: nothing is new to it.
    expect(says(talk.subscribe(2, ROUTE, ["r"], { versionInfo: "before" }))).toEqual([["r@new"]]);
    talk.ack(2, CLUSTER);
    expect(says(talk.pass(1_000))).toEqual([]);
    expect(says(talk.ack(2, ROUTE))).toEqual([["new@1"]]);
    expect(unprotected(talk)).toBe(0);
  }

  test("goes on where it was", () => {
    const talk = new Conversation();
    comeBack(talk, interrupted(talk));
  });

  test("goes on where it was at a server that was started anew", () => {
    const before = new Conversation({ remembers: true });
    const version = interrupted(before);
    const talk = new Conversation();
    talk.machine.on({ kind: "history-restored", remembered: rememberedOf(before) });
    talk.put(plain("new"), routeTo("new"));
    comeBack(talk, version);
  });

  test("is protected against what changed while there was no server", () => {
    const before = new Conversation({ remembers: true });
    before.put(plain("old"), routeTo("old"));
    before.open(1, "sotw");
    const [first] = before.subscribe(1, CLUSTER, [], firstOf());
    const talk = new Conversation();
    talk.machine.on({ kind: "history-restored", remembered: rememberedOf(before) });
    talk.put(plain("new"), routeTo("new"));
    talk.open(1, "sotw");
    expect(says(talk.subscribe(1, CLUSTER, [], { ...firstOf(), versionInfo: first?.version }))).toEqual([
      ["new@1", "old@1"],
    ]);
    expect(says(talk.subscribe(1, ROUTE, ["r"], { versionInfo: "before" }))).toEqual([]);
    expect(says(talk.ack(1, CLUSTER))).toEqual([["r@new"]]);
  });

  test("is counted where nobody remembers, and gets what is new before it is used", () => {
    const talk = swapped();
    talk.open(1, "sotw");
    expect(says(talk.subscribe(1, CLUSTER, [], { ...firstOf(), versionInfo: "of another server" }))).toEqual([
      ["new@1"],
    ]);
    expect(unprotected(talk)).toBe(1);
    expect(says(talk.subscribe(1, ROUTE, ["r"], { versionInfo: "before" }))).toEqual([]);
    expect(says(talk.ack(1, CLUSTER))).toEqual([["r@new"]]);
  });

  test("is not counted with the newest version", () => {
    const talk = swapped();
    talk.open(1, "sotw");
    const [first] = talk.subscribe(1, CLUSTER, [], firstOf());
    talk.open(2, "sotw");
    talk.subscribe(2, CLUSTER, [], { ...firstOf(), versionInfo: first?.version });
    expect(unprotected(talk)).toBe(0);
  });
});
