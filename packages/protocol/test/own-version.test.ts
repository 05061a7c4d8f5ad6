import { describe, expect, test } from "vitest";
import { Conversation, delta, node, sotw } from "./support/conversation.ts";
import { initialVersionsOf } from "./support/model-client.ts";
import { CLUSTER, ENDPOINTS, resource } from "./support/resources.ts";

const says = (said: readonly { says: readonly string[] }[]): unknown => said.map((one) => one.says);
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
        const asks = (names: readonly string[], nonce?: string): ReturnType<typeof talk.hear> =>
          talk.hear(
            stream,
            variant === "delta"
              ? delta(ENDPOINTS, { node: node(group), subscribe: names.slice(-1), nonce })
              : sotw(ENDPOINTS, { node: node(group), names, nonce }),
          );
        const first = asks(["y"]);
        return says([...first, ...asks(["y", "x"], first[0]?.nonce)]);
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
      const ask = variant === "delta" ? delta : sotw;
      const [first] = talk.hear(1, ask(CLUSTER, { node: node("n") }));
      talk.hear(1, ask(CLUSTER, { nonce: first?.nonce }));
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
    const [first] = talk.hear(1, delta(CLUSTER, { node: node("n") }));
    talk.hear(1, delta(CLUSTER, { nonce: first?.nonce }));
    talk.machine.on({ kind: "transaction-committed", nodeMapping: () => ["group/b"] });
    expect(says(talk.turns())).toEqual([["c@b"]]);
  });

  test("does not hide other content that was told out of turn", () => {
    const talk = new Conversation();
    talk.put(resource(ENDPOINTS, "x", "1", v1), resource(ENDPOINTS, "y", "1", v1));
    talk.open(1, "delta");
    const [first] = talk.hear(1, delta(ENDPOINTS, { node: node("n"), subscribe: ["x"] }));
    expect(says(talk.hear(1, delta(ENDPOINTS, { subscribe: ["y"] })))).toEqual([["y@1"]]);
    talk.put(resource(ENDPOINTS, "y", "2", v1));
    expect(says(talk.hear(1, delta(ENDPOINTS, { nonce: first?.nonce })))).toEqual([["y@2"]]);
  });

  test("is all that a client says of what it holds when it comes back", () => {
    const talk = new Conversation();
    talk.put(resource(CLUSTER, "c", "2", v1), resource(CLUSTER, "d", "2", v1));
    talk.open(1, "delta");
    const initialVersions = initialVersionsOf([
      ["c", "v1"],
      ["d", "v0"],
    ]);
    expect(says(talk.hear(1, delta(CLUSTER, { node: node("n"), initialVersions })))).toEqual([["d@2"]]);
  });
});
