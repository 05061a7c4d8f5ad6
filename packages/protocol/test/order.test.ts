import { formatTypeUrl, type TypeUrl } from "@xdskit/protocol";
import type { DiscoveryRequest } from "@xdskit/protocol/internal";
import { describe, expect, test, vi } from "vitest";
import { WarmingClusters } from "../src/server/order/warming-clusters.ts";
import { Conversation, delta, node, type Said, sotw } from "./support/conversation.ts";
import { CLUSTER, ENDPOINTS, LISTENER, ROUTE, resource, traits } from "./support/resources.ts";

const routeTo = (cluster: string): ReturnType<typeof resource> =>
  resource(ROUTE, "r", cluster, { references: [{ type: CLUSTER, name: cluster }] });
const plain = (name: string): ReturnType<typeof resource> => resource(CLUSTER, name, "1", { references: [] });
const says = (said: readonly Said[]): unknown => said.map((one) => one.says.join());

/** A client of both, in sync, whose route goes to `old`. */
function inSync(userAgentName = ""): Conversation {
  const talk = new Conversation({ dialect: { orderLimitMs: 10_000 } });
  talk.put(plain("old"), routeTo("old"));
  talk.open(1, "delta");
  talk.hear(1, delta(CLUSTER, { node: node("n", userAgentName) }));
  talk.hear(1, delta(CLUSTER, { nonce: "1" }));
  talk.hear(1, delta(ROUTE, { subscribe: ["r"] }));
  talk.hear(1, delta(ROUTE, { nonce: "2" }));
  return talk;
}

/** The route goes to `new`, and `old` is gone. */
function swap(talk: Conversation): readonly Said[] {
  talk.change({ puts: [plain("new"), routeTo("new")], deletes: [{ type: CLUSTER, name: "old" }] });
  return talk.turns();
}

function waitsOf(talk: Conversation): unknown {
  const [stream] = talk.machine.streams();
  return stream?.types.map(({ wait, pendingRemovals }) => ({ wait, pendingRemovals: pendingRemovals }));
}

const reportsOf = (talk: Conversation): unknown =>
  talk.reports.flatMap((one) =>
    one.kind === "wait-began" || one.kind === "wait-ended" || one.kind === "order-overdue"
      ? [`${one.kind} ${one.wait.for}`]
      : [],
  );

describe("a Cluster that is swapped for another", () => {
  test("says at each step who waits for whom", () => {
    const talk = inSync();
    expect(waitsOf(talk)).toEqual([
      { wait: undefined, pendingRemovals: [] },
      { wait: undefined, pendingRemovals: [] },
    ]);
    expect(says(swap(talk))).toEqual(["new@1"]);
    expect(waitsOf(talk)).toEqual([
      { wait: { for: "users", type: ROUTE, isRefused: false }, pendingRemovals: ["old"] },
      { wait: { for: "cluster", name: "new" }, pendingRemovals: [] },
    ]);
    expect(says(talk.hear(1, delta(CLUSTER, { nonce: "3" })))).toEqual(["r@new"]);
    expect(says(talk.hear(1, delta(ROUTE, { nonce: "4" })))).toEqual(["-old"]);
    expect(waitsOf(talk)).toEqual([
      { wait: undefined, pendingRemovals: [] },
      { wait: undefined, pendingRemovals: [] },
    ]);
    expect(reportsOf(talk)).toEqual([
      "wait-began users",
      "wait-began cluster",
      "wait-ended cluster",
      "wait-ended users",
    ]);
  });

  test("is told, with the refusal, when the route is refused", () => {
    const talk = inSync();
    swap(talk);
    talk.hear(1, delta(CLUSTER, { nonce: "3" }));
    talk.hear(1, delta(ROUTE, { nonce: "4", error: { code: 13, message: "no" } }));
    expect(waitsOf(talk)).toEqual([
      { wait: { for: "users", type: ROUTE, isRefused: true }, pendingRemovals: ["old"] },
      { wait: undefined, pendingRemovals: [] },
    ]);
  });

  test("goes on without a client that does not answer, and says so", () => {
    const talk = inSync();
    swap(talk);
    const timers = talk.asked.flatMap((effect) => (effect.kind === "start-timer" ? [effect] : []));
    expect(timers.map(({ ms }) => ms)).toEqual([30_000, 10_000]);
    for (const { timer } of timers) talk.fire(timer);
    expect(says(talk.turns())).toEqual(["r@new"]);
    expect(reportsOf(talk)).toEqual([
      "wait-began users",
      "wait-began cluster",
      "order-overdue cluster",
      "wait-ended cluster",
    ]);
    // Nor is the route's answer waited for any longer than that.
    const last = talk.asked.flatMap((effect) => (effect.kind === "start-timer" ? [effect.timer] : [])).at(-1);
    talk.fire(last ?? 0);
    expect(says(talk.turns())).toEqual(["-old"]);
  });

  test("asks an Envoy that withholds its ACK every second, and goes on where endpoints were accepted", () => {
    const talk = inSync("envoy");
    talk.put(resource(ENDPOINTS, "new", "e"));
    talk.hear(1, delta(ENDPOINTS, { subscribe: ["new"] }));
    talk.hear(1, delta(ENDPOINTS, { nonce: "3" }));
    talk.change({ puts: [resource(CLUSTER, "new", "1"), routeTo("new")], deletes: [{ type: CLUSTER, name: "old" }] });
    expect(says(talk.turns())).toEqual(["new@1", "new@e"]);
    talk.hear(1, delta(ENDPOINTS, { nonce: "5" }));
    const timers = talk.asked.flatMap((effect) => (effect.kind === "start-timer" ? [effect] : []));
    expect(timers.map(({ ms }) => ms)).toEqual([1_000, 1_000]);
    for (const { timer } of timers) talk.fire(timer);
    expect(says(talk.turns())).toEqual(["r@new"]);
    expect(reportsOf(talk)).toEqual(["wait-began users", "wait-began cluster", "wait-ended cluster"]);
  });
});

