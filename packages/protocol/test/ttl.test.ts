import { anonymousNode, type Node } from "@xdskit/protocol";
import type { Body } from "@xdskit/protocol/internal";
import { describe, expect, test } from "vitest";
import { Conversation, delta, says } from "./support/conversation.ts";
import { CLUSTER, ENDPOINTS, LISTENER, resource } from "./support/resources.ts";

const knowsTtls: Node = {
  ...anonymousNode,
  id: "n",
  clientFeatures: ["xds.config.supports-resource-ttl", "xds.config.resource-in-sotw"],
};
const TTL = 3_000;
const who = { node: knowsTtls };

const variants = ["delta", "sotw"] as const;

describe("a client that knows ttls", () => {
  test("is told of them, and in delta that they run anew, without the resource", () => {
    const talk = new Conversation();
    talk.put(resource(ENDPOINTS, "a", "1", { ttlMs: TTL }), resource(ENDPOINTS, "b", "1"));
    talk.open(1, "delta");
    expect(says(talk.subscribe(1, ENDPOINTS, ["a", "b"], who))).toEqual([["a@1 3s", "b@1"]]);
    talk.ack(1, ENDPOINTS);
    expect([...talk.timers.values()]).toEqual([1_000]);
    // What was told in full is not told again at once.
    expect(says(talk.pass(1_000))).toEqual([]);
    const beat = talk.pass(1_000);
    expect(says(beat)).toEqual([["~a 3s"]]);
    expect(talk.ack(1, ENDPOINTS)).toEqual([]);
    expect(says(talk.pass(1_000))).toEqual([["~a 3s"]]);
  });

  test("in State of the World gets whole resources, and of a full-state type all of them, at the same version", () => {
    const talk = new Conversation();
    talk.put(resource(ENDPOINTS, "a", "1", { ttlMs: TTL }), resource(ENDPOINTS, "b", "1"));
    talk.put(resource(CLUSTER, "x", "1", { ttlMs: TTL }), resource(CLUSTER, "y", "1"));
    talk.open(1, "sotw");
    const clusters = talk.subscribe(1, CLUSTER, [], who);
    talk.ack(1, CLUSTER);
    const endpoints = talk.subscribe(1, ENDPOINTS, ["a", "b"], who);
    talk.ack(1, ENDPOINTS);
    talk.pass(1_000);
    const beats = talk.pass(1_000);
    expect(says(beats)).toEqual([["x@1 3s", "y@1"], ["a@1 3s"]]);
    expect(beats.map((one) => one.version)).toEqual([clusters[0]?.version, endpoints[0]?.version]);
  });

  test.each(variants)("is told of another ttl, and of none, though the version is the same (%s)", (variant) => {
    const talk = new Conversation();
    talk.put(resource(CLUSTER, "a", "1"));
    talk.open(1, variant);
    const first = talk.subscribe(1, CLUSTER, [], who);
    expect(says(first)).toEqual([["a@1"]]);
    talk.ack(1, CLUSTER);
    expect(talk.timers.size).toBe(0);
    talk.put(resource(CLUSTER, "a", "1", { ttlMs: TTL }));
    const told = talk.turns();
    expect([says(told), told[0]?.version]).toEqual([[["a@1 3s"]], first[0]?.version]);
    talk.ack(1, CLUSTER);
    talk.put(resource(CLUSTER, "a", "1", { ttlMs: 6_000 }));
    expect(says(talk.turns())).toEqual([["a@1 6s"]]);
    talk.ack(1, CLUSTER);
    talk.put(resource(CLUSTER, "a", "1"));
    expect(says(talk.turns())).toEqual([["a@1"]]);
    talk.ack(1, CLUSTER);
    expect(says([...talk.pass(1_000), ...talk.pass(2_000)])).toEqual([]);
    expect(talk.timers.size).toBe(0);
  });

  test.each(variants)("is told soon when a shorter ttl comes (%s)", (variant) => {
    const talk = new Conversation();
    talk.put(resource(ENDPOINTS, "a", "1", { ttlMs: 60_000 }), resource(ENDPOINTS, "b", "1"));
    talk.open(1, variant);
    talk.settle(talk.subscribe(1, ENDPOINTS, ["a", "b"], who));
    expect([...talk.timers.values()]).toEqual([20_000]);
    talk.put(resource(ENDPOINTS, "b", "1", { ttlMs: TTL }));
    talk.settle();
    expect([...talk.timers.values()]).toEqual([1_000]);
  });

  test.each(variants)("hears no more of what it gave up (%s)", (variant) => {
    const talk = new Conversation();
    talk.put(resource(ENDPOINTS, "a", "1", { ttlMs: TTL }), resource(ENDPOINTS, "b", "1", { ttlMs: TTL }));
    talk.open(1, variant);
    talk.settle(talk.subscribe(1, ENDPOINTS, ["a", "b"], who));
    talk.pass(1_000);
    talk.unsubscribe(1, ENDPOINTS, ["a"]);
    expect(says(talk.pass(1_000))).toEqual([[variant === "delta" ? "~b 3s" : "b@1 3s"]]);
  });

  test("S-TTL-12: hears of every cluster that it still asks for, and of no other", () => {
    const talk = new Conversation();
    talk.put(...["a", "b", "c"].map((name) => resource(CLUSTER, name, "1", { ttlMs: TTL })));
    talk.open(1, "sotw");
    talk.settle(talk.subscribe(1, CLUSTER, ["a", "b", "c"], who));
    talk.unsubscribe(1, CLUSTER, ["b"]);
    talk.pass(1_000);
    expect(says(talk.pass(1_000))).toEqual([["a@1 3s", "c@1 3s"]]);
  });

  test("hears no more when its stream is closed", () => {
    const talk = new Conversation();
    talk.put(resource(ENDPOINTS, "a", "1", { ttlMs: TTL }));
    talk.open(1, "delta");
    talk.settle(talk.subscribe(1, ENDPOINTS, ["a"], who));
    talk.pass(1_000);
    talk.close(1);
    expect(says(talk.pass(1_000))).toEqual([]);
    expect(talk.timers.size).toBe(0);
  });

  test("S-TTL-16: is given the whole resource once when it refuses a heartbeat", () => {
    const talk = new Conversation();
    talk.put(resource(CLUSTER, "a", "1", { ttlMs: TTL }));
    talk.open(1, "delta");
    talk.settle(talk.subscribe(1, CLUSTER, [], who));
    talk.pass(1_000);
    talk.pass(1_000);
    expect(says(talk.nack(1, CLUSTER))).toEqual([["a@1 3s"]]);
    expect(talk.nack(1, CLUSTER)).toEqual([]);
    // What it refuses now is not kept alive: what the client holds nobody knows.
    expect(says(talk.pass(1_000))).toEqual([]);
    talk.put(resource(CLUSTER, "a", "2", { ttlMs: TTL }));
    expect(says(talk.turns())).toEqual([["a@2 3s"]]);
    talk.ack(1, CLUSTER);
    expect(says(talk.pass(1_000))).toEqual([["~a 3s"]]);
  });

  test.each(variants)("goes on hearing of what it holds while it owes an answer (%s)", (variant) => {
    const talk = new Conversation();
    const [a, b] = ["a", "b"].map((name) => resource(ENDPOINTS, name, "1", { ttlMs: TTL }));
    if (a !== undefined && b !== undefined) talk.put(a, b);
    talk.open(1, variant);
    talk.subscribe(1, ENDPOINTS, ["a", "b"], who);
    talk.put(resource(ENDPOINTS, "a", "2", { ttlMs: 9_000 }));
    // The first answer is not accepted yet, so that `a` is still what it was.
    talk.pass(1_000);
    expect(says(talk.pass(1_000))).toEqual([variant === "delta" ? ["~a 3s", "~b 3s"] : ["a@1 3s", "b@1 3s"]]);
  });

  test("goes on with what it accepted of a full-state type when it refuses what came after it", () => {
    const talk = new Conversation();
    talk.put(resource(CLUSTER, "a", "1", { ttlMs: TTL }));
    talk.open(1, "sotw");
    const first = talk.subscribe(1, CLUSTER, [], who);
    talk.ack(1, CLUSTER);
    talk.put(resource(CLUSTER, "b", "bad"));
    const second = talk.turns();
    expect(says(second)).toEqual([["a@1 3s", "b@bad"]]);
    talk.nack(1, CLUSTER);
    talk.pass(1_000);
    const beat = talk.pass(1_000);
    expect([says(beat), beat[0]?.version]).toEqual([[["a@1 3s"]], first[0]?.version]);
    talk.ack(1, CLUSTER);
    const [types] = [...talk.machine.streams()].map((stream) => stream.types);
    expect(types?.[0]?.nacked?.version).toBe(second[0]?.version);
    // Refused as well, it is not said a third time.
    talk.pass(1_000);
    talk.nack(1, CLUSTER);
    expect(says(talk.pass(1_000))).toEqual([]);
  });

  test.each(variants)("goes on hearing of clusters that are gone and that it may still use (%s)", (variant) => {
    const talk = new Conversation();
    talk.put(resource(CLUSTER, "a", "1", { ttlMs: TTL }), resource(LISTENER, "l", "1"));
    talk.open(1, variant);
    talk.settle(talk.subscribe(1, CLUSTER, [], who));
    talk.settle(talk.subscribe(1, LISTENER, [], who));
    talk.pass(1_000);
    talk.change({ deletes: [{ type: CLUSTER, name: "a" }], puts: [resource(LISTENER, "l", "2")] });
    // The listener that may use the cluster is not accepted.
    expect(says(talk.turns())).toEqual([["l@2"]]);
    expect(says(talk.pass(1_000))).toEqual([[variant === "delta" ? "~a 3s" : "a@1 3s"]]);
    expect(says(talk.pass(1_000))).toEqual([[variant === "delta" ? "~a 3s" : "a@1 3s"]]);
  });

  test.each(variants)("is told when it moves to where a resource has no ttl (%s)", (variant) => {
    const layers = new Map([["n", ["with", "base"]]]);
    const talk = new Conversation({ nodeMapping: ({ id }) => layers.get(id) ?? [] });
    talk.put(resource(CLUSTER, "a", "1"));
    talk.change({ layer: "with", puts: [resource(CLUSTER, "a", "1", { ttlMs: TTL })] });
    talk.open(1, variant);
    talk.settle(talk.subscribe(1, CLUSTER, [], who));
    talk.machine.on({ kind: "transaction-committed", nodeMapping: () => ["base"] });
    expect(says(talk.turns())).toEqual([["a@1"]]);
  });

  test("is given again on a new stream what has a ttl, or had one, whatever version it brings", () => {
    const talk = new Conversation();
    const [a, b, c] = ["a", "b", "c"].map((name) => resource(CLUSTER, name, "1", name === "c" ? {} : { ttlMs: TTL }));
    const all = [a, b, c].flatMap((one) => one ?? []);
    talk.put(...all);
    talk.put(resource(CLUSTER, "b", "1"));
    talk.open(1, "delta");
    const pairs = all.map((one) => [one.name, one.version] as const);
    const initialVersions = { size: 3, key: "k", [Symbol.iterator]: () => pairs[Symbol.iterator]() };
    expect(says(talk.subscribe(1, CLUSTER, [], { node: knowsTtls, initialVersions }))).toEqual([["a@1 3s", "b@1"]]);
    talk.open(2, "delta");
    expect(says(talk.subscribe(2, CLUSTER, [], { node: anonymousNode, initialVersions }))).toEqual([[]]);
  });

  test("is given again what has a ttl even where equal versions are skipped", () => {
    const talk = new Conversation({ dialect: { resumeSkip: { otherwise: true } } });
    talk.put(resource(CLUSTER, "a", "1", { ttlMs: TTL }));
    talk.open(1, "sotw");
    const [first] = talk.subscribe(1, CLUSTER, [], who);
    talk.open(2, "sotw");
    const held = { versionInfo: first?.version ?? "" };
    expect(says(talk.subscribe(2, CLUSTER, [], { ...held, ...who }))).toEqual([["a@1 3s"]]);
    talk.open(3, "sotw");
    expect(talk.subscribe(3, CLUSTER, [], { ...held, node: anonymousNode })).toEqual([]);
  });
});

