import { formatTypeUrl } from "@xdskit/protocol";
import { describe, expect, test, vi } from "vitest";
import { WarmingClusters } from "../src/server/order/warming-clusters.ts";
import { Conversation, node, type Said, says } from "./support/conversation.ts";
import { initialVersionsOf } from "./support/model-client.ts";
import { CLUSTER, ENDPOINTS, EXTENSION, LISTENER, plain, ROUTE, resource, traits } from "./support/resources.ts";

const routeTo = (cluster: string): ReturnType<typeof resource> =>
  resource(ROUTE, "r", cluster, { references: [{ type: CLUSTER, name: cluster }] });

/** A client of both, in sync, whose route goes to `old`. */
function inSync(userAgentName = ""): Conversation {
  const talk = new Conversation({ dialect: { orderLimitMs: 10_000 } });
  talk.put(plain("old"), routeTo("old"));
  talk.open(1, "delta");
  talk.subscribe(1, CLUSTER, [], { node: node("n", userAgentName) });
  talk.ack(1, CLUSTER);
  talk.subscribe(1, ROUTE, ["r"]);
  talk.ack(1, ROUTE);
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
    expect(says(swap(talk))).toEqual([["new@1"]]);
    expect(waitsOf(talk)).toEqual([
      { wait: { for: "users", type: ROUTE, isNacked: false }, pendingRemovals: ["old"] },
      { wait: { for: "cluster", name: "new" }, pendingRemovals: [] },
    ]);
    expect(says(talk.ack(1, CLUSTER))).toEqual([["r@new"]]);
    expect(says(talk.ack(1, ROUTE))).toEqual([["-old"]]);
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
    talk.ack(1, CLUSTER);
    talk.nack(1, ROUTE);
    expect(waitsOf(talk)).toEqual([
      { wait: { for: "users", type: ROUTE, isNacked: true }, pendingRemovals: ["old"] },
      { wait: undefined, pendingRemovals: [] },
    ]);
  });

  test("goes on without a client that does not answer, and says so", () => {
    const talk = inSync();
    swap(talk);
    expect([...talk.timers.values()]).toEqual([30_000, 10_000]);
    for (const timer of talk.timers.keys()) talk.fire(timer);
    expect(says(talk.turns())).toEqual([["r@new"]]);
    expect(reportsOf(talk)).toEqual([
      "wait-began users",
      "wait-began cluster",
      "order-overdue cluster",
      "wait-ended cluster",
    ]);
    // Nor is the route's answer waited for any longer than that.
    expect(says(talk.pass(10_000))).toEqual([["-old"]]);
  });

  test("asks an Envoy that withholds its ACK every second, and goes on where endpoints were accepted", () => {
    const talk = inSync("envoy");
    talk.put(resource(ENDPOINTS, "new", "e"));
    talk.subscribe(1, ENDPOINTS, ["new"]);
    talk.ack(1, ENDPOINTS);
    talk.change({ puts: [resource(CLUSTER, "new", "1"), routeTo("new")], deletes: [{ type: CLUSTER, name: "old" }] });
    expect(says(talk.turns())).toEqual([["new@1"], ["new@e"]]);
    talk.ack(1, ENDPOINTS);
    expect([...talk.timers.values()]).toEqual([1_000, 1_000]);
    expect(says(talk.pass(1_000))).toEqual([["r@new"]]);
    expect(reportsOf(talk)).toEqual(["wait-began users", "wait-began cluster", "wait-ended cluster"]);
  });
});

test.each(["sotw", "delta"] as const)(
  "Clusters that come and go before the client can use them are forgotten with their responses (%s)",
  (variant) => {
    const brought = vi.spyOn(WarmingClusters.prototype, "bring");
    const talk = new Conversation();
    talk.put(plain("old"), routeTo("old"));
    talk.open(1, variant, CLUSTER);
    talk.open(2, variant, ROUTE);
    talk.settle(talk.subscribe(1, CLUSTER, [], { node: node("n") }));
    talk.settle(talk.subscribe(2, ROUTE, ["r"], { node: node("n") }));
    for (const name of ["a", "b", "c"]) {
      // Its endpoints come from another server.
      talk.put(resource(CLUSTER, name, "1"));
      talk.settle();
      talk.delete(CLUSTER, name);
      talk.settle();
    }
    const [warmingClusters] = brought.mock.contexts as WarmingClusters[];
    expect([brought.mock.calls.length, warmingClusters?.isEmpty]).toEqual([3, true]);
    brought.mockRestore();
  },
);

