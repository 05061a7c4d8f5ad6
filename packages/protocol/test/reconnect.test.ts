import type { Resource } from "@xdskit/protocol";
import type { Remembered } from "@xdskit/protocol/internal";
import { describe, expect, test } from "vitest";
import { Conversation, node, type Said, says } from "./support/conversation.ts";
import { initialVersionsOf } from "./support/model-client.ts";
import { CLUSTER, failure, HOST, LISTENER, plain, ROUTE, resource, routeTo } from "./support/resources.ts";

const holding = (...held: readonly Resource[]): ReturnType<typeof initialVersionsOf> =>
  initialVersionsOf(held.map(({ name, version }) => [name, version]));
const firstOf = (userAgentName = "envoy"): { node: ReturnType<typeof node> } => ({ node: node("n", userAgentName) });

/** A server where `new` took the place of `old`, and the route follows it. */
function swapped(): Conversation {
  const talk = new Conversation();
  talk.put(plain("new"), routeTo("new"));
  return talk;
}

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

describe("a client that asks for routes and never for Clusters, which are its own", () => {
  const variants = ["sotw", "delta"] as const;
  const kinds = [ROUTE, undefined].flatMap((onlyType) => variants.map((variant) => ({ variant, onlyType })));

  test.each(kinds)(
    "is sent them when it comes back and its Clusters had time to be asked for ($variant, $onlyType)",
    ({ variant, onlyType }) => {
      const talk = swapped();
      talk.open(1, variant, onlyType);
      const held = variant === "sotw" ? { versionInfo: "before" } : { initialVersions: holding(routeTo("old")) };
      expect(says(talk.subscribe(1, ROUTE, ["r"], { ...firstOf(), ...held }))).toEqual([]);
      expect([...talk.timers.values()]).toEqual([30_000]);
      expect(says(talk.pass(30_000))).toEqual([["r@new"]]);
      expect(talk.reports.filter(({ kind }) => kind === "order-overdue")).toEqual([]);
    },
  );

  test.each([ROUTE, undefined])("is sent them after a second when it is new, and changes at once (%s)", (onlyType) => {
    const talk = swapped();
    talk.open(1, "delta", onlyType);
    expect(says(talk.subscribe(1, ROUTE, ["r"], firstOf()))).toEqual([]);
    expect(says(talk.pass(1_000))).toEqual([["r@new"]]);
    talk.ack(1, ROUTE);
    talk.put(plain("newer"), routeTo("newer"));
    expect(says(talk.turns())).toEqual([["r@newer"]]);
  });

  test("is sent virtual hosts after a second", () => {
    const talk = swapped();
    talk.put(resource(HOST, "r/h", "1", { references: [{ type: CLUSTER, name: "new" }] }));
    talk.open(1, "delta");
    expect(says(talk.subscribe(1, HOST, ["r/h"], firstOf()))).toEqual([]);
    expect(says(talk.pass(1_000))).toEqual([["r/h@1"]]);
  });

  test("is protected from then on if it asks for Clusters after all", () => {
    const talk = swapped();
    talk.open(1, "delta");
    talk.subscribe(1, ROUTE, ["r"], firstOf());
    expect(says(talk.pass(1_000))).toEqual([["r@new"]]);
    talk.ack(1, ROUTE);
    expect(says(talk.subscribe(1, CLUSTER))).toEqual([["new@1"]]);
    talk.ack(1, CLUSTER);
    talk.change({ puts: [plain("newer"), routeTo("newer")], deletes: [{ type: CLUSTER, name: "new" }] });
    expect(says(talk.turns())).toEqual([["newer@1"]]);
    expect(says(talk.ack(1, CLUSTER))).toEqual([["r@newer"]]);
    expect(says(talk.ack(1, ROUTE))).toEqual([["-new"]]);
  });
});

