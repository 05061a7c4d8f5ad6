import type { Resource } from "@xdskit/protocol";
import { describe, expect, test } from "vitest";
import { Conversation, delta, node, says } from "./support/conversation.ts";
import { CLUSTER, ENDPOINTS, LISTENER, resource, traits } from "./support/resources.ts";

const text = new TextEncoder();
const withPlaceholders = (): Conversation =>
  new Conversation({
    traits: (type) => {
      const known = traits(type);
      return known?.kind === "eds" ? { ...known, placeholder: (name) => text.encode(`${name}=none`) } : known;
    },
  });

describe("a cluster without endpoints", () => {
  test("is given none, so that a State of the World client stops waiting; again when the cluster changes", () => {
    const talk = withPlaceholders();
    talk.put(resource(CLUSTER, "c", "1"));
    talk.open(1, "sotw");
    talk.subscribe(1, CLUSTER);
    expect(says(talk.subscribe(1, ENDPOINTS, ["c"]))).toEqual([["c@none"]]);
    talk.ack(1, CLUSTER);
    talk.ack(1, ENDPOINTS);
    talk.put(resource(CLUSTER, "c", "2"));
    expect(says(talk.turns())).toEqual([["c@2"], ["c@none"]]);
  });

  test("S-ORD-06: is given a placeholder of its own name beside others", () => {
    const talk = withPlaceholders();
    talk.put(resource(CLUSTER, "c", "1"), resource(CLUSTER, "d", "1"));
    talk.open(1, "sotw");
    expect(says(talk.subscribe(1, ENDPOINTS, ["c", "d"]))).toEqual([["c@none", "d@none"]]);
  });

  test("is told of its endpoints once the placeholder is answered", () => {
    const talk = withPlaceholders();
    talk.put(resource(CLUSTER, "c", "1"));
    talk.open(1, "sotw");
    expect(says(talk.subscribe(1, ENDPOINTS, ["c"]))).toEqual([["c@none"]]);
    talk.put(resource(ENDPOINTS, "c", "1"));
    expect(talk.turns()).toEqual([]);
    expect(says(talk.ack(1, ENDPOINTS))).toEqual([["c@1"]]);
  });

  test("never loses endpoints that the client holds", () => {
    const talk = withPlaceholders();
    talk.put(resource(CLUSTER, "c", "1"), resource(ENDPOINTS, "c", "1"));
    talk.open(1, "sotw");
    talk.subscribe(1, CLUSTER);
    expect(says(talk.subscribe(1, ENDPOINTS, ["c"]))).toEqual([["c@1"]]);
    talk.ack(1, CLUSTER);
    talk.ack(1, ENDPOINTS);
    talk.delete(ENDPOINTS, "c");
    expect(says(talk.turns())).toEqual([]);
    talk.put(resource(CLUSTER, "c", "2"));
    expect(says(talk.turns())).toEqual([["c@2"]]);
  });

  test("S-SUB-05: loses no endpoints that replaced a placeholder", () => {
    const talk = withPlaceholders();
    talk.put(resource(CLUSTER, "c", "1"));
    talk.open(1, "sotw");
    talk.subscribe(1, CLUSTER);
    expect(says(talk.subscribe(1, ENDPOINTS, ["c"]))).toEqual([["c@none"]]);
    talk.ack(1, CLUSTER);
    talk.put(resource(ENDPOINTS, "c", "1"));
    expect(says(talk.ack(1, ENDPOINTS))).toEqual([["c@1"]]);
    talk.ack(1, ENDPOINTS);
    talk.delete(ENDPOINTS, "c");
    expect(says(talk.turns())).toEqual([]);
    talk.put(resource(CLUSTER, "c", "2"));
    expect(says(talk.turns())).toEqual([["c@2"]]);
  });

  test("is given none to a client that comes back only if it reports no version", () => {
    const talk = withPlaceholders();
    talk.put(resource(CLUSTER, "c", "1"));
    talk.open(1, "sotw");
    expect(says(talk.subscribe(1, ENDPOINTS, ["c"], { versionInfo: "x" }))).toEqual([]);
  });

  test("keeps its hosts in delta if it is in use and gets an EDS name without any, until they come, or the order limit", () => {
    const talk = withPlaceholders();
    const to = (name: string): Resource => resource(CLUSTER, "c", name, { references: [{ type: ENDPOINTS, name }] });
    talk.put(to("e1"), resource(ENDPOINTS, "e1", "1"));
    talk.open(1, "delta");
    talk.settle(talk.subscribe(1, CLUSTER));
    talk.settle(talk.subscribe(1, ENDPOINTS, ["e1"]));
    talk.settle(talk.subscribe(1, LISTENER));
    talk.put(to("e2"));
    expect(says(talk.turns())).toEqual([]);
    talk.put(resource(ENDPOINTS, "e2", "1"));
    expect(says(talk.turns())).toEqual([["c@e2"]]);
    expect(says(talk.subscribe(1, ENDPOINTS, ["e2"]))).toEqual([["e2@1"]]);
    talk.ack(1, ENDPOINTS);
    talk.ack(1, CLUSTER);
    talk.put(to("e3"));
    expect(says(talk.turns())).toEqual([]);
    expect(says(talk.pass(30_000))).toEqual([["c@e3"]]);
    expect(says(talk.subscribe(1, ENDPOINTS, ["e3"]))).toEqual([]);
    expect(says(talk.pass(30_000))).toEqual([["-e3"]]);
  });

  test("keeps its hosts in State of the World if it is in use and gets an EDS name without any, for as long", () => {
    const talk = withPlaceholders();
    const to = (name: string): Resource => resource(CLUSTER, "c", name, { references: [{ type: ENDPOINTS, name }] });
    talk.put(to("e1"), resource(ENDPOINTS, "e1", "1"), resource(CLUSTER, "d", "1"));
    talk.open(1, "sotw");
    talk.settle(talk.subscribe(1, CLUSTER));
    expect(says(talk.subscribe(1, ENDPOINTS, ["e1", "d"]))).toEqual([["e1@1", "d@none"]]);
    talk.ack(1, ENDPOINTS);
    talk.settle(talk.subscribe(1, LISTENER));
    talk.put(to("e2"));
    expect(says(talk.turns())).toEqual([]);
    expect(says(talk.pass(30_000))).toEqual([["c@e2", "d@1"]]);
    expect(says(talk.subscribe(1, ENDPOINTS, ["e2"]))).toEqual([]);
    talk.ack(1, CLUSTER);
    talk.put(resource(ENDPOINTS, "e2", "1"));
    expect(says(talk.turns())).toEqual([["e2@1"]]);
  });

  describe("S-ORD-01: keeps its hosts when a State of the World client comes back that waits for others", () => {
    const who = { node: node("n", "envoy") };
    const back = { ...who, versionInfo: "x" };
    const world = (): Conversation => {
      const talk = withPlaceholders();
      talk.put(resource(CLUSTER, "c", "1", { references: [{ type: ENDPOINTS, name: "e" }] }));
      talk.open(1, "sotw", CLUSTER);
      talk.open(2, "sotw", ENDPOINTS);
      return talk;
    };

    test("and asks for its clusters before the endpoints", () => {
      const talk = world();
      expect(says(talk.subscribe(1, CLUSTER, [], back))).toEqual([["c@1"]]);
      expect(says(talk.subscribe(2, ENDPOINTS, ["e"], who))).toEqual([]);
      talk.ack(1, CLUSTER);
      talk.put(resource(ENDPOINTS, "e", "1"));
      expect(says(talk.turns())).toEqual([["e@1"]]);
    });

    test("and asks for its clusters after the endpoints, if it was known to the server before", () => {
      const talk = world();
      const remembered = [{ kind: "clusters-elsewhere", node: "n", isElsewhere: false, isHere: true }] as const;
      talk.on({ kind: "history-restored", remembered });
      expect(says(talk.subscribe(2, ENDPOINTS, ["e"], who))).toEqual([]);
      talk.subscribe(1, CLUSTER, [], back);
      talk.put(resource(ENDPOINTS, "e", "1"));
      expect(says(talk.turns())).toEqual([["e@1"]]);
    });
  });

  test("has none in delta for a new name, and a removal for one that may be held", () => {
    const talk = withPlaceholders();
    talk.put(resource(CLUSTER, "c", "1"));
    talk.open(1, "delta");
    talk.subscribe(1, CLUSTER);
    expect(says(talk.subscribe(1, ENDPOINTS, ["c", "other"]))).toEqual([["c@none", "-other"]]);
    expect(says(talk.hear(1, delta(ENDPOINTS, { nonce: "2", subscribe: ["c"] })))).toEqual([["-c"]]);
    talk.put(resource(ENDPOINTS, "c", "1"));
    expect(says(talk.ack(1, ENDPOINTS))).toEqual([["c@1"]]);
  });
});