test.each(["sotw", "delta"] as const)(
  "Clusters that come and go before the client can use them are forgotten with their responses (%s)",
  (variant) => {
    const brought = vi.spyOn(WarmingClusters.prototype, "bring");
    const talk = new Conversation();
    talk.put(plain("old"), routeTo("old"));
    const ask = (type: TypeUrl, what: { nonce?: string; versionInfo?: string } = {}): DiscoveryRequest => {
      const names = type === ROUTE ? ["r"] : [];
      return variant === "sotw"
        ? sotw(type, { node: node("n"), names, ...what })
        : delta(type, { node: node("n"), subscribe: what.nonce === undefined ? names : [], nonce: what.nonce });
    };
    const accept = (said: readonly Said[]): void => {
      for (const { stream, type, nonce, version } of said)
        accept(talk.hear(stream, ask(type, { nonce, versionInfo: version })));
    };
    talk.open(1, variant, CLUSTER);
    talk.open(2, variant, ROUTE);
    accept(talk.hear(1, ask(CLUSTER)));
    accept(talk.hear(2, ask(ROUTE)));
    for (const name of ["a", "b", "c"]) {
      // Its endpoints come from another server.
      talk.put(resource(CLUSTER, name, "1"));
      accept(talk.turns());
      talk.change({ deletes: [{ type: CLUSTER, name }] });
      accept(talk.turns());
    }
    const [warmingClusters] = brought.mock.contexts as WarmingClusters[];
    expect([brought.mock.calls.length, warmingClusters?.isEmpty]).toEqual([3, true]);
    brought.mockRestore();
  },
);

test("S-ORD-05 the endpoints of a Cluster that is gone are removed after it, from a client that is told by names", () => {
  const talk = inSync();
  talk.put(resource(ENDPOINTS, "old", "e"));
  talk.hear(1, delta(ENDPOINTS, { subscribe: ["old"] }));
  talk.hear(1, delta(ENDPOINTS, { nonce: "3" }));
  talk.change({
    puts: [resource(CLUSTER, "new", "1"), resource(ENDPOINTS, "new", "e"), routeTo("new")],
    deletes: [
      { type: CLUSTER, name: "old" },
      { type: ENDPOINTS, name: "old" },
    ],
  });
  expect(says(talk.turns())).toEqual(["new@1"]);
  expect(says(talk.hear(1, delta(CLUSTER, { nonce: "4" })))).toEqual(["r@new"]);
  expect(says(talk.hear(1, delta(ENDPOINTS, { subscribe: ["new"] })))).toEqual(["new@e"]);
  expect(says(talk.hear(1, delta(ENDPOINTS, { nonce: "6" })))).toEqual([]);
  expect(says(talk.hear(1, delta(ROUTE, { nonce: "5" })))).toEqual(["-old", "-old"]);
});