describe("a client that never asks for Clusters comes back", () => {
  const variants = [{ variant: "sotw" }, { variant: "delta" }] as const;
  const askFor = (
    talk: Conversation,
    stream: number,
    variant: "sotw" | "delta",
    type: typeof ROUTE | typeof HOST,
    held?: Resource,
  ): readonly Said[] =>
    talk.subscribe(stream, type, [type === HOST ? "r/h" : "r"], {
      ...firstOf(),
      ...(held && (variant === "sotw" ? { versionInfo: held.version } : { initialVersions: holding(held) })),
    });

  /** A server that met the client, which has the route. */
  function met(variant: "sotw" | "delta", onlyType: typeof ROUTE | undefined = ROUTE): Conversation {
    const talk = new Conversation({ remembers: true });
    talk.put(plain("old"), plain("new"), routeTo("old"));
    talk.open(1, variant, onlyType);
    askFor(talk, 1, variant, ROUTE);
    if (variant === "delta") {
      // A new delta client may list nothing and hold something.
      talk.pass(1_000);
    } else talk.ack(1, ROUTE);
    return talk;
  }

  const rememberedBy = (talk: Conversation): readonly Remembered[] =>
    talk.asked.flatMap((effect) => (effect.kind === "remember" ? [effect.what] : []));

  /** The next server, with what the one before kept, and a route that changed meanwhile. */
  function restarted(remembered: Iterable<Remembered>): Conversation {
    const talk = new Conversation({ remembers: true });
    talk.machine.on({ kind: "history-restored", remembered });
    talk.put(plain("old"), plain("new"), routeTo("new"));
    return talk;
  }

  test.each(variants)("S-ORD-06 and is sent a changed route after a second on ADS ($variant)", ({ variant }) => {
    const talk = restarted(rememberedBy(met(variant, undefined)));
    talk.open(1, variant);
    expect(says(askFor(talk, 1, variant, ROUTE, routeTo("old")))).toEqual([]);
    expect([...talk.timers.values()]).toEqual([1_000]);
    expect(says(talk.pass(1_000))).toEqual([["r@new"]]);
  });

  test.each(variants)("S-ORD-06 and is sent a changed route at once after a restart ($variant)", ({ variant }) => {
    const talk = restarted(rememberedBy(met(variant)));
    talk.open(1, variant, ROUTE);
    expect(says(askFor(talk, 1, variant, ROUTE, routeTo("old")))).toEqual([["r@new"]]);
    expect([...talk.timers.values()]).not.toContain(30_000);
  });

  test("S-ORD-06 and is sent virtual hosts that it asks for on demand at once", () => {
    const talk = restarted(met("delta").machine.remembered());
    talk.put(resource(HOST, "r/h", "1", { references: [{ type: CLUSTER, name: "new" }] }));
    talk.open(1, "delta", ROUTE);
    askFor(talk, 1, "delta", ROUTE, routeTo("old"));
    talk.open(2, "delta", HOST);
    expect(says(askFor(talk, 2, "delta", HOST))).toEqual([["r/h@1"]]);
  });

  test("also where the server went on and only the connection broke", () => {
    const talk = met("delta");
    talk.close(1);
    talk.put(routeTo("new"));
    talk.open(2, "delta", ROUTE, 2);
    expect(says(askFor(talk, 2, "delta", ROUTE, routeTo("old")))).toEqual([["r@new"]]);
  });

  test("and waits for Clusters if another node does", () => {
    const talk = restarted(rememberedBy(met("delta")));
    talk.open(1, "delta", ROUTE);
    const other = { node: node("other", "envoy"), initialVersions: holding(routeTo("old")) };
    expect(says(talk.subscribe(1, ROUTE, ["r"], other))).toEqual([]);
  });

  test("is waited for again once it asked for Clusters", () => {
    const talk = met("delta");
    talk.open(2, "delta", CLUSTER);
    talk.subscribe(2, CLUSTER, [], firstOf());
    const next = restarted(rememberedBy(talk));
    next.open(1, "delta", ROUTE);
    expect(says(askFor(next, 1, "delta", ROUTE, routeTo("old")))).toEqual([]);
    next.open(2, "delta", CLUSTER);
    next.subscribe(2, CLUSTER, [], { ...firstOf(), initialVersions: holding(plain("old"), plain("new")) });
    next.ack(2, CLUSTER);
    next.close(2);
    next.close(1);
    next.put(routeTo("old"));
    next.open(3, "delta", ROUTE, 2);
    expect(says(askFor(next, 3, "delta", ROUTE, routeTo("new")))).toEqual([]);
  });

  test("is not noted if it may ask for Clusters by name, after what names them", () => {
    const talk = new Conversation({ remembers: true });
    talk.put(plain("old"), routeTo("old"));
    talk.open(1, "sotw");
    talk.subscribe(1, ROUTE, ["r"], firstOf("gRPC Go"));
    talk.ack(1, ROUTE);
    expect(rememberedBy(talk).filter(({ kind }) => kind === "clusters-elsewhere")).toEqual([]);
  });

  test("is waited for while another client of its id gets Clusters here", () => {
    const talk = new Conversation({ remembers: true });
    talk.put(plain("old"), plain("new"), routeTo("old"));
    talk.open(1, "delta", CLUSTER, 1);
    talk.subscribe(1, CLUSTER, [], firstOf());
    talk.open(2, "delta", undefined, 2);
    talk.subscribe(2, CLUSTER, [], firstOf());
    talk.close(1);
    talk.open(3, "sotw", ROUTE, 3);
    askFor(talk, 3, "sotw", ROUTE);
    talk.ack(3, ROUTE);
    expect(rememberedBy(talk).filter((one) => one.kind === "clusters-elsewhere")).toEqual([
      { kind: "clusters-elsewhere", node: "n", isElsewhere: false, isHere: true },
    ]);
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
    talk.machine.on({ kind: "history-restored", remembered: remembered(before) });
    talk.put(plain("new"), routeTo("new"));
    comeBack(talk, version);
  });

  test("is protected against what changed while there was no server", () => {
    const before = new Conversation({ remembers: true });
    before.put(plain("old"), routeTo("old"));
    before.open(1, "sotw");
    const [first] = before.subscribe(1, CLUSTER, [], firstOf());
    const talk = new Conversation();
    talk.machine.on({ kind: "history-restored", remembered: remembered(before) });
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

describe("what a server remembers", () => {
  test("is what changed of its Clusters, and under which version it was sent; each once", () => {
    const talk = new Conversation({ remembers: true });
    talk.put(plain("a"), routeTo("a"));
    for (const stream of [1, 2]) {
      talk.open(stream, "sotw");
      talk.subscribe(stream, CLUSTER, [], firstOf());
    }
    talk.change({ puts: [plain("a"), plain("b")], deletes: [{ type: CLUSTER, name: "none" }] });
    expect(remembered(talk)).toEqual([
      { kind: "changed", revision: 1, type: CLUSTER, layer: "base", puts: [plain("a")], deletes: [] },
      {
        kind: "served",
        revision: 1,
        type: CLUSTER,
        layers: ["base"],
        version: expect.any(String),
        pendingRemovals: [],
      },
      { kind: "changed", revision: 2, type: CLUSTER, layer: "base", puts: [plain("b")], deletes: [] },
    ]);
  });

  test("is of an error in place of a Cluster that there is none", () => {
    const talk = new Conversation({ remembers: true });
    talk.put(plain("a"), failure(CLUSTER, "b", 14));
    talk.put(failure(CLUSTER, "a", 14));
    const about = { kind: "changed", type: CLUSTER, layer: "base" };
    expect(remembered(talk)).toEqual([
      { ...about, revision: 1, puts: [plain("a")], deletes: [] },
      { ...about, revision: 2, puts: [], deletes: ["a"] },
    ]);
    expect([...talk.machine.remembered()]).toEqual([]);
    talk.put(plain("a"));
    expect([...talk.machine.remembered()]).toEqual([{ ...about, revision: 3, puts: [plain("a")], deletes: [] }]);
  });

  test("is not asked of it unless it shall", () => {
    const talk = new Conversation();
    talk.put(plain("a"));
    talk.open(1, "sotw");
    talk.subscribe(1, CLUSTER, [], firstOf());
    expect(remembered(talk)).toEqual([]);
  });

  test("of a server before is replaced by the first transaction, in every layer", () => {
    const talk = new Conversation({ nodeMapping: () => ["node/n", "base"] });
    const changed = { kind: "changed", revision: 7, type: CLUSTER, deletes: [] } as const;
    const history: readonly Remembered[] = [
      { ...changed, layer: "base", puts: [plain("a"), plain("b")] },
      { ...changed, layer: "node/n", puts: [plain("c")] },
    ];
    talk.machine.on({ kind: "history-restored", remembered: history });
    talk.put(plain("b"), plain("d"));
    const there = talk.machine.resources(["node/n", "base"], CLUSTER);
    expect([...there].map(({ name }) => name).sort()).toEqual(["b", "d"]);
    expect(talk.machine.revision).toBe(8);
    talk.put(plain("e"));
    expect([...talk.machine.resources(["node/n", "base"], CLUSTER)].length).toBe(3);
  });
});

test("what a server before left is gone with an empty transaction too", () => {
  const talk = new Conversation();
  const changed = { kind: "changed", revision: 7, type: CLUSTER, deletes: [] } as const;
  talk.machine.on({ kind: "history-restored", remembered: [{ ...changed, layer: "base", puts: [plain("a")] }] });
  talk.commit([]);
  expect([...talk.machine.resources(["base"], CLUSTER)]).toEqual([]);
});

function remembered(talk: Conversation): readonly Remembered[] {
  return talk.asked.flatMap((effect) => (effect.kind === "remember" ? [effect.what] : []));
}
