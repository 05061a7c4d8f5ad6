import type { Resource } from "@xdskit/protocol";
import { describe, expect, test } from "vitest";
import { Conversation, node, says } from "./support/conversation.ts";
import { CLUSTER, ENDPOINTS, LISTENER, plain, resource } from "./support/resources.ts";

/** A Listener at addresses such as `:1`, which leads to a Cluster. */
function at(name: string, addresses: string, cluster = "c1"): Resource {
  return resource(LISTENER, name, addresses, { references: [{ type: CLUSTER, name: cluster }] });
}

/** A client that has these Listeners and Cluster `c1`. */
function serving(variant: "sotw" | "delta", ...listeners: readonly Resource[]): Conversation {
  const talk = new Conversation({ dialect: { orderLimitMs: 30_000 } });
  talk.put(plain("c1"), ...listeners);
  talk.open(1, variant);
  talk.settle(talk.subscribe(1, CLUSTER, [], { node: node("n", "envoy") }));
  talk.settle(talk.subscribe(1, LISTENER));
  talk.settle(talk.subscribe(1, ENDPOINTS, ["c2"]));
  return talk;
}

describe.each(["sotw", "delta"] as const)(
  "S-ORD-01 an address that one Listener gives up and another takes, in %s",
  (variant) => {
    test("the one that takes it comes after the one that gives it up, along a chain too", () => {
      const talk = serving(variant, at("a", ":4"), at("b", ":3"), at("c", ":2"), at("d", ":1"));
      talk.change({ puts: [at("a", ":3"), at("b", ":2"), at("c", ":1"), at("d", ":5")] });
      expect(says(talk.turns())).toEqual([["d@:5", "c@:1", "b@:2", "a@:3"]]);
    });

    test("a response of which nothing takes an address is as it was", () => {
      const talk = serving(variant, at("a", ":1"), at("b", ":2"));
      talk.change({ puts: [at("a", ":3"), at("b", ":4")] });
      expect(says(talk.turns())).toEqual([["a@:3", "b@:4"]]);
    });

    test.each(["taker", "giver"])("both wait while the Cluster of the %s does", (waits) => {
      const talk = serving(variant, at("taker", ":3"), at("giver", ":1"), at("other", ":8"));
      const clusterOf = (name: string): string => (name === waits ? "c2" : "c1");
      const moved = [at("taker", ":1", clusterOf("taker")), at("giver", ":2", clusterOf("giver")), at("other", ":9")];
      talk.change({ puts: [resource(CLUSTER, "c2", "1"), ...moved] });
      const before = talk.settle().filter(({ type }) => type === LISTENER);
      // State of the World lists what is held back as it was.
      expect(says(before)).toEqual([variant === "delta" ? ["other@:9"] : ["giver@:1", "other@:9", "taker@:3"]]);
      talk.put(resource(ENDPOINTS, "c2", "1"));
      const after = talk.settle().filter(({ type }) => type === LISTENER);
      expect(says(after)).toEqual([["giver@:2", ...(variant === "delta" ? [] : ["other@:9"]), "taker@:1"]]);
    });

    test("a Listener that is deleted keeps the address until the one that takes it can be sent", () => {
      const talk = serving(variant, at("giver", ":1"));
      const taker = at("taker", ":1", "c2");
      talk.change({ puts: [resource(CLUSTER, "c2", "1"), taker], deletes: [{ type: LISTENER, name: "giver" }] });
      expect(talk.settle().filter(({ type }) => type === LISTENER)).toEqual([]);
      talk.put(resource(ENDPOINTS, "c2", "1"));
      const after = talk.settle().filter(({ type }) => type === LISTENER);
      expect(says(after)).toEqual([variant === "delta" ? ["taker@:1", "-giver"] : ["taker@:1"]]);
    });
  },
);