test("S-ORD-05 the endpoints of a Cluster that is gone are removed after it, from a client that is told by names", () => {
  const talk = inSync();
  talk.put(resource(ENDPOINTS, "old", "e"));
  talk.subscribe(1, ENDPOINTS, ["old"]);
  talk.ack(1, ENDPOINTS);
  talk.change({
    puts: [resource(CLUSTER, "new", "1"), resource(ENDPOINTS, "new", "e"), routeTo("new")],
    deletes: [
      { type: CLUSTER, name: "old" },
      { type: ENDPOINTS, name: "old" },
    ],
  });
  expect(says(talk.turns())).toEqual([["new@1"]]);
  expect(says(talk.ack(1, CLUSTER))).toEqual([["r@new"]]);
  expect(says(talk.subscribe(1, ENDPOINTS, ["new"]))).toEqual([["new@e"]]);
  expect(says(talk.ack(1, ENDPOINTS))).toEqual([]);
  expect(says(talk.ack(1, ROUTE))).toEqual([["-old"], ["-old"]]);
});

test("S-ORD-05 S-DLT-13 endpoints that are asked for by an alias are removed as well, whatever else is asked for meanwhile", () => {
  const talk = new Conversation();
  const endpoints = resource(ENDPOINTS, "e", "1", { aliases: ["e!"] });
  talk.put(endpoints, resource(LISTENER, "l", "1"));
  talk.open(1, "delta");
  talk.subscribe(1, ENDPOINTS, ["e!", "other"], { node: node("n") });
  talk.ack(1, ENDPOINTS);
  talk.subscribe(1, LISTENER, ["l"]);
  talk.delete(ENDPOINTS, "e");
  expect(talk.turns()).toEqual([]);
  talk.unsubscribe(1, ENDPOINTS, ["other"]);
  expect(says(talk.ack(1, LISTENER))).toEqual([["-e"]]);
});

test("S-ORD-05 endpoints that a Cluster no longer uses are removed once the client has the Cluster without them", () => {
  const under = (name: string): ReturnType<typeof resource> =>
    resource(CLUSTER, "c", name, { references: [{ type: ENDPOINTS, name }] });
  const talk = new Conversation();
  talk.put(under("before"), resource(ENDPOINTS, "before", "e"));
  talk.open(1, "delta");
  talk.subscribe(1, CLUSTER, [], { node: node("n") });
  talk.ack(1, CLUSTER);
  talk.subscribe(1, ENDPOINTS, ["before"]);
  talk.ack(1, ENDPOINTS);
  talk.change({
    puts: [under("after"), resource(ENDPOINTS, "after", "e")],
    deletes: [{ type: ENDPOINTS, name: "before" }],
  });
  expect(says(talk.turns())).toEqual([["c@after"]]);
  expect(says(talk.subscribe(1, ENDPOINTS, ["after"]))).toEqual([["after@e"]]);
  expect(says(talk.ack(1, ENDPOINTS))).toEqual([]);
  expect(says(talk.ack(1, CLUSTER))).toEqual([["-before"]]);
});

