import { describe, expect, test } from "vitest";
import { Conversation, delta, node, sotw } from "./support/conversation.ts";
import { CLUSTER, ENDPOINTS, LISTENER, resource } from "./support/resources.ts";

const says = (said: readonly { says: readonly string[] }[]): unknown => said.map((one) => one.says);
const both = (name: string, label = "1"): readonly ReturnType<typeof resource>[] => [
  resource(CLUSTER, name, label),
  resource(ENDPOINTS, name, "1"),
];

describe("the endpoints of a cluster", () => {
  test("follow it to a State of the World client that widens to everything, though it did not change", () => {
    const talk = new Conversation();
    talk.put(...both("a"), ...both("b"));
    talk.open(1, "sotw");
    talk.hear(1, sotw(CLUSTER, { names: ["a"] }));
    talk.hear(1, sotw(CLUSTER, { nonce: "1", names: ["a"] }));
    talk.hear(1, sotw(ENDPOINTS, { names: ["a", "b"] }));
    talk.hear(1, sotw(ENDPOINTS, { nonce: "2", names: ["a", "b"] }));
    expect(says(talk.hear(1, sotw(CLUSTER, { nonce: "1", names: ["*", "a"] })))).toEqual([
      ["b@1", "a@1"].sort(),
      ["a@1", "b@1"],
    ]);
    talk.hear(1, sotw(CLUSTER, { nonce: "3", names: ["*", "a"] }));
    talk.hear(1, sotw(ENDPOINTS, { nonce: "4", names: ["a", "b"] }));
    expect(says(talk.hear(1, sotw(CLUSTER, { nonce: "3", names: ["*"] })))).toEqual([]);
  });

  test.each(["delta", "sotw"] as const)(
    "reach the stream of their own that the node asks for them on (%s)",
    (variant) => {
      const talk = new Conversation();
      talk.put(...both("a"), ...both("b"));
      talk.open(1, variant, CLUSTER);
      talk.open(2, variant, ENDPOINTS);
      const ask = { subscribe: ["a", "b"], names: ["a", "b"] };
      const request = (type: typeof CLUSTER, nonce?: string): ReturnType<typeof delta> | ReturnType<typeof sotw> => {
        const what = {
          node: node("n"),
          nonce,
          ...(type === CLUSTER ? {} : nonce === undefined || variant === "sotw" ? ask : {}),
        };
        return variant === "delta" ? delta(type, what) : sotw(type, what);
      };
      talk.hear(1, request(CLUSTER));
      talk.hear(1, request(CLUSTER, "1"));
      talk.hear(2, request(ENDPOINTS));
      expect(says(talk.hear(2, request(ENDPOINTS, "1")))).toEqual([]);
      talk.put(resource(CLUSTER, "b", "2"));
      const said = talk.turns();
      expect(said.filter((one) => one.stream === 2).map((one) => one.says)).toEqual([["b@1"]]);
      expect(talk.turns()).toEqual([]);
    },
  );

  test("reach the node's streams on another connection, and none of another node", () => {
    const talk = new Conversation();
    const peer = { address: "127.0.0.1:1", isLoopback: true, isTls: false, names: [] };
    talk.put(...both("a"));
    const streams = [
      { stream: 1, onlyType: CLUSTER, connection: 1, id: "n" },
      { stream: 2, onlyType: ENDPOINTS, connection: 1, id: "m" },
      { stream: 3, onlyType: ENDPOINTS, connection: 2, id: "n" },
      { stream: 4, onlyType: ENDPOINTS, connection: 1, id: "n" },
    ];
    for (const { stream, onlyType, connection, id } of streams) {
      talk.machine.on({
        kind: "stream-opened",
        stream,
        variant: "delta",
        onlyType,
        apiVersion: "v3",
        peer,
        connection,
      });
      talk.hear(stream, delta(onlyType, { node: node(id), subscribe: ["a"] }));
      talk.hear(stream, delta(onlyType, { nonce: "1" }));
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
    const names = ["*"];
    const ask = (type: typeof CLUSTER, nonce?: string): ReturnType<typeof delta> | ReturnType<typeof sotw> =>
      variant === "delta"
        ? delta(type, { nonce, subscribe: nonce === undefined ? names : [] })
        : sotw(type, { nonce, names });
    expect(says(talk.hear(1, ask(CLUSTER)))).toEqual([["a@1"]]);
    expect(says(talk.hear(1, ask(ENDPOINTS)))).toEqual([["b@1"]]);
    talk.hear(1, ask(CLUSTER, "1"));
    talk.hear(1, ask(ENDPOINTS, "2"));
    talk.put(resource(CLUSTER, "a", "2"));
    expect(says(talk.turns())).toEqual([["a@2"]]);
  });

  test("do not follow where that is switched off, and nothing follows a listener", () => {
    const talk = new Conversation({ dialect: { resendEdsOnClusterChange: false } });
    talk.put(...both("a"), resource(LISTENER, "l", "1"));
    talk.open(1, "delta");
    talk.hear(1, delta(CLUSTER, {}));
    talk.hear(1, delta(ENDPOINTS, { subscribe: ["a"] }));
    talk.hear(1, delta(CLUSTER, { nonce: "1" }));
    talk.hear(1, delta(ENDPOINTS, { nonce: "2" }));
    talk.put(resource(CLUSTER, "a", "2"));
    expect(says(talk.turns())).toEqual([["a@2"]]);
  });
});
