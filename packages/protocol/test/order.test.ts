import { describe, expect, test, vi } from "vitest";
import { WarmingClusters } from "../src/server/order/warming-clusters.ts";
import { Conversation, node, says } from "./support/conversation.ts";
import { CLUSTER, ENDPOINTS, LISTENER, plain, ROUTE, resource, routeTo } from "./support/resources.ts";
import { inSync, reportsOf, swap, waitsOf } from "./support/swap.ts";

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