describe("S-DEL-04 S-ORD-05 a filter that its Listener exchanges for another, where removals wait for users", () => {
  const listener = (filter: string, label: string, ...clusters: readonly string[]): ReturnType<typeof resource> =>
    resource(LISTENER, "l", label, {
      references: [{ type: EXTENSION, name: filter }, ...clusters.map((name) => ({ type: CLUSTER, name }))],
    });
  const filter = (name: string): ReturnType<typeof resource> => resource(EXTENSION, name, "1");
  const deletes = [{ type: EXTENSION, name: "e0" }];

  /** An Envoy with a Listener that uses `e0`, in sync. */
  function withFilter(): Conversation {
    const deltaRemovals = { otherwise: "at-once", ecds: "when-unreferenced" } as const;
    const talk = new Conversation({ dialect: { orderLimitMs: 10_000, deltaRemovals } });
    talk.put(plain("old"), listener("e0", "1"), filter("e0"));
    talk.open(1, "delta");
    talk.subscribe(1, CLUSTER, [], { node: node("n", "envoy") });
    talk.ack(1, CLUSTER);
    talk.subscribe(1, LISTENER, []);
    talk.ack(1, LISTENER);
    talk.subscribe(1, EXTENSION, ["e0"]);
    talk.ack(1, EXTENSION);
    return talk;
  }

  const filtersOf = (talk: Conversation): unknown => {
    const [stream] = talk.machine.streams();
    const state = stream?.types.find(({ type }) => type === EXTENSION);
    return { wait: state?.wait, pendingRemovals: state?.pendingRemovals };
  };
  const awaiting = (type: string, isNacked = false): unknown => ({
    wait: { for: "users", type, isNacked },
    pendingRemovals: ["e0"],
  });

  test("is removed after the client has ACKed the Listener, and the filter that it uses now", () => {
    const talk = withFilter();
    talk.change({ puts: [plain("new"), listener("e1", "2", "new"), filter("e1")], deletes });
    expect(says(talk.turns())).toEqual([["new@1"]]);
    expect(filtersOf(talk)).toEqual(awaiting(CLUSTER));
    expect(says(talk.ack(1, CLUSTER))).toEqual([["l@2"]]);
    expect(filtersOf(talk)).toEqual(awaiting(LISTENER));
    expect(says(talk.subscribe(1, EXTENSION, ["e1"]))).toEqual([["e1@1"]]);
    expect(says(talk.ack(1, LISTENER))).toEqual([]);
    expect(says(talk.ack(1, EXTENSION))).toEqual([["-e0"]]);
    expect(filtersOf(talk)).toEqual({ wait: undefined, pendingRemovals: [] });
  });

  test("is not removed from a client that unsubscribes from it first", () => {
    const talk = withFilter();
    talk.change({ puts: [listener("e1", "2"), filter("e1")], deletes });
    talk.turns();
    talk.subscribe(1, EXTENSION, ["e1"]);
    talk.ack(1, LISTENER);
    expect(says(talk.unsubscribe(1, EXTENSION, ["e0"]))).toEqual([]);
    expect(says(talk.ack(1, EXTENSION))).toEqual([]);
  });

  test("stays while the Listener is NACKed, and until it is replaced", () => {
    const talk = withFilter();
    talk.change({ puts: [listener("e1", "2"), filter("e1")], deletes });
    expect(says(talk.turns())).toEqual([["l@2"]]);
    expect(says(talk.nack(1, LISTENER))).toEqual([]);
    expect(filtersOf(talk)).toEqual(awaiting(LISTENER, true));
    talk.put(listener("e2", "3"));
    expect(says(talk.turns())).toEqual([["l@3"]]);
    talk.put(filter("e2"));
    expect(says(talk.subscribe(1, EXTENSION, ["e2"]))).toEqual([["e2@1"]]);
    talk.ack(1, EXTENSION);
    expect(says(talk.ack(1, LISTENER))).toEqual([["-e0"]]);
  });

  test("stays as long as the newest Listener refers to it, and until the one after that is ACKed", () => {
    const talk = withFilter();
    talk.change({ deletes });
    expect(says(talk.turns())).toEqual([]);
    talk.put(listener("e1", "2"), filter("e1"));
    expect(says(talk.turns())).toEqual([["l@2"]]);
    talk.put(listener("e0", "3"));
    expect(says(talk.ack(1, LISTENER))).toEqual([["l@3"]]);
    expect(says(talk.ack(1, LISTENER))).toEqual([]);
    expect(filtersOf(talk)).toEqual({ wait: undefined, pendingRemovals: [] });
    talk.put(listener("e1", "4"));
    expect(says(talk.turns())).toEqual([["l@4"]]);
    talk.subscribe(1, EXTENSION, ["e1"]);
    talk.ack(1, EXTENSION);
    expect(says(talk.ack(1, LISTENER))).toEqual([["-e0"]]);
  });

  test("is removed at once if no Listener changed", () => {
    const talk = withFilter();
    talk.put(filter("unused"));
    talk.subscribe(1, EXTENSION, ["unused"]);
    talk.ack(1, EXTENSION);
    talk.delete(EXTENSION, "unused");
    expect(says(talk.turns())).toEqual([["-unused"]]);
  });

  test("is removed when the client does not answer for too long", () => {
    const talk = withFilter();
    talk.change({ puts: [listener("e1", "2"), filter("e1")], deletes });
    expect(says(talk.turns())).toEqual([["l@2"]]);
    expect(says(talk.pass(10_000))).toEqual([["-e0"]]);
  });

  test("does not let its successor go before a Cluster that this needs", () => {
    const talk = withFilter();
    talk.put(filter("e1"));
    talk.subscribe(1, EXTENSION, ["e1"]);
    talk.ack(1, EXTENSION);
    talk.change({ puts: [listener("e1", "2")], deletes });
    expect(says(talk.turns())).toEqual([["l@2"]]);
    talk.put(plain("new"), resource(EXTENSION, "e1", "2", { references: [{ type: CLUSTER, name: "new" }] }));
    expect(says(talk.turns())).toEqual([["new@1"]]);
    expect(filtersOf(talk)).toEqual({ wait: { for: "cluster", name: "new" }, pendingRemovals: ["e0"] });
    expect(says(talk.ack(1, CLUSTER))).toEqual([["e1@2"]]);
    expect(says(talk.ack(1, LISTENER))).toEqual([]);
    expect(says(talk.ack(1, EXTENSION))).toEqual([["-e0"]]);
  });

  test("is not removed from a client that comes back with it before that has ACKed the Listener", () => {
    const talk = withFilter();
    talk.close(1);
    talk.change({ puts: [listener("e1", "2"), filter("e1")], deletes });
    talk.open(2, "delta");
    const holding = (name: string): ReturnType<typeof initialVersionsOf> => initialVersionsOf([[name, "1"]]);
    talk.subscribe(2, CLUSTER, [], { node: node("n", "envoy"), initialVersions: holding("old") });
    talk.subscribe(2, LISTENER, [], { initialVersions: holding("l") });
    expect(says(talk.subscribe(2, EXTENSION, ["e0"], { initialVersions: holding("e0") }))).toEqual([[]]);
    talk.subscribe(2, EXTENSION, ["e1"]);
    talk.ack(2, EXTENSION);
    talk.ack(2, LISTENER);
    expect(filtersOf(talk)).toEqual({ wait: { for: "return" }, pendingRemovals: ["e0"] });
  });
});

