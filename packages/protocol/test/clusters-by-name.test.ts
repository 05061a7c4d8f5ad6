import { describe, expect, test } from "vitest";
import { Conversation, node, says } from "./support/conversation.ts";
import { CLUSTER, plain, ROUTE, routeTo } from "./support/resources.ts";
import { reportsOf, swap, waitsOf } from "./support/swap.ts";

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