test("S-ORD-05 S-DLT-13 endpoints that are asked for by an alias are removed as well, whatever else is asked for meanwhile", () => {
  const talk = new Conversation();
  const endpoints = resource(ENDPOINTS, "e", "1", { aliases: ["e!"] });
  talk.put(endpoints, resource(LISTENER, "l", "1"));
  talk.open(1, "delta");
  talk.hear(1, delta(ENDPOINTS, { node: node("n"), subscribe: ["e!", "other"] }));
  talk.hear(1, delta(ENDPOINTS, { nonce: "1" }));
  talk.hear(1, delta(LISTENER, { subscribe: ["l"] }));
  talk.change({ deletes: [{ type: ENDPOINTS, name: "e" }] });
  expect(talk.turns()).toEqual([]);
  talk.hear(1, delta(ENDPOINTS, { unsubscribe: ["other"] }));
  expect(says(talk.hear(1, delta(LISTENER, { nonce: "2" })))).toEqual(["-e"]);
});

test("S-ORD-05 endpoints that a Cluster no longer uses are removed once the client has the Cluster without them", () => {
  const under = (name: string): ReturnType<typeof resource> =>
    resource(CLUSTER, "c", name, { references: [{ type: ENDPOINTS, name }] });
  const talk = new Conversation();
  talk.put(under("before"), resource(ENDPOINTS, "before", "e"));
  talk.open(1, "delta");
  talk.hear(1, delta(CLUSTER, { node: node("n") }));
  talk.hear(1, delta(CLUSTER, { nonce: "1" }));
  talk.hear(1, delta(ENDPOINTS, { subscribe: ["before"] }));
  talk.hear(1, delta(ENDPOINTS, { nonce: "2" }));
  talk.change({
    puts: [under("after"), resource(ENDPOINTS, "after", "e")],
    deletes: [{ type: ENDPOINTS, name: "before" }],
  });
  expect(says(talk.turns())).toEqual(["c@after"]);
  expect(says(talk.hear(1, delta(ENDPOINTS, { subscribe: ["after"] })))).toEqual(["after@e"]);
  expect(says(talk.hear(1, delta(ENDPOINTS, { nonce: "4" })))).toEqual([]);
  expect(says(talk.hear(1, delta(CLUSTER, { nonce: "3" })))).toEqual(["-before"]);
});

test("S-DEL-04 endpoints that no Cluster goes with are removed at once", () => {
  const talk = inSync();
  talk.put(resource(ENDPOINTS, "old", "e"));
  talk.hear(1, delta(ENDPOINTS, { subscribe: ["old"] }));
  talk.hear(1, delta(ENDPOINTS, { nonce: "3" }));
  talk.change({ puts: [], deletes: [{ type: ENDPOINTS, name: "old" }] });
  expect(says(talk.turns())).toEqual(["-old"]);
});

describe("Clusters that come in several responses", () => {
  /** A client whose route goes to `old`, and is to go to a Cluster that one of two responses brings. */
  function inParts(goesTo: "x" | "y"): Conversation {
    const talk = new Conversation({ dialect: { maxResponseBytes: 1 } });
    talk.put(plain("old"), routeTo("old"));
    talk.open(1, "delta");
    talk.hear(1, delta(CLUSTER, { node: node("n") }));
    talk.hear(1, delta(CLUSTER, { nonce: "1" }));
    talk.hear(1, delta(ROUTE, { subscribe: ["r"] }));
    talk.hear(1, delta(ROUTE, { nonce: "2" }));
    talk.put(plain("x"), plain("y"), routeTo(goesTo));
    expect(says(talk.turns())).toEqual(["x@1", "y@1"]);
    return talk;
  }

  test("are used after the ACK of the response that brought them", () => {
    const second = inParts("y");
    expect(says(second.hear(1, delta(CLUSTER, { nonce: "3" })))).toEqual([]);
    expect(says(second.hear(1, delta(CLUSTER, { nonce: "4" })))).toEqual(["r@y"]);
    const first = inParts("x");
    expect(says(first.hear(1, delta(CLUSTER, { nonce: "3" })))).toEqual(["r@x"]);
  });

  test("are not used because another response was accepted", () => {
    const talk = inParts("x");
    expect(says(talk.hear(1, delta(CLUSTER, { nonce: "3", error: { code: 13, message: "no" } })))).toEqual([]);
    expect(says(talk.hear(1, delta(CLUSTER, { nonce: "4" })))).toEqual([]);
    expect(waitsOf(talk)).toEqual([
      { wait: undefined, pendingRemovals: [] },
      { wait: { for: "cluster", name: "x" }, pendingRemovals: [] },
    ]);
    talk.put(resource(CLUSTER, "x", "2", { references: [] }));
    expect(says(talk.turns())).toEqual(["x@2"]);
    expect(says(talk.hear(1, delta(CLUSTER, { nonce: "5" })))).toEqual(["r@x"]);
  });
});