test("S-DEL-04 endpoints that no Cluster goes with are removed at once", () => {
  const talk = inSync();
  talk.put(resource(ENDPOINTS, "old", "e"));
  talk.subscribe(1, ENDPOINTS, ["old"]);
  talk.ack(1, ENDPOINTS);
  talk.change({ puts: [], deletes: [{ type: ENDPOINTS, name: "old" }] });
  expect(says(talk.turns())).toEqual([["-old"]]);
});

describe("Clusters that come in several responses", () => {
  /** A client whose route goes to `old`, and is to go to a Cluster that one of two responses brings. */
  function inParts(goesTo: "x" | "y"): Conversation {
    const talk = new Conversation({ dialect: { maxResponseBytes: 1 } });
    talk.put(plain("old"), routeTo("old"));
    talk.open(1, "delta");
    talk.subscribe(1, CLUSTER, [], { node: node("n") });
    talk.ack(1, CLUSTER);
    talk.subscribe(1, ROUTE, ["r"]);
    talk.ack(1, ROUTE);
    talk.put(plain("x"), plain("y"), routeTo(goesTo));
    expect(says(talk.turns())).toEqual([["x@1"], ["y@1"]]);
    return talk;
  }

  test("are used after the ACK of the response that brought them", () => {
    const second = inParts("y");
    expect(says(second.ack(1, CLUSTER, "3"))).toEqual([]);
    expect(says(second.ack(1, CLUSTER, "4"))).toEqual([["r@y"]]);
    const first = inParts("x");
    expect(says(first.ack(1, CLUSTER, "3"))).toEqual([["r@x"]]);
  });

  test("are not used because another response was accepted", () => {
    const talk = inParts("x");
    expect(says(talk.nack(1, CLUSTER, "3"))).toEqual([]);
    expect(says(talk.ack(1, CLUSTER, "4"))).toEqual([]);
    expect(waitsOf(talk)).toEqual([
      { wait: undefined, pendingRemovals: [] },
      { wait: { for: "cluster", name: "x" }, pendingRemovals: [] },
    ]);
    talk.put(resource(CLUSTER, "x", "2", { references: [] }));
    expect(says(talk.turns())).toEqual([["x@2"]]);
    expect(says(talk.ack(1, CLUSTER))).toEqual([["r@x"]]);
  });
});

