import { describe, expect, test } from "vitest";
import { Conversation, node, says } from "./support/conversation.ts";
import { CLUSTER, ENDPOINTS, LISTENER, resource } from "./support/resources.ts";

const both = (name: string, label = "1"): readonly ReturnType<typeof resource>[] => [
  resource(CLUSTER, name, label),
  resource(ENDPOINTS, name, "1"),
];

describe("the endpoints of a cluster", () => {
  test("follow it to a State of the World client that widens to everything, though it did not change", () => {
    const talk = new Conversation();
    talk.put(...both("a"), ...both("b"));
    talk.open(1, "sotw");
    talk.subscribe(1, CLUSTER, ["a"]);
    talk.ack(1, CLUSTER);
    talk.subscribe(1, ENDPOINTS, ["a", "b"]);
    talk.ack(1, ENDPOINTS);
    expect(says(talk.subscribe(1, CLUSTER, ["*"]))).toEqual([
      ["a@1", "b@1"],
      ["a@1", "b@1"],
    ]);
    talk.ack(1, CLUSTER);
    talk.ack(1, ENDPOINTS);
    expect(says(talk.unsubscribe(1, CLUSTER, ["a"]))).toEqual([]);
  });

  test.each(["delta", "sotw"] as const)(
    "reach the stream of their own that the node asks for them on (%s)",
    (variant) => {
      const talk = new Conversation();
      talk.put(...both("a"), ...both("b"));
      talk.open(1, variant, CLUSTER);
      talk.open(2, variant, ENDPOINTS);
      talk.subscribe(1, CLUSTER, [], { node: node("n") });
      talk.ack(1, CLUSTER);
      talk.subscribe(2, ENDPOINTS, ["a", "b"], { node: node("n") });
      expect(talk.ack(2, ENDPOINTS)).toEqual([]);
      talk.put(resource(CLUSTER, "b", "2"));
      const said = talk.turns();
      expect(said.filter((one) => one.stream === 2).map((one) => one.says)).toEqual([["b@1"]]);
      expect(talk.turns()).toEqual([]);
    },
  );

  test("reach the node's streams on another connection, and none of another node", () => {
    const talk = new Conversation();
    talk.put(...both("a"));
    const streams = [
      { stream: 1, onlyType: CLUSTER, connection: 1, id: "n" },
      { stream: 2, onlyType: ENDPOINTS, connection: 1, id: "m" },
      { stream: 3, onlyType: ENDPOINTS, connection: 2, id: "n" },
      { stream: 4, onlyType: ENDPOINTS, connection: 1, id: "n" },
    ];
    for (const { stream, onlyType, connection, id } of streams) {
      talk.open(stream, "delta", onlyType, connection);
      talk.subscribe(stream, onlyType, ["a"], { node: node(id) });
      talk.ack(stream, onlyType);
    }
    talk.put(resource(CLUSTER, "a", "2"));
    expect(talk.turns().map((one) => one.stream)).toEqual([1, 3, 4]);
  });

  test.each(["delta", "sotw"] as const)("do not follow to a wildcard that does not cover them (%s)", (variant) => {
    const talk = new Conversation();
    talk.put(
      resource(CLUSTER, "a", "1"),
      resource(ENDPOINTS, "a", "1", { onDemand: true }),
      resource(ENDPOINTS, "b", "1"),
    );
    talk.open(1, variant);
    expect(says(talk.subscribe(1, CLUSTER, ["*"]))).toEqual([["a@1"]]);
    expect(says(talk.subscribe(1, ENDPOINTS, ["*"]))).toEqual([["b@1"]]);
    talk.ack(1, CLUSTER);
    talk.ack(1, ENDPOINTS);
    talk.put(resource(CLUSTER, "a", "2"));
    expect(says(talk.turns())).toEqual([["a@2"]]);
  });

  test("do not follow where that is switched off, and nothing follows a listener", () => {
    const talk = new Conversation({ dialect: { resendEdsOnClusterChange: false } });
    talk.put(...both("a"), resource(LISTENER, "l", "1"));
    talk.open(1, "delta");
    talk.subscribe(1, CLUSTER);
    talk.subscribe(1, ENDPOINTS, ["a"]);
    talk.ack(1, CLUSTER);
    talk.ack(1, ENDPOINTS);
    talk.put(resource(CLUSTER, "a", "2"));
    expect(says(talk.turns())).toEqual([["a@2"]]);
  });
});