test("a Listener is followed by what it names before the Cluster that it used goes", () => {
  const talk = new Conversation();
  const listener = (label: string, type: typeof CLUSTER, name: string): ReturnType<typeof resource> =>
    resource(LISTENER, "l", label, { references: [{ type, name }] });
  talk.put(plain("old"), plain("new"), listener("direct", CLUSTER, "old"), routeTo("new"));
  talk.open(1, "delta");
  talk.hear(1, delta(CLUSTER, { node: node("n") }));
  talk.hear(1, delta(CLUSTER, { nonce: "1" }));
  talk.hear(1, delta(LISTENER, {}));
  talk.hear(1, delta(LISTENER, { nonce: "2" }));
  talk.change({ puts: [listener("routed", ROUTE, "r")], deletes: [{ type: CLUSTER, name: "old" }] });
  expect(says(talk.turns())).toEqual(["l@routed"]);
  expect(says(talk.hear(1, delta(LISTENER, { nonce: "3" })))).toEqual([]);
  expect(says(talk.hear(1, delta(ROUTE, { subscribe: ["r"] })))).toEqual(["r@new"]);
  expect(says(talk.hear(1, delta(ROUTE, { nonce: "4" })))).toEqual(["-old"]);
});

describe("a route that has to wait", () => {
  const route = (name: string, cluster: string, label: string): ReturnType<typeof resource> =>
    resource(ROUTE, name, label, { references: [{ type: CLUSTER, name: cluster }] });

  /** Routes a and b go to `old`; then a goes to a Cluster without endpoints. */
  function waiting(variant: "sotw" | "delta"): Conversation {
    const talk = new Conversation();
    talk.put(plain("old"), route("a", "old", "1"), route("b", "old", "1"));
    talk.open(1, variant);
    const ask = (type: typeof CLUSTER, names: readonly string[], first = {}): void => {
      const [said] = talk.hear(
        1,
        variant === "sotw" ? sotw(type, { ...first, names }) : delta(type, { ...first, subscribe: names }),
      );
      accept(talk, variant, type, names, said);
    };
    ask(CLUSTER, [], { node: node("n") });
    ask(ROUTE, ["a", "b"]);
    talk.put(resource(CLUSTER, "empty", "1"), route("a", "empty", "2"));
    const [brought] = talk.turns();
    accept(talk, variant, CLUSTER, [], brought);
    return talk;
  }

  function accept(
    talk: Conversation,
    variant: "sotw" | "delta",
    type: typeof CLUSTER,
    names: readonly string[],
    said: Said | undefined,
  ): readonly Said[] {
    const { nonce, version: versionInfo } = said ?? {};
    return talk.hear(1, variant === "sotw" ? sotw(type, { names, nonce, versionInfo }) : delta(type, { nonce }));
  }

  test.each(["sotw", "delta"] as const)("holds no other one up (%s)", (variant) => {
    const talk = waiting(variant);
    expect(waitsOf(talk)).toMatchObject([{}, { wait: { for: "endpoints", name: "empty" } }]);
    talk.put(route("b", "old", "2"));
    const [other] = talk.turns();
    expect(other?.says).toEqual(["b@2"]);
    expect(accept(talk, variant, ROUTE, ["a", "b"], other)).toEqual([]);
    talk.put(resource(ENDPOINTS, "empty", "1"));
    expect(says(talk.turns())).toEqual(["a@2"]);
    expect(waitsOf(talk)).toMatchObject([{}, { wait: undefined }]);
  });

  test.each(["sotw", "delta"] as const)("is not sent when it is as it was before (%s)", (variant) => {
    const talk = waiting(variant);
    talk.put(route("a", "old", "1"));
    expect(says(talk.turns())).toEqual([]);
    expect(waitsOf(talk)).toMatchObject([{}, { wait: undefined }]);
  });

  test("holds up nothing when the client gives it up", () => {
    const talk = waiting("delta");
    talk.put(plain("other"));
    accept(talk, "delta", CLUSTER, [], talk.turns()[0]);
    talk.hear(1, delta(ROUTE, { unsubscribe: ["a"] }));
    talk.change({ puts: [route("b", "other", "2")], deletes: [{ type: CLUSTER, name: "old" }] });
    const [moved] = talk.turns();
    expect(moved?.says).toEqual(["b@2"]);
    expect(says(accept(talk, "delta", ROUTE, [], moved))).toEqual(["-old"]);
  });

  test.each(["sotw", "delta"] as const)("keeps what it goes on using, whatever else is accepted (%s)", (variant) => {
    const talk = waiting(variant);
    talk.change({ puts: [route("b", "empty", "2")], deletes: [{ type: CLUSTER, name: "old" }] });
    expect(says(talk.turns())).toEqual([]);
    talk.put(resource(ENDPOINTS, "empty", "1"));
    const [routes] = talk.turns();
    expect(routes?.says).toEqual(["a@2", "b@2"]);
    const gone = variant === "sotw" ? "empty@1" : "-old";
    expect(says(accept(talk, variant, ROUTE, ["a", "b"], routes))).toEqual([gone]);
  });
});