test("a Listener is followed by what it names before the Cluster that it used goes", () => {
  const talk = new Conversation();
  const listener = (label: string, type: typeof CLUSTER, name: string): ReturnType<typeof resource> =>
    resource(LISTENER, "l", label, { references: [{ type, name }] });
  talk.put(plain("old"), plain("new"), listener("direct", CLUSTER, "old"), routeTo("new"));
  talk.open(1, "delta");
  talk.subscribe(1, CLUSTER, [], { node: node("n") });
  talk.ack(1, CLUSTER);
  talk.subscribe(1, LISTENER);
  talk.ack(1, LISTENER);
  talk.change({ puts: [listener("routed", ROUTE, "r")], deletes: [{ type: CLUSTER, name: "old" }] });
  expect(says(talk.turns())).toEqual([["l@routed"]]);
  expect(says(talk.ack(1, LISTENER))).toEqual([]);
  expect(says(talk.subscribe(1, ROUTE, ["r"]))).toEqual([["r@new"]]);
  expect(says(talk.ack(1, ROUTE))).toEqual([["-old"]]);
});

describe("a route that has to wait", () => {
  const route = (name: string, cluster: string, label: string): ReturnType<typeof resource> =>
    resource(ROUTE, name, label, { references: [{ type: CLUSTER, name: cluster }] });

  /** Routes a and b go to `old`; then a goes to a Cluster without endpoints. */
  function waiting(variant: "sotw" | "delta"): Conversation {
    const talk = new Conversation();
    talk.put(plain("old"), route("a", "old", "1"), route("b", "old", "1"));
    talk.open(1, variant);
    talk.subscribe(1, CLUSTER, [], { node: node("n") });
    talk.ack(1, CLUSTER);
    talk.subscribe(1, ROUTE, ["a", "b"]);
    talk.ack(1, ROUTE);
    talk.put(resource(CLUSTER, "empty", "1"), route("a", "empty", "2"));
    talk.turns();
    talk.ack(1, CLUSTER);
    return talk;
  }

  test.each(["sotw", "delta"] as const)("holds no other one up (%s)", (variant) => {
    const talk = waiting(variant);
    expect(waitsOf(talk)).toMatchObject([{}, { wait: { for: "endpoints", name: "empty" } }]);
    talk.put(route("b", "old", "2"));
    expect(says(talk.turns())).toEqual([["b@2"]]);
    expect(talk.ack(1, ROUTE)).toEqual([]);
    talk.put(resource(ENDPOINTS, "empty", "1"));
    expect(says(talk.turns())).toEqual([["a@2"]]);
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
    talk.turns();
    talk.ack(1, CLUSTER);
    talk.unsubscribe(1, ROUTE, ["a"]);
    talk.change({ puts: [route("b", "other", "2")], deletes: [{ type: CLUSTER, name: "old" }] });
    expect(says(talk.turns())).toEqual([["b@2"]]);
    expect(says(talk.ack(1, ROUTE))).toEqual([["-old"]]);
  });

  test.each(["sotw", "delta"] as const)("keeps what it goes on using, whatever else is accepted (%s)", (variant) => {
    const talk = waiting(variant);
    talk.change({ puts: [route("b", "empty", "2")], deletes: [{ type: CLUSTER, name: "old" }] });
    expect(says(talk.turns())).toEqual([]);
    talk.put(resource(ENDPOINTS, "empty", "1"));
    expect(says(talk.turns())).toEqual([["a@2", "b@2"]]);
    const gone = variant === "sotw" ? "empty@1" : "-old";
    expect(says(talk.ack(1, ROUTE))).toEqual([[gone]]);
  });
});

