import { describe, expect, test } from "vitest";
import { Conversation, node, type Said, says } from "./support/conversation.ts";
import { CLUSTER, ENDPOINTS, plain, ROUTE, resource, routeTo } from "./support/resources.ts";
import { swap } from "./support/swap.ts";

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
