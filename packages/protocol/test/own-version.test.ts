import { describe, expect, test } from "vitest";
import { Conversation, node, says } from "./support/conversation.ts";
import { initialVersionsOf } from "./support/model-client.ts";
import { CLUSTER, ENDPOINTS, resource } from "./support/resources.ts";

const v1 = { version: "v1" };

describe("a version that the caller set", () => {
  test.each(["delta", "sotw"] as const)(
    "is of one view only: in %s, what other nodes hold under it stays with them",
    (variant) => {
      const talk = new Conversation({ nodeMapping: ({ id }) => [`group/${id}`] });
      talk.commit(
        ["a", "b"].map((group) => ({
          layer: `group/${group}`,
          puts: ["x", "y"].map((name) => resource(ENDPOINTS, name, group, v1)),
        })),
      );
      const told = ["a", "b"].map((group, i) => {
        const stream = i + 1;
        talk.open(stream, variant, undefined, stream);
        const first = talk.settle(talk.subscribe(stream, ENDPOINTS, ["y"], { node: node(group) }));
        return says([...first, ...talk.subscribe(stream, ENDPOINTS, ["x"])]);
      });
      expect(told).toEqual([
        [["y@a"], ["x@a"]],
        [["y@b"], ["x@b"]],
      ]);
    },
  );

  test.each(["delta", "sotw"] as const)(
    "does not hide other content: in %s it is sent to who holds the one before",
    (variant) => {
      const talk = new Conversation({ dialect: { makeBeforeBreak: false } });
      talk.put(resource(CLUSTER, "c", "1", v1));
      talk.open(1, variant);
      const [first] = talk.subscribe(1, CLUSTER, [], { node: node("n") });
      talk.ack(1, CLUSTER);
      talk.put(resource(CLUSTER, "c", "2", v1));
      const [second] = talk.turns();
      expect([first?.says, second?.says]).toEqual([["c@1"], ["c@2"]]);
      expect(second?.version).not.toBe(first?.version);
      talk.put(resource(CLUSTER, "c", "2", v1));
      expect(talk.turns()).toEqual([]);
    },
  );

  test("does not hide other content of the view that a node moves to", () => {
    const talk = new Conversation({ nodeMapping: () => ["group/a"], dialect: { makeBeforeBreak: false } });
    talk.commit(["a", "b"].map((group) => ({ layer: `group/${group}`, puts: [resource(CLUSTER, "c", group, v1)] })));
    talk.open(1, "delta");
    talk.subscribe(1, CLUSTER, [], { node: node("n") });
    talk.ack(1, CLUSTER);
    talk.machine.on({ kind: "transaction-committed", nodeMapping: () => ["group/b"] });
    expect(says(talk.turns())).toEqual([["c@b"]]);
  });

  test("does not hide other content that was told out of turn", () => {
    const talk = new Conversation();
    talk.put(resource(ENDPOINTS, "x", "1", v1), resource(ENDPOINTS, "y", "1", v1));
    talk.open(1, "delta");
    const [first] = talk.subscribe(1, ENDPOINTS, ["x"], { node: node("n") });
    expect(says(talk.subscribe(1, ENDPOINTS, ["y"]))).toEqual([["y@1"]]);
    talk.put(resource(ENDPOINTS, "y", "2", v1));
    expect(says(talk.ack(1, ENDPOINTS, first?.nonce))).toEqual([["y@2"]]);
  });

  test("is all that a client says of what it holds when it comes back", () => {
    const talk = new Conversation();
    talk.put(resource(CLUSTER, "c", "2", v1), resource(CLUSTER, "d", "2", v1));
    talk.open(1, "delta");
    const initialVersions = initialVersionsOf([
      ["c", "v1"],
      ["d", "v0"],
    ]);
    expect(says(talk.subscribe(1, CLUSTER, [], { node: node("n"), initialVersions }))).toEqual([["d@2"]]);
  });
});