describe("a Cluster that a client asks for by name, as gRPC does", () => {
  /** In sync by names; then a swap, of which the client accepts the route while calls to `old` are under way. */
  function swappedByName(): Conversation {
    const talk = new Conversation({ dialect: { orderLimitMs: 10_000 } });
    talk.put(plain("old"), routeTo("old"));
    talk.open(1, "sotw");
    talk.subscribe(1, ROUTE, ["r"], { node: node("n", "gRPC Java") });
    talk.ack(1, ROUTE);
    talk.subscribe(1, CLUSTER, ["old"]);
    talk.ack(1, CLUSTER);
    expect(says(swap(talk))).toEqual([["r@new"]]);
    expect(says(talk.ack(1, ROUTE))).toEqual([]);
    return talk;
  }

  test("is there until the client gives it up", () => {
    const talk = swappedByName();
    expect(waitsOf(talk)).toMatchObject([{ wait: { for: "release", name: "old" }, pendingRemovals: ["old"] }, {}]);
    const [both] = talk.subscribe(1, CLUSTER, ["new"]);
    expect(both?.says).toEqual(["new@1", "old@1"]);
    talk.ack(1, CLUSTER);
    talk.unsubscribe(1, CLUSTER, ["old"]);
    expect(waitsOf(talk)).toMatchObject([{ wait: undefined, pendingRemovals: [] }, {}]);
  });

  test("goes at once where the route still goes there, for then the client is not going to give it up", () => {
    const talk = swappedByName();
    talk.list(1, CLUSTER, ["new"]);
    talk.delete(CLUSTER, "new");
    talk.ack(1, CLUSTER);
    expect([...talk.machine.streams()][0]?.types[0]).toMatchObject({
      doesNotExist: ["new"],
      pendingRemovals: [],
      wait: undefined,
    });
  });

  test("S-ORD-05: goes at once if the client could never use it", () => {
    const talk = new Conversation();
    talk.put(plain("old"), routeTo("old"));
    talk.open(1, "delta");
    talk.subscribe(1, CLUSTER, ["old", "refused"], { node: node("n") });
    talk.ack(1, CLUSTER);
    talk.subscribe(1, ROUTE, ["r"]);
    talk.ack(1, ROUTE);
    talk.put(plain("refused"));
    expect(says(talk.turns())).toEqual([["refused@1"]]);
    talk.nack(1, CLUSTER);
    talk.delete(CLUSTER, "refused");
    expect(says(talk.turns())).toEqual([["-refused"]]);
  });

  test("goes after the limit from a client that does not give it up, which is told of", () => {
    const talk = swappedByName();
    expect(says(talk.pass(10_000))).toEqual([[]]);
    expect(reportsOf(talk)).toEqual(["wait-began users", "order-overdue release", "wait-ended release"]);
  });
});

test("a Cluster whose secret is not there is not used, though its endpoints are accepted", () => {
  const talk = new Conversation({ dialect: { orderLimitMs: 30_000 } });
  const secret = { type: formatTypeUrl("acme.Secret"), name: "s" };
  talk.put(plain("old"), routeTo("old"), resource(ENDPOINTS, "new", "1"));
  talk.open(1, "delta");
  talk.subscribe(1, CLUSTER, [], { node: node("n", "envoy") });
  talk.ack(1, CLUSTER);
  talk.subscribe(1, ROUTE, ["r"]);
  talk.ack(1, ROUTE);
  const fresh = resource(CLUSTER, "new", "1", { references: [{ type: ENDPOINTS, name: "new" }, secret] });
  talk.put(fresh, routeTo("new"));
  expect(says(talk.turns())).toEqual([["new@1"]]);
  expect(says(talk.subscribe(1, ENDPOINTS, ["new"]))).toEqual([["new@1"]]);
  talk.ack(1, ENDPOINTS);
  for (let second = 0; second < 29; second++) {
    expect(says(talk.pass(1_000))).toEqual([]);
  }
  expect(waitsOf(talk)).toMatchObject([{}, {}, { wait: { for: "cluster", name: "new" } }]);
});

test.each(["sotw", "delta"] as const)(
  "Clusters come on a stream of their own in %s: routes on the aggregated one do not wait for any there",
  (variant) => {
    const first = { node: node("n", "envoy") };
    const talk = new Conversation({ dialect: { orderLimitMs: 10_000 } });
    const web = resource(CLUSTER, "c", "1", { references: [{ type: ENDPOINTS, name: "c" }] });
    talk.put(web, resource(ENDPOINTS, "c", "1"), routeTo("c"));
    talk.open(1, variant, CLUSTER);
    talk.open(2, variant);
    expect(says(talk.subscribe(1, CLUSTER, [], first))).toEqual([["c@1"]]);
    expect(says(talk.subscribe(2, ENDPOINTS, ["c"], first))).toEqual([["c@1"]]);
    expect(says(talk.subscribe(2, ROUTE, ["r"], first))).toEqual([["r@c"]]);
    // Another node has nothing on the streams of this one.
    talk.open(3, variant);
    const elsewhere = variant === "delta" ? [] : [["r@c"]];
    expect(says(talk.subscribe(3, ROUTE, ["r"], { node: node("m", "envoy") }))).toEqual(elsewhere);
  },
);

