import type { Resource } from "@xdskit/protocol";
import { describe, expect, test } from "vitest";
import { Conversation, says } from "./support/conversation.ts";
import { CLUSTER, ENDPOINTS, plain, ROUTE, resource, routeTo } from "./support/resources.ts";

const aggregate = (name: string, ...members: readonly string[]): Resource =>
  resource(CLUSTER, name, members.join("+"), {
    references: members.map((member) => ({ type: CLUSTER, name: member })),
  });

/** A client of everything, in sync with these. */
function inSync(variant: "delta" | "sotw", puts: readonly Resource[]): Conversation {
  const talk = new Conversation();
  talk.put(...puts);
  talk.open(1, variant);
  talk.settle(talk.subscribe(1, CLUSTER));
  talk.settle(talk.subscribe(1, ROUTE, ["r"]));
  return talk;
}

describe("an aggregate Cluster in use whose member gets another name", () => {
  const before = [aggregate("all", "old"), plain("old"), routeTo("all")];
  const swap = { puts: [aggregate("all", "new"), plain("new")], deletes: [{ type: CLUSTER, name: "old" }] };

  test("S-ORD-06 S-ORD-05 changes once the new member was ACKed, and the old one is removed after that (delta)", () => {
    const talk = inSync("delta", before);
    talk.change(swap);
    expect(says(talk.turns())).toEqual([["new@1"]]);
    expect(says(talk.ack(1, CLUSTER))).toEqual([["all@new"]]);
    expect(says(talk.ack(1, CLUSTER))).toEqual([["-old"]]);
    expect(says(talk.ack(1, CLUSTER))).toEqual([]);
  });

  test("S-ORD-06 S-ORD-05 changes once the new member was ACKed, and the old one is removed after that (State of the World)", () => {
    const talk = inSync("sotw", before);
    talk.change(swap);
    const sorted = (said: ReturnType<typeof says>): unknown => said.map((one) => one.toSorted());
    expect(sorted(says(talk.turns()))).toEqual([["all@old", "new@1", "old@1"]]);
    expect(sorted(says(talk.ack(1, CLUSTER)))).toEqual([["all@new", "new@1", "old@1"]]);
    expect(sorted(says(talk.ack(1, CLUSTER)))).toEqual([["all@new", "new@1"]]);
    expect(says(talk.ack(1, CLUSTER))).toEqual([]);
  });

  test.each(["delta", "sotw"] as const)("S-ORD-05 keeps the old member if the change was NACKed (%s)", (variant) => {
    const talk = inSync(variant, before);
    talk.change(swap);
    talk.turns();
    talk.ack(1, CLUSTER);
    expect(says(talk.nack(1, CLUSTER))).toEqual([]);
    expect([...talk.machine.streams()][0]?.types[0]).toMatchObject({
      wait: { for: "users", type: CLUSTER, isNacked: true },
      pendingRemovals: ["old"],
    });
  });

  test("S-ORD-06 waits for endpoints only if no member has any", () => {
    const eds = (name: string): Resource => resource(CLUSTER, name, "1");
    const talk = inSync("delta", [
      aggregate("all", "old"),
      eds("old"),
      resource(ENDPOINTS, "old", "e"),
      routeTo("all"),
    ]);
    talk.put(aggregate("all", "late", "old"), eds("late"));
    expect(says(talk.turns())).toEqual([["late@1"]]);
    expect(says(talk.ack(1, CLUSTER))).toEqual([["all@late+old"]]);
    talk.ack(1, CLUSTER);
    talk.put(aggregate("all", "later"), eds("later"));
    expect(says(talk.turns())).toEqual([["later@1"]]);
    expect(says(talk.ack(1, CLUSTER))).toEqual([]);
    talk.put(resource(ENDPOINTS, "later", "e"));
    expect(says(talk.turns())).toEqual([["all@later"]]);
  });

  test("S-ORD-05 stays as the client has it if it is deleted while it waits (State of the World)", () => {
    const talk = inSync("sotw", before);
    talk.put(aggregate("all", "late"), resource(CLUSTER, "late", "1"));
    expect(says(talk.settle())).toEqual([["all@old", "old@1", "late@1"]]);
    talk.change({ puts: [routeTo("old")], deletes: [{ type: CLUSTER, name: "all" }] });
    expect(says(talk.turns())).toEqual([["r@old"]]);
    expect(says(talk.ack(1, ROUTE))).toEqual([["old@1", "late@1"]]);
    expect(says(talk.settle())).toEqual([]);
  });
});

test("S-ORD-06 a route waits for the endpoints of what a new aggregate Cluster leads to", () => {
  const talk = inSync("delta", [plain("old"), routeTo("old")]);
  talk.put(aggregate("outer", "inner"), aggregate("inner", "leaf"), resource(CLUSTER, "leaf", "1"), routeTo("outer"));
  talk.settle();
  expect([...talk.machine.streams()][0]?.types[1]).toMatchObject({ wait: { for: "endpoints", name: "leaf" } });
  talk.put(resource(ENDPOINTS, "leaf", "e"));
  expect(says(talk.turns())).toEqual([["r@outer"]]);
});

test("S-ORD-06 aggregate Clusters that lead to one another do not wait for one another", () => {
  const talk = inSync("delta", [aggregate("a", "x"), aggregate("b", "x"), plain("x"), routeTo("a")]);
  talk.put(aggregate("a", "b", "a"), aggregate("b", "a"));
  expect(says(talk.turns())).toEqual([["a@b+a", "b@a"]]);
});