describe("a Cluster that a client asks for by name, as gRPC does", () => {
  /** In sync by names; then a swap, of which the client accepts the route while calls to `old` are under way. */
  function swappedByName(): Conversation {
    const talk = new Conversation({ dialect: { orderLimitMs: 10_000 } });
    talk.put(plain("old"), routeTo("old"));
    talk.open(1, "sotw");
    talk.hear(1, sotw(ROUTE, { node: node("n", "gRPC Java"), names: ["r"] }));
    talk.hear(1, sotw(ROUTE, { nonce: "1", names: ["r"] }));
    talk.hear(1, sotw(CLUSTER, { names: ["old"] }));
    talk.hear(1, sotw(CLUSTER, { nonce: "2", names: ["old"] }));
    expect(says(swap(talk))).toEqual(["r@new"]);
    expect(says(talk.hear(1, sotw(ROUTE, { nonce: "3", names: ["r"] })))).toEqual([]);
    return talk;
  }

  test("is there until the client gives it up", () => {
    const talk = swappedByName();
    expect(waitsOf(talk)).toMatchObject([{ wait: { for: "release", name: "old" }, pendingRemovals: ["old"] }, {}]);
    const [both] = talk.hear(1, sotw(CLUSTER, { nonce: "2", names: ["old", "new"] }));
    expect(both?.says).toEqual(["new@1", "old@1"]);
    talk.hear(1, sotw(CLUSTER, { nonce: both?.nonce, names: ["old", "new"] }));
    talk.hear(1, sotw(CLUSTER, { nonce: both?.nonce, names: ["new"] }));
    expect(waitsOf(talk)).toMatchObject([{ wait: undefined, pendingRemovals: [] }, {}]);
  });

  test("goes at once where the route still goes there, for then the client is not going to give it up", () => {
    const talk = swappedByName();
    talk.hear(1, sotw(CLUSTER, { nonce: "2", names: ["new"] }));
    talk.change({ deletes: [{ type: CLUSTER, name: "new" }] });
    talk.hear(1, sotw(CLUSTER, { nonce: "4", names: ["new"] }));
    expect([...talk.machine.streams()][0]?.types[0]).toMatchObject({
      missing: ["new"],
      pendingRemovals: [],
      wait: undefined,
    });
  });

  test("S-ORD-05: goes at once if the client could never use it", () => {
    const talk = new Conversation();
    talk.put(plain("old"), routeTo("old"));
    talk.open(1, "delta");
    talk.hear(1, delta(CLUSTER, { node: node("n"), subscribe: ["old", "refused"] }));
    talk.hear(1, delta(CLUSTER, { nonce: "1" }));
    talk.hear(1, delta(ROUTE, { subscribe: ["r"] }));
    talk.hear(1, delta(ROUTE, { nonce: "2" }));
    talk.put(plain("refused"));
    expect(says(talk.turns())).toEqual(["refused@1"]);
    talk.hear(1, delta(CLUSTER, { nonce: "3", error: { code: 13, message: "no" } }));
    talk.change({ deletes: [{ type: CLUSTER, name: "refused" }] });
    expect(says(talk.turns())).toEqual(["-refused"]);
  });

  test("goes after the limit from a client that does not give it up, which is told of", () => {
    const talk = swappedByName();
    const timers = talk.asked.flatMap((effect) => (effect.kind === "start-timer" ? [effect.timer] : []));
    talk.fire(timers.at(-1) ?? -1);
    expect(says(talk.turns())).toEqual([""]);
    expect(reportsOf(talk)).toEqual(["wait-began users", "order-overdue release", "wait-ended release"]);
  });
});