describe("streams for each type of one node over two connections", () => {
  /** Clusters on one connection, routes on another; then the route goes to a new Cluster. */
  function swapOverTwo(others: (talk: Conversation) => void): readonly Said[] {
    const talk = new Conversation();
    talk.put(plain("old"), routeTo("old"));
    talk.open(1, "delta", CLUSTER, 1);
    talk.subscribe(1, CLUSTER, [], { node: node("n") });
    talk.ack(1, CLUSTER);
    others(talk);
    talk.open(2, "delta", ROUTE, 2);
    talk.settle(talk.subscribe(2, ROUTE, ["r"], { node: node("n") }));
    return swap(talk).filter(({ stream }) => stream <= 2);
  }

  test("are one client's", () => {
    expect(says(swapOverTwo(() => {}))).toEqual([["new@1"]]);
  });

  test("S-ORD-06: are one client's if one of them is opened once more on its connection", () => {
    const talk = new Conversation();
    talk.put(plain("old"), routeTo("old"));
    talk.open(1, "delta", CLUSTER, 1);
    talk.subscribe(1, CLUSTER, [], { node: node("n") });
    talk.ack(1, CLUSTER);
    for (const stream of [2, 3]) {
      talk.open(stream, "delta", ROUTE, 2);
      expect(says(talk.subscribe(stream, ROUTE, ["r"], { node: node("n") }))).toEqual([["r@old"]]);
      talk.ack(stream, ROUTE);
    }
    expect(says(swap(talk))).toEqual([["new@1"]]);
  });

  test("S-ORD-05: a Cluster goes as soon as the routes are found to be as they were", () => {
    const talk = new Conversation();
    talk.put(plain("old"), plain("kept"), routeTo("kept"));
    for (const [stream, type, subscribe] of [
      [1, CLUSTER, []],
      [2, ROUTE, ["r"]],
    ] as const) {
      talk.open(stream, "delta", type, stream);
      talk.subscribe(stream, type, subscribe, { node: node("n") });
      talk.ack(stream, type);
    }
    talk.change({ puts: [routeTo("gone")], deletes: [{ type: CLUSTER, name: "old" }] });
    talk.put(routeTo("kept"));
    expect(says(talk.turns())).toEqual([["-old"]]);
  });

  test("may be those of several clients if two connections have one of the same type", () => {
    const said = swapOverTwo((talk) => {
      talk.open(3, "delta", CLUSTER, 3);
      talk.subscribe(3, CLUSTER, [], { node: node("n") });
      talk.ack(3, CLUSTER);
    });
    expect(says(said)).toEqual([["new@1", "-old"]]);
  });
});

test("a route waits for the secret of its Cluster, if the client asks here for that", () => {
  const secret = formatTypeUrl("acme.Secret");
  const known = (type: typeof secret): ReturnType<typeof traits> =>
    type === secret ? { type, kind: "sds", isFullState: false, owes: [] } : traits(type);
  const talk = new Conversation({ traits: known });
  talk.put(plain("old"), routeTo("old"));
  talk.open(1, "delta");
  talk.subscribe(1, CLUSTER, [], { node: node("n") });
  talk.ack(1, CLUSTER);
  talk.subscribe(1, ROUTE, ["r"]);
  talk.ack(1, ROUTE);
  talk.put(resource(CLUSTER, "new", "1", { references: [{ type: secret, name: "s" }] }), routeTo("new"));
  expect(says(talk.turns())).toEqual([["new@1"]]);
  expect(says(talk.subscribe(1, secret, ["s"]))).toEqual([["-s"]]);
  talk.ack(1, secret);
  expect(says(talk.ack(1, CLUSTER))).toEqual([]);
  expect(waitsOf(talk)).toMatchObject([{}, {}, { wait: { for: "secret", name: "new" } }]);
  talk.put(resource(secret, "s", "1"));
  expect(says(talk.turns())).toEqual([["s@1"], ["r@new"]]);
});
