import { expect, test } from "vitest";
import { Conversation, node, says } from "./support/conversation.ts";
import { CLUSTER, ENDPOINTS, LISTENER, ROUTE, resource, routeTo } from "./support/resources.ts";
import { inSync } from "./support/swap.ts";

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

test("S-DEL-04 endpoints that no Cluster goes with are removed at once", () => {
  const talk = inSync();
  talk.put(resource(ENDPOINTS, "old", "e"));
  talk.subscribe(1, ENDPOINTS, ["old"]);
  talk.ack(1, ENDPOINTS);
  talk.change({ puts: [], deletes: [{ type: ENDPOINTS, name: "old" }] });
  expect(says(talk.turns())).toEqual([["-old"]]);
});