describe("a client that does not announce that it knows ttls", () => {
  test.each(variants)("is served without them, and hears nothing of their changes (%s)", (variant) => {
    const talk = new Conversation();
    talk.put(resource(CLUSTER, "a", "1", { ttlMs: TTL }));
    talk.open(1, variant);
    const first = talk.subscribe(1, CLUSTER, [], { node: anonymousNode });
    expect(says(first)).toEqual([["a@1"]]);
    talk.ack(1, CLUSTER);
    expect(talk.timers.size).toBe(0);
    talk.put(resource(CLUSTER, "a", "1", { ttlMs: 9_000 }));
    talk.put(resource(CLUSTER, "a", "1"));
    expect(talk.turns()).toEqual([]);
    const types = [...talk.machine.streams()].flatMap((stream) => stream.types.map((one) => one.ttl));
    expect(types).toEqual([undefined]);
    talk.put(resource(CLUSTER, "a", "1", { ttlMs: TTL }));
    expect([...talk.machine.streams()][0]?.types[0]?.ttl).toBe("not-announced");
  });
});

describe("heartbeats cost", () => {
  function bodiesOf(talk: Conversation, timer: number): ReadonlySet<Body> {
    talk.machine.on({ kind: "timer-fired", timer });
    return new Set(talk.machine.next(1_000).flatMap((effect) => (effect.kind === "send" ? [effect.body] : [])));
  }

  test.each(variants)("one body for all streams that hold the same, and one timer (%s)", (variant) => {
    const talk = new Conversation();
    talk.put(...["a", "b"].map((name) => resource(ENDPOINTS, name, "1", { ttlMs: TTL })));
    for (let stream = 1; stream <= 50; stream++) {
      talk.open(stream, variant);
      talk.settle(talk.subscribe(stream, ENDPOINTS, ["a", "b"], who));
    }
    expect([...talk.timers.values()]).toEqual([1_000]);
    talk.pass(1_000);
    const [timer = 0] = talk.timers.keys();
    expect(bodiesOf(talk, timer).size).toBe(1);
  });

  test("nothing where nothing has a ttl: streams that may be told share everything with streams that may not", () => {
    const talk = new Conversation();
    talk.put(resource(CLUSTER, "a", "1"));
    const bodies = [knowsTtls, anonymousNode].map((node, i) => {
      talk.open(i + 1, "delta");
      talk.receive(i + 1, delta(CLUSTER, { node }));
      return talk.machine.next(10).flatMap((effect) => (effect.kind === "send" ? [effect.body] : []))[0];
    });
    expect(bodies[0]).toBe(bodies[1]);
    expect(bodies[0]).not.toHaveProperty("ttls");
    expect(talk.asked).toEqual([]);
  });
});