test("a Cluster whose secret is not there is not used, though its endpoints are accepted", () => {
  const talk = new Conversation({ dialect: { orderLimitMs: 30_000 } });
  const secret = { type: formatTypeUrl("acme.Secret"), name: "s" };
  talk.put(plain("old"), routeTo("old"), resource(ENDPOINTS, "new", "1"));
  talk.open(1, "delta");
  talk.hear(1, delta(CLUSTER, { node: node("n", "envoy") }));
  talk.hear(1, delta(CLUSTER, { nonce: "1" }));
  talk.hear(1, delta(ROUTE, { subscribe: ["r"] }));
  talk.hear(1, delta(ROUTE, { nonce: "2" }));
  const fresh = resource(CLUSTER, "new", "1", { references: [{ type: ENDPOINTS, name: "new" }, secret] });
  talk.put(fresh, routeTo("new"));
  expect(says(talk.turns())).toEqual(["new@1"]);
  expect(says(talk.hear(1, delta(ENDPOINTS, { subscribe: ["new"] })))).toEqual(["new@1"]);
  talk.hear(1, delta(ENDPOINTS, { nonce: "4" }));
  for (let second = 0; second < 29; second++) {
    const timers = talk.asked.flatMap((effect) => (effect.kind === "start-timer" ? [effect.timer] : []));
    talk.fire(timers.at(-1) ?? -1);
    expect(says(talk.turns())).toEqual([]);
  }
  expect(waitsOf(talk)).toMatchObject([{}, {}, { wait: { for: "cluster", name: "new" } }]);
});

test.each(["sotw", "delta"] as const)(
  "Clusters come on a stream of their own in %s: routes on the aggregated one do not wait for any there",
  (variant) => {
    const ask = (type: TypeUrl, ...names: readonly string[]): DiscoveryRequest =>
      variant === "delta"
        ? delta(type, { node: node("n", "envoy"), subscribe: names })
        : sotw(type, { node: node("n", "envoy"), names });
    const talk = new Conversation({ dialect: { orderLimitMs: 10_000 } });
    const web = resource(CLUSTER, "c", "1", { references: [{ type: ENDPOINTS, name: "c" }] });
    talk.put(web, resource(ENDPOINTS, "c", "1"), routeTo("c"));
    talk.open(1, variant, CLUSTER);
    talk.open(2, variant);
    expect(says(talk.hear(1, ask(CLUSTER)))).toEqual(["c@1"]);
    expect(says(talk.hear(2, ask(ENDPOINTS, "c")))).toEqual(["c@1"]);
    expect(says(talk.hear(2, ask(ROUTE, "r")))).toEqual(["r@c"]);
    // Another node has nothing on the streams of this one.
    talk.open(3, variant);
    const other = variant === "delta" ? delta(ROUTE, { node: node("m", "envoy"), subscribe: ["r"] }) : undefined;
    if (other !== undefined) expect(says(talk.hear(3, other))).toEqual([]);
  },
);

describe("streams for each type of one node over two connections", () => {
  /** Clusters on one connection, routes on another; then the route goes to a new Cluster. */
  function swapOverTwo(others: (talk: Conversation) => void): readonly Said[] {
    const talk = new Conversation();
    talk.put(plain("old"), routeTo("old"));
    talk.open(1, "delta", CLUSTER, 1);
    talk.hear(1, delta(CLUSTER, { node: node("n") }));
    talk.hear(1, delta(CLUSTER, { nonce: "1" }));
    others(talk);
    talk.open(2, "delta", ROUTE, 2);
    talk.hear(2, delta(ROUTE, { node: node("n"), subscribe: ["r"] }));
    talk.hear(2, delta(ROUTE, { nonce: "1" }));
    return swap(talk).filter(({ stream }) => stream <= 2);
  }

  test("are one client's", () => {
    expect(says(swapOverTwo(() => {}))).toEqual(["new@1"]);
  });

  test("S-ORD-06: are one client's if one of them is opened once more on its connection", () => {
    const talk = new Conversation();
    talk.put(plain("old"), routeTo("old"));
    talk.open(1, "delta", CLUSTER, 1);
    talk.hear(1, delta(CLUSTER, { node: node("n") }));
    talk.hear(1, delta(CLUSTER, { nonce: "1" }));
    for (const stream of [2, 3]) {
      talk.open(stream, "delta", ROUTE, 2);
      expect(says(talk.hear(stream, delta(ROUTE, { node: node("n"), subscribe: ["r"] })))).toEqual(["r@old"]);
      talk.hear(stream, delta(ROUTE, { nonce: "1" }));
    }
    expect(says(swap(talk))).toEqual(["new@1"]);
  });

  test("S-ORD-05: a Cluster goes as soon as the routes are found to be as they were", () => {
    const talk = new Conversation();
    talk.put(plain("old"), plain("kept"), routeTo("kept"));
    for (const [stream, type, subscribe] of [
      [1, CLUSTER, []],
      [2, ROUTE, ["r"]],
    ] as const) {
      talk.open(stream, "delta", type, stream);
      talk.hear(stream, delta(type, { node: node("n"), subscribe }));
      talk.hear(stream, delta(type, { nonce: "1" }));
    }
    talk.change({ puts: [routeTo("gone")], deletes: [{ type: CLUSTER, name: "old" }] });
    talk.put(routeTo("kept"));
    expect(says(talk.turns())).toEqual(["-old"]);
  });

  test("may be those of several clients if two connections have one of the same type", () => {
    const said = swapOverTwo((talk) => {
      talk.open(3, "delta", CLUSTER, 3);
      talk.hear(3, delta(CLUSTER, { node: node("n") }));
      talk.hear(3, delta(CLUSTER, { nonce: "1" }));
    });
    expect(says(said)).toEqual(["new@1,-old"]);
  });
});

test("a route waits for the secret of its Cluster, if the client asks here for that", () => {
  const secret = formatTypeUrl("acme.Secret");
  const known = (type: typeof secret): ReturnType<typeof traits> =>
    type === secret ? { type, kind: "sds", isFullState: false, owes: [] } : traits(type);
  const talk = new Conversation({ traits: known });
  talk.put(plain("old"), routeTo("old"));
  talk.open(1, "delta");
  talk.hear(1, delta(CLUSTER, { node: node("n") }));
  talk.hear(1, delta(CLUSTER, { nonce: "1" }));
  talk.hear(1, delta(ROUTE, { subscribe: ["r"] }));
  talk.hear(1, delta(ROUTE, { nonce: "2" }));
  talk.put(resource(CLUSTER, "new", "1", { references: [{ type: secret, name: "s" }] }), routeTo("new"));
  expect(says(talk.turns())).toEqual(["new@1"]);
  expect(says(talk.hear(1, delta(secret, { subscribe: ["s"] })))).toEqual(["-s"]);
  talk.hear(1, delta(secret, { nonce: "4" }));
  expect(says(talk.hear(1, delta(CLUSTER, { nonce: "3" })))).toEqual([]);
  expect(waitsOf(talk)).toMatchObject([{}, {}, { wait: { for: "secret", name: "new" } }]);
  talk.put(resource(secret, "s", "1"));
  expect(says(talk.turns())).toEqual(["s@1", "r@new"]);
});
